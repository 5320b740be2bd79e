// The rail of an environment with providers. The provider of a transfer is selected once, before
// the first call, and receives all calls about the transfer. The built-in rail executes transfers
// without a route.
import type { Progress, RailInstruction, RailPort } from '../../connectors/ports/index.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import { type AssignmentParts, assignProvider, storedAssignment } from './assignment.ts';
import { outcomeOf, recordOutcome } from './health/outcomes.ts';
import { storedChoice } from './present.ts';
import { chooseRoute, factsOf } from './routing.ts';
import { providerTransfers } from './store.ts';
import { stageUsage } from './usage.ts';

interface RoutedRailParts extends AssignmentParts {
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
function selectProvider(parts: RoutedRailParts, instruction: RailInstruction) {
  const { environment, directory, builtIn } = parts;
  const { id, kind, currency, amount } = instruction;
  return assignProvider(parts, instruction, async (ctx) => {
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
  { runtime, environment }: RoutedRailParts,
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
function railOf({ directory, builtIn }: RoutedRailParts, providerId: string | null | undefined) {
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
  { directory, environment }: RoutedRailParts,
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

export function routedRail(parts: RoutedRailParts): RailPort {
  const { builtIn } = parts;
  return {
    supportsPayout: (accountType, rail) =>
      (builtIn?.supportsPayout(accountType, rail) ?? false) || isOffered(parts, 'payout', rail),
    supportsDebit: (accountType, rail) =>
      (builtIn?.supportsDebit?.(accountType, rail) ?? false) || isOffered(parts, 'debit', rail),
    async send(instruction) {
      const providerId = await selectProvider(parts, instruction);
      const progress = await railOf(parts, providerId).send(instruction);
      return recordResult(parts, instruction, providerId, progress);
    },
    async check(instruction, now) {
      const providerId = (await storedAssignment(parts, instruction.id))?.provider_id;
      const progress = await railOf(parts, providerId).check(instruction, now);
      return recordResult(parts, instruction, providerId, progress);
    },
    async cancel(instruction, now) {
      const assignment = await storedAssignment(parts, instruction.id);
      const rail = railOf(parts, assignment?.provider_id);
      return rail.cancel ? rail.cancel(instruction, now) : 'rejected';
    },
    async recall(transfer, cause) {
      const assignment = await storedAssignment(parts, transfer.id);
      const rail = railOf(parts, assignment?.provider_id);
      if (!rail.recall) throw new Error(`the rail of ${transfer.id} does not support recalls`);
      return rail.recall(transfer, cause);
    },
  };
}
