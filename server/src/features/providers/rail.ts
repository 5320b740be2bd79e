// The rail of an environment with providers. The provider of a transfer is selected once, before
// the first call, and receives all calls about the transfer. The built-in rail executes transfers
// without a route.
import type { Progress, RailInstruction, RailPort } from '../../connectors/ports/index.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { type AssignmentDeps, assignProvider, storedAssignment } from './assignment.ts';
import { outcomeOf, recordOutcome } from './health/outcomes.ts';
import { storedChoice } from './present.ts';
import { chooseRoute, factsOf } from './routing.ts';
import { providerTransfers } from './store.ts';
import { stageUsage } from './usage.ts';

interface RoutedRailDeps extends AssignmentDeps {
  /** The rail for transfers without a route, or undefined if the environment has none. */
  builtIn: RailPort | undefined;
}

/** Name of the provider of a transfer or card, or undefined for the built-in rail or issuer. */
export const providerOfTransfer = async (
  { db }: Pick<Runtime, 'db'>,
  transferId: string,
): Promise<string | undefined> =>
  (await db.read(providerTransfers, transferId))?.provider_id ?? undefined;

/** Reads or selects the provider of a transfer. Null or undefined for the built-in rail. */
function selectProvider(deps: RoutedRailDeps, instruction: RailInstruction) {
  const { environment, directory, builtIn } = deps;
  const { id, kind, currency, amount } = instruction;
  return assignProvider(deps, instruction, async (ctx) => {
    const transferFacts = factsOf(instruction, environment);
    const choice = await chooseRoute(ctx, transferFacts, directory, ctx.effects.now());
    const { selectedRoute } = choice;
    if (!selectedRoute && !builtIn)
      throw new Error(`no route selects a provider for the transfer ${id}`);
    const provider = directory.current().providers.get(selectedRoute?.provider_id ?? '');
    const usage = choice.verdicts.find(({ route }) => route === selectedRoute)?.usage;
    if (provider && usage) stageUsage(ctx, provider, instruction, usage);
    return { selectedRoute, facts: { kind, currency, amount, choice: storedChoice(choice) } };
  });
}

/** Records the result of a call, if it is final, and returns it. */
async function recordResult(
  { runtime, environment }: RoutedRailDeps,
  { id, platformId }: RailInstruction,
  providerId: string | null | undefined,
  progress: Progress,
): Promise<Progress> {
  if (providerId && outcomeOf(progress)) {
    const caller = systemCaller(platformId, environment);
    await operate(runtime(), caller, (ctx) => recordOutcome(ctx, id, progress));
  }
  return progress;
}

/** Returns the rail of the provider, or the built-in rail. */
function railOf({ directory, builtIn }: RoutedRailDeps, providerId: string | null | undefined) {
  if (providerId) {
    const provider = directory.current().providers.get(providerId);
    if (!provider) throw new Error(`unknown provider ${providerId}`);
    return provider.port.transfers;
  }
  if (!builtIn) throw new Error('the environment has no built-in rail');
  return builtIn;
}

/** Whether an active provider supports this kind of transfer over the rail in any currency. */
function isOffered(
  { directory, environment }: RoutedRailDeps,
  kind: RailInstruction['kind'],
  rail: string | null,
): boolean {
  if (rail === null) return false;
  return [...directory.current().providers.values()].some(
    ({ row, capabilities }) =>
      row.environment === environment &&
      row.status === 'ACTIVE' &&
      capabilities?.transfers?.some(
        (each) => each.kinds.includes(kind) && (each.rails as readonly string[]).includes(rail),
      ),
  );
}

export function routedRail(deps: RoutedRailDeps): RailPort {
  const { builtIn } = deps;
  return {
    supportsPayout: (accountType, rail) =>
      (builtIn?.supportsPayout(accountType, rail) ?? false) || isOffered(deps, 'payout', rail),
    supportsDebit: (accountType, rail) =>
      (builtIn?.supportsDebit?.(accountType, rail) ?? false) || isOffered(deps, 'debit', rail),
    async send(instruction) {
      const providerId = await selectProvider(deps, instruction);
      const progress = await railOf(deps, providerId).send(instruction);
      return recordResult(deps, instruction, providerId, progress);
    },
    async check(instruction, now) {
      const providerId = (await storedAssignment(deps, instruction.id))?.provider_id;
      const progress = await railOf(deps, providerId).check(instruction, now);
      return recordResult(deps, instruction, providerId, progress);
    },
    async cancel(instruction, now) {
      const assignment = await storedAssignment(deps, instruction.id);
      const rail = railOf(deps, assignment?.provider_id);
      return rail.cancel ? rail.cancel(instruction, now) : 'rejected';
    },
    async recall(transfer, cause) {
      const assignment = await storedAssignment(deps, transfer.id);
      const rail = railOf(deps, assignment?.provider_id);
      if (!rail.recall) throw new Error(`the rail of ${transfer.id} does not support recalls`);
      return rail.recall(transfer, cause);
    },
  };
}
