// A run: steps of one seed, the invariants after each, a recount at intervals, and a final check
// after settling. A failure prints how to reproduce it.
import { createHash } from 'node:crypto';
import type { Action } from './actions/action.ts';
import { CARD_MESSAGES } from './actions/issuing/card-messages.ts';
import { CARD_REPEATS } from './actions/issuing/card-repeats.ts';
import { CARDS } from './actions/issuing/cards.ts';
import { COINS } from './actions/issuing/coins.ts';
import { HOLDERS } from './actions/issuing/holders.ts';
import { MINTS } from './actions/issuing/mints.ts';
import { observe, settleAll } from './actions/issuing/settling.ts';
import { WALLETS } from './actions/issuing/wallets.ts';
import { AGENT_ACTIONS } from './actions/operating/agent-actions.ts';
import { AUTHORIZATIONS } from './actions/operating/authorizations.ts';
import { INCOMING } from './actions/operating/incoming.ts';
import { OPERATOR } from './actions/operating/operator.ts';
import { AGENTS } from './actions/payments/agents.ts';
import { FAILURES } from './actions/payments/failures.ts';
import { PARTIES } from './actions/payments/parties.ts';
import { PAYMENTS } from './actions/payments/payments.ts';
import { SETTINGS } from './actions/payments/settings.ts';
import { STRONG } from './actions/payments/strong.ts';
import { UMA } from './actions/payments/uma.ts';
import { openSim, type Sim, violation } from './harness/sim.ts';
import { recount } from './rules/recount.ts';

export interface Report {
  seed: string;
  steps: number;
  /** The trace of actions, choices and results: the same for every run of a seed. */
  trace: string;
  /** Number of runs of each action. */
  actionCounts: Map<string, number>;
  transactions: number;
  transfers: number;
  events: number;
}

const RECOUNT_EVERY = 400;
const LAST = 20;

const REST: Action = {
  name: 'settle all work',
  weight: 0.25,
  run: settleAll,
};

const ACTIONS: readonly Action[] = [
  ...PARTIES,
  ...PAYMENTS,
  ...INCOMING,
  ...UMA,
  ...OPERATOR,
  ...SETTINGS,
  ...WALLETS,
  ...HOLDERS,
  ...STRONG,
  ...AUTHORIZATIONS,
  ...AGENTS,
  ...AGENT_ACTIONS,
  ...CARDS,
  ...CARD_MESSAGES,
  ...CARD_REPEATS,
  ...COINS,
  ...MINTS,
  ...FAILURES,
  REST,
];

/** The first steps create the platforms and customers that other actions need. */
const OPENING = [
  ...['add a platform', 'set a webhook endpoint', 'add a customer', 'add a customer'],
  ...['add a production platform', 'add a customer', 'add a customer', 'add a customer'],
];

const isReady = (sim: Sim) => (action: Action) => action.ready?.(sim) ?? true;

export function choose(sim: Sim, step: number): Action {
  const opening = ACTIONS.find((each) => each.name === OPENING[step]);
  return opening ?? sim.chance.weighed(ACTIONS.filter(isReady(sim)));
}

/** Runs one step and checks its effects. */
export async function takeStep(sim: Sim, action: Action): Promise<string> {
  sim.rough = false;
  await sim.revive();
  const traceNote = await action.run(sim);
  await observe(sim);
  return `${action.name}: ${traceNote}`;
}

async function countAgain(sim: Sim): Promise<void> {
  const problems = await recount(sim.client, sim.model, sim.effects.delivered);
  if (problems.length) throw violation(problems.join('\n'));
  await sim.changeLog.trim();
}

function failure(error: unknown, seed: string, step: number, last: readonly string[]): Error {
  const reason = error instanceof Error && error.name !== 'Broken' ? error.stack : String(error);
  const lines = last.map((each, index) => `  ${step - last.length + index + 1} ${each}`);
  const repeatCommand = `npm run sim -- --seed ${seed} --steps ${step + 1}`;
  return new Error(
    [
      `Seed ${seed}, step ${step}: ${reason}`,
      'The last steps:',
      ...lines,
      `Reproduce: ${repeatCommand}`,
    ].join('\n'),
    { cause: error },
  );
}

interface RunOptions {
  seed: string;
  steps: number;
  databaseUrl: string;
  /** Called at intervals with the number of steps done. */
  progress?(steps: number): void;
}

/** Runs a simulation on a fresh, migrated database. Throws when an invariant is violated. */
export async function simulate({ seed, steps, databaseUrl, progress }: RunOptions) {
  const sim = await openSim(seed, databaseUrl);
  const trace = createHash('sha256');
  const actionCounts = new Map<string, number>();
  const last: string[] = [];
  let step = 0;
  try {
    await observe(sim);
    for (; step < steps; step++) {
      const action = choose(sim, step);
      last.push(`${action.name}: …`);
      if (last.length > LAST) last.shift();
      const line = await takeStep(sim, action);
      last[last.length - 1] = line;
      trace.update(`${line}\n`);
      actionCounts.set(action.name, (actionCounts.get(action.name) ?? 0) + 1);
      if ((step + 1) % RECOUNT_EVERY === 0) {
        await countAgain(sim);
        progress?.(step + 1);
      }
    }
    last.push('final check');
    trace.update(await settleAll(sim));
    await countAgain(sim);
  } catch (error) {
    throw failure(error, seed, step, last);
  } finally {
    await sim.close();
  }
  const { counts } = sim.model;
  const report: Report = {
    seed,
    steps,
    trace: trace.digest('hex'),
    actionCounts,
    transactions: counts.get('transactions') ?? 0,
    transfers: counts.get('ledger_transfers') ?? 0,
    events: counts.get('events') ?? 0,
  };
  return report;
}
