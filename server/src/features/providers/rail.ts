// The rail of an environment with providers. The provider of a transfer is selected once, before the
// first call, and receives every call about the transfer. The built-in rail executes transfers without
// a route.
import type { RailInstruction, RailPort } from '../../connectors/ports/index.ts';
import type { Mode } from '../../kernel/mode.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import type { ProviderDirectory } from './directory.ts';
import { chooseRoute } from './routing.ts';
import { providerTransfers } from './store.ts';

interface RoutedRailParts {
  runtime(): Runtime;
  directory: ProviderDirectory;
  environment: Mode;
  /** The rail for transfers without a route; undefined if the environment has none. */
  builtIn: RailPort | undefined;
}

/** The stored provider of a transfer. Nothing is read in an installation without providers. */
const storedProviderOf = async ({ directory, runtime }: RoutedRailParts, transferId: string) =>
  directory.current().providers.size === 0
    ? undefined
    : runtime().db.read(providerTransfers, transferId);

/** Name of the provider that executes a transfer; undefined for the built-in rail. */
export const providerOfTransfer = async (
  { db }: Pick<Runtime, 'db'>,
  transferId: string,
): Promise<string | undefined> =>
  (await db.read(providerTransfers, transferId))?.provider_id ?? undefined;

const hasRoutes = ({ directory, environment }: RoutedRailParts) =>
  directory.current().routes.some((each) => each.environment === environment);

/**
 * The provider of a transfer that is about to be sent: the stored provider, otherwise a newly selected
 * one, which is stored. Null or undefined for the built-in rail.
 */
async function assignedProvider(parts: RoutedRailParts, instruction: RailInstruction) {
  const stored = await storedProviderOf(parts, instruction.id);
  if (stored || !hasRoutes(parts)) return stored?.provider_id;
  const { environment, directory, builtIn } = parts;
  const runtime = parts.runtime();
  const { selected } = chooseRoute({ ...instruction, environment }, directory);
  if (!selected && !builtIn) throw new Error(`no provider serves the transfer ${instruction.id}`);
  const row = {
    id: instruction.id,
    platform_id: instruction.platformId,
    provider_id: selected?.provider_id ?? null,
    route_id: selected?.id ?? null,
  };
  const caller = systemCaller(instruction.platformId, environment);
  try {
    await operate(runtime, caller, async (ctx) =>
      ctx.insert(providerTransfers, { ...row, created_at: ctx.now }),
    );
    return row.provider_id;
  } catch (error) {
    if (!isKeyTaken(error)) throw error;
    return (await storedProviderOf(parts, instruction.id))?.provider_id;
  }
}

/** The rail that executes a transfer. */
function railOf({ directory, builtIn }: RoutedRailParts, providerId: string | null | undefined) {
  if (providerId) {
    const provider = directory.current().providers.get(providerId);
    if (!provider) throw new Error(`unknown provider ${providerId}`);
    return provider.port.transfers;
  }
  if (!builtIn) throw new Error('no built-in rail is connected');
  return builtIn;
}

/** Whether an active provider supports such transfers in any currency. */
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
      return railOf(parts, await assignedProvider(parts, instruction)).send(instruction);
    },
    async check(instruction, now) {
      const stored = await storedProviderOf(parts, instruction.id);
      return railOf(parts, stored?.provider_id).check(instruction, now);
    },
    async cancel(instruction, now) {
      const stored = await storedProviderOf(parts, instruction.id);
      const rail = railOf(parts, stored?.provider_id);
      return rail.cancel ? rail.cancel(instruction, now) : 'rejected';
    },
  };
}
