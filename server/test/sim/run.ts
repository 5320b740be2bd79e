// A run of a seed. The invariants are checked after each step, all tables at intervals, and the
// expectations after settling. A failure prints how to reproduce it.
import { createHash } from 'node:crypto';
import type { Action } from './actions/action.ts';
import { CARD_MESSAGES } from './actions/issuing/card-messages.ts';
import { CARD_REPEATS } from './actions/issuing/card-repeats.ts';
import { CARD_ACTIONS } from './actions/issuing/cards.ts';
import { COIN_ACTIONS } from './actions/issuing/coins.ts';
import { WALLET_HOLDER_ACTIONS } from './actions/issuing/holders.ts';
import { MINT_ACTIONS } from './actions/issuing/mints.ts';
import { observe, settleAll } from './actions/issuing/settling.ts';
import { WALLET_ACTIONS } from './actions/issuing/wallets.ts';
import { AGENT_ACTIONS } from './actions/operating/agent-actions.ts';
import { AUTHORIZATION_ACTIONS } from './actions/operating/authorizations.ts';
import { INCOMING } from './actions/operating/incoming.ts';
import { OPERATOR_ACTIONS } from './actions/operating/operator.ts';
import { AGENT_MANAGEMENT } from './actions/payments/agents.ts';
import { FAILURE_ACTIONS } from './actions/payments/failures.ts';
import { PARTY_ACTIONS } from './actions/payments/parties.ts';
import { PAYMENT_ACTIONS } from './actions/payments/payments.ts';
import { SETTINGS_ACTIONS } from './actions/payments/settings.ts';
import { STRONG_AUTHENTICATION } from './actions/payments/strong.ts';
import { UMA_ACTIONS } from './actions/payments/uma.ts';
import { openSim, type Sim, violation } from './harness/sim.ts';
import { recount } from './rules/recount.ts';

export interface Report {
  seed: string;
  steps: number;
  /** SHA-256 digest of the trace of actions and results, equal for every run of a seed. */
  trace: string;
  /** Number of runs of each action. */
  actionCounts: Map<string, number>;
  transactions: number;
  transfers: number;
  events: number;
}

const RECOUNT_INTERVAL_STEPS = 400;
const REPORTED_STEPS = 20;

const SETTLE_ALL: Action = {
  name: 'settle all work',
  weight: 0.25,
  run: settleAll,
};

const ACTIONS: readonly Action[] = [
  ...PARTY_ACTIONS,
  ...PAYMENT_ACTIONS,
  ...INCOMING,
  ...UMA_ACTIONS,
  ...OPERATOR_ACTIONS,
  ...SETTINGS_ACTIONS,
  ...WALLET_ACTIONS,
  ...WALLET_HOLDER_ACTIONS,
  ...STRONG_AUTHENTICATION,
  ...AUTHORIZATION_ACTIONS,
  ...AGENT_MANAGEMENT,
  ...AGENT_ACTIONS,
  ...CARD_ACTIONS,
  ...CARD_MESSAGES,
  ...CARD_REPEATS,
  ...COIN_ACTIONS,
  ...MINT_ACTIONS,
  ...FAILURE_ACTIONS,
  SETTLE_ALL,
];

/** The first steps create the platforms and customers that other actions need. */
const FIRST_ACTIONS = [
  ...['add a platform', 'set a webhook endpoint', 'add a customer', 'add a customer'],
  ...['add a production platform', 'add a customer', 'add a customer', 'add a customer'],
];

const isReady = (sim: Sim) => (action: Action) => action.isPossible?.(sim) ?? true;

export function chooseAction(sim: Sim, step: number): Action {
  const openingAction = ACTIONS.find((action) => action.name === FIRST_ACTIONS[step]);
  return openingAction ?? sim.chance.pickWeighted(ACTIONS.filter(isReady(sim)));
}

/** Runs one step and checks its effects. */
export async function takeStep(sim: Sim, action: Action): Promise<string> {
  sim.errorsExpected = false;
  await sim.replaceDeadNodes();
  const traceNote = await action.run(sim);
  await observe(sim);
  return `${action.name}: ${traceNote}`;
}

async function recountAll(sim: Sim): Promise<void> {
  const problems = await recount(sim.client, sim.model, sim.effects.deliveredIds);
  if (problems.length) throw violation(problems.join('\n'));
  await sim.changeLog.trim();
}

function describeFailure(
  error: unknown,
  seed: string,
  step: number,
  lastLines: readonly string[],
): Error {
  const reason = error instanceof Error && error.name !== 'Violation' ? error.stack : String(error);
  const lines = lastLines.map((line, index) => `  ${step - lastLines.length + index + 1} ${line}`);
  const reproduceCommand = `npm run sim -- --seed ${seed} --steps ${step + 1}`;
  return new Error(
    [
      `Seed ${seed}, step ${step}: ${reason}`,
      'The last steps:',
      ...lines,
      `Reproduce: ${reproduceCommand}`,
    ].join('\n'),
    { cause: error },
  );
}

interface RunOptions {
  seed: string;
  steps: number;
  databaseUrl: string;
  /** Called at intervals with the number of completed steps. */
  progress?(steps: number): void;
}

/** Runs a simulation on a new, migrated database. Throws when an invariant is violated. */
export async function simulate({ seed, steps, databaseUrl, progress }: RunOptions) {
  const sim = await openSim(seed, databaseUrl);
  const trace = createHash('sha256');
  const actionCounts = new Map<string, number>();
  const lastLines: string[] = [];
  let step = 0;
  try {
    await observe(sim);
    for (; step < steps; step++) {
      const action = chooseAction(sim, step);
      lastLines.push(`${action.name}: …`);
      if (lastLines.length > REPORTED_STEPS) lastLines.shift();
      const line = await takeStep(sim, action);
      lastLines[lastLines.length - 1] = line;
      trace.update(`${line}\n`);
      actionCounts.set(action.name, (actionCounts.get(action.name) ?? 0) + 1);
      if ((step + 1) % RECOUNT_INTERVAL_STEPS === 0) {
        await recountAll(sim);
        progress?.(step + 1);
      }
    }
    lastLines.push('final check');
    trace.update(await settleAll(sim));
    await recountAll(sim);
  } catch (error) {
    throw describeFailure(error, seed, step, lastLines);
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
