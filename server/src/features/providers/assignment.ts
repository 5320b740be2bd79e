// The provider of a transfer or card: it is selected once, before the first call, and stored. Every later
// call goes to it, whatever the routes say then.

import type { Mode } from '../../kernel/mode.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import type { ProviderDirectory } from './directory.ts';
import { type ProviderRouteRow, providerTransfers } from './store.ts';

export interface AssignmentParts {
  runtime(): Runtime;
  directory: ProviderDirectory;
  environment: Mode;
}

/** The stored provider. An installation without providers has none. */
export const storedAssignment = async (
  { directory, runtime }: Pick<AssignmentParts, 'directory' | 'runtime'>,
  id: string,
) =>
  directory.current().providers.size === 0 ? undefined : runtime().db.read(providerTransfers, id);

const hasRoutes = ({ directory, environment }: AssignmentParts) =>
  directory.current().routes.some((each) => each.environment === environment);

/**
 * The stored provider, or one that is selected and stored now. Undefined or null for the built-in
 * connector, which sends nothing outside of this server.
 */
export async function assignProvider(
  parts: AssignmentParts,
  subject: { id: string; platformId: string },
  choose: () => ProviderRouteRow | undefined,
): Promise<string | null | undefined> {
  const stored = await storedAssignment(parts, subject.id);
  if (stored || !hasRoutes(parts)) return stored?.provider_id;
  const selected = choose();
  const row = {
    id: subject.id,
    platform_id: subject.platformId,
    provider_id: selected?.provider_id ?? null,
    route_id: selected?.id ?? null,
  };
  const caller = systemCaller(subject.platformId, parts.environment);
  try {
    await operate(parts.runtime(), caller, async (ctx) =>
      ctx.insert(providerTransfers, { ...row, created_at: ctx.now }),
    );
    return row.provider_id;
  } catch (error) {
    if (!isKeyTaken(error)) throw error;
    return (await storedAssignment(parts, subject.id))?.provider_id;
  }
}
