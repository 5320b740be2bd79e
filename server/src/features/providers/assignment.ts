// The provider of a transfer or card. The provider is selected and stored before the first call. All later
// calls use the stored provider, even after a change of the routes.

import type { Mode } from '../../kernel/mode.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { isKeyTaken, operate, type Runtime } from '../../runtime/operation/operate.ts';
import { systemCaller } from '../tenancy/platform/index.ts';
import type { ProviderDirectory } from './directory.ts';
import { type ProviderRouteRow, providerTransfers } from './store.ts';

export interface AssignmentDeps {
  runtime(): Runtime;
  directory: ProviderDirectory;
  environment: Mode;
}

/** The stored assignment. An installation without providers has no assignments, so the query is omitted. */
export const storedAssignment = async (
  { directory, runtime }: Pick<AssignmentDeps, 'directory' | 'runtime'>,
  id: string,
) =>
  directory.current().providers.size === 0 ? undefined : runtime().db.read(providerTransfers, id);

/** A transfer or card. */
interface Subject {
  id: string;
  platformId: string;
}

const MAX_ATTEMPTS = 5;

/** A selected route, and the facts of the transfer that are stored with it. A card has no facts. */
interface RouteChoice {
  selectedRoute: ProviderRouteRow | undefined;
  facts?: Pick<RowOf<typeof providerTransfers>, 'kind' | 'currency' | 'amount' | 'choice'>;
}

const hasRoutes = ({ directory, environment }: AssignmentDeps) =>
  directory.current().routes.some((route) => route.environment === environment);

/**
 * Returns the stored provider, or selects and stores a provider. Undefined or null for the built-in
 * connector.
 */
export async function assignProvider(
  deps: AssignmentDeps,
  subject: Subject,
  choose: (ctx: Ctx) => Promise<RouteChoice>,
): Promise<string | null | undefined> {
  const assignment = await storedAssignment(deps, subject.id);
  if (assignment || !hasRoutes(deps)) return assignment?.provider_id;
  for (let attempt = 1; ; attempt++) {
    try {
      return await storeChoice(deps, subject, choose);
    } catch (error) {
      if (!isKeyTaken(error)) throw error;
      const assignment = await storedAssignment(deps, subject.id);
      if (assignment) return assignment.provider_id;
      // Without an assignment, a concurrent transfer inserted the usage row of the day. The next attempt
      // updates that row.
      if (attempt === MAX_ATTEMPTS) throw error;
    }
  }
}

/** Selects and stores the provider in one commit. */
function storeChoice(
  deps: AssignmentDeps,
  subject: Subject,
  choose: (ctx: Ctx) => Promise<RouteChoice>,
): Promise<string | null> {
  const caller = systemCaller(subject.platformId, deps.environment);
  return operate(deps.runtime(), caller, async (ctx) => {
    const { selectedRoute, facts } = await choose(ctx);
    const providerId = selectedRoute?.provider_id ?? null;
    ctx.insert(providerTransfers, {
      ...{ id: subject.id, platform_id: subject.platformId, provider_id: providerId },
      ...{ route_id: selectedRoute?.id ?? null, ...facts },
      created_at: ctx.effects.now(),
    });
    return providerId;
  });
}
