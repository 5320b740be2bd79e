// Filters that the operator lists over all platforms share.
import type { Mode } from '../../../kernel/mode.ts';
import { type Database, equals, type Filter } from '../../../runtime/db/database.ts';
import type { StepQuery } from '../../../runtime/db/steps.ts';
import { allPlatforms } from '../platform/index.ts';

/** Filters of a list. An absent filter has no effect. */
export interface OperatorListQuery {
  platformId?: string | undefined;
  customerId?: string | undefined;
  mode?: Mode | undefined;
  createdAfter?: string | undefined;
  createdBefore?: string | undefined;
  limit?: number | undefined;
  cursor?: string | undefined;
}

export const allPlatformIds = async (db: Pick<Database, 'query'>): Promise<string[]> =>
  (await db.query<{ id: string }>('select id from platforms', [])).map(({ id }) => id);

const timeOf = (text: string | undefined) => (text === undefined ? undefined : Date.parse(text));

/** Describes a page that is read by customer, else by platform, else by time. `ownFilters` are added. */
export async function listSteps(
  db: Pick<Database, 'page'>,
  query: OperatorListQuery,
  ownFilters: readonly Filter[],
): Promise<Omit<StepQuery, 'resources'>> {
  const { platformId, customerId, mode, createdAfter, createdBefore, limit = 20, cursor } = query;
  const [narrowestFilter, ...otherFilters] = equals({
    customer_id: customerId,
    platform_id: platformId,
  });
  const filters: Filter[] = [...otherFilters, ...ownFilters];
  if (mode !== undefined) {
    const platforms = (await allPlatforms(db)).filter((each) => each.environment === mode);
    filters.push({ column: 'platform_id', op: 'in', value: platforms.map(({ id }) => id) });
  }
  return {
    scope: narrowestFilter ? [narrowestFilter] : [],
    filters,
    createdAfter: timeOf(createdAfter),
    createdBefore: timeOf(createdBefore),
    ...{ limit, cursor },
  };
}
