// The provider of a transfer or card: it is selected once, before the first call, and stored. Every later
// call goes to it, whatever the routes say then.

import type { Mode } from '../../kernel/mode.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
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

/** A selected route, and what is stored with the choice: nothing for a card. */
interface Chosen {
  selected: ProviderRouteRow | undefined;
  facts?: Pick<RowOf<typeof providerTransfers>, 'kind' | 'currency' | 'amount' | 'choice'>;
}

const hasRoutes = ({ directory, environment }: AssignmentParts) =>
  directory.current().routes.some((each) => each.environment === environment);

/**
 * The stored provider, or one that is selected and stored now. Undefined or null for the built-in
 * connector, which sends nothing outside of this server.
 */
export async function assignProvider(
  parts: AssignmentParts,
  subject: { id: string; platformId: string },
  choose: (ctx: Ctx) => Promise<Chosen>,
): Promise<string | null | undefined> {
  const stored = await storedAssignment(parts, subject.id);
  if (stored || !hasRoutes(parts)) return stored?.provider_id;
  const caller = systemCaller(subject.platformId, parts.environment);
  try {
    return await operate(parts.runtime(), caller, async (ctx) => {
      const { selected, facts } = await choose(ctx);
      const providerId = selected?.provider_id ?? null;
      ctx.insert(providerTransfers, {
        ...{ id: subject.id, platform_id: subject.platformId, provider_id: providerId },
        ...{ route_id: selected?.id ?? null, ...facts },
        created_at: ctx.effects.now(),
      });
      return providerId;
    });
  } catch (error) {
    if (!isKeyTaken(error)) throw error;
    return (await storedAssignment(parts, subject.id))?.provider_id;
  }
}
