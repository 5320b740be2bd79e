// The operator of the simulation, who runs the verbs of the command line with parsed arguments. A
// rejection is returned as its message. Invalid usage is an error of the simulator.
import { connectorRegistry } from '../../../src/connectors/registry.ts';
import { systemCaller } from '../../../src/features/tenancy/platform/index.ts';
import { cardExceptionVerbs } from '../../../src/operator/cards/card-exceptions.ts';
import { cardVerbs } from '../../../src/operator/cards/cards.ts';
import { isUsageError, parse } from '../../../src/operator/cli/flags.ts';
import type { System } from '../../../src/operator/cli/verb.ts';
import { verificationVerbs } from '../../../src/operator/customers/verifications.ts';
import { accountVerbs } from '../../../src/operator/money/accounts.ts';
import { depositVerbs } from '../../../src/operator/money/deposits.ts';
import { payoutVerbs } from '../../../src/operator/money/payouts.ts';
import { stablecoinOperationVerbs } from '../../../src/operator/money/stablecoin-operations.ts';
import { stablecoinVerbs } from '../../../src/operator/money/stablecoins.ts';
import { suspenseVerbs } from '../../../src/operator/money/suspense.ts';
import { cardProgramVerbs } from '../../../src/operator/platforms/card-program.ts';
import { limitVerbs } from '../../../src/operator/platforms/limits.ts';
import { platformVerbs } from '../../../src/operator/platforms/platform.ts';
import type { Ctx } from '../../../src/runtime/operation/context.ts';
import { operate } from '../../../src/runtime/operation/operate.ts';
import { type Platform, type Sim, violation } from './sim.ts';

const VERBS = [
  ...accountVerbs,
  ...cardExceptionVerbs,
  ...cardProgramVerbs,
  ...cardVerbs,
  ...depositVerbs,
  ...limitVerbs,
  ...suspenseVerbs,
  ...payoutVerbs,
  ...platformVerbs,
  ...stablecoinOperationVerbs,
  ...stablecoinVerbs,
  ...verificationVerbs,
];

/** The JSON output of a verb, or the message of its rejection. */
interface VerbResult {
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  json?: any;
  rejection?: string;
}

/** Operator calls must not trigger a trap at the next commit. */
function removeTraps({ nodes }: Sim): void {
  for (const node of nodes) node.setTrap(undefined);
}

/** Runs `railhead NOUN VERB ARGUMENTS`. */
export async function runVerb(sim: Sim, ...argv: string[]): Promise<VerbResult> {
  removeTraps(sim);
  const [noun, name, ...options] = argv;
  const verb = VERBS.find((verb) => verb.noun === noun && verb.verb === name);
  if (!verb) throw violation(`there is no verb ${noun} ${name}`);
  const { args } = parse(verb.flags, verb.positional, options);
  const registry = connectorRegistry(sim.effects);
  const { runtime, files, providers } = sim.pickNode().app;
  const system: System = {
    runtime,
    files,
    providers,
    connectorsOf: registry,
    builtIn: registry.builtIn,
    fundingOf: (environment) => registry(environment).funding,
    walletRecoveryMs: undefined,
    get retention(): never {
      throw violation('the retention is not simulated');
    },
    stream: () => {
      throw violation('streaming is not supported');
    },
  };
  try {
    return { json: (await verb.run(system, args)).json };
  } catch (error) {
    const isRejection =
      error instanceof Error && ['Error', 'NotFound', 'Fault'].includes(error.name);
    if (!isRejection || isUsageError(error)) throw error;
    return { rejection: error.message };
  }
}

/** Checks that a verb ran as predicted. Returns the rejection, or undefined. */
export function checkOutcome(
  { json, rejection }: VerbResult,
  isAllowed: boolean,
  description: string,
): string | undefined {
  if (isAllowed === (rejection === undefined)) return rejection;
  const expected = isAllowed ? 'success' : 'a rejection';
  throw violation(`${description}: ${rejection ?? JSON.stringify(json)}, expected ${expected}`);
}

/** Runs work on behalf of a platform. The work has no verb of the command line. */
export async function onBehalfOf<R>(
  sim: Sim,
  { id, environment }: Platform,
  work: (ctx: Ctx) => Promise<R>,
): Promise<R> {
  removeTraps(sim);
  return operate(sim.pickNode().app.runtime, systemCaller(id, environment), work);
}
