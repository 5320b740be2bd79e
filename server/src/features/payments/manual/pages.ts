// Pages of the lists of manual work, oldest first. A page continues after the time and the
// transaction of the last item, so that decisions between two pages do not shift items.
import type { Time } from '../../../kernel/effects.ts';
import { cursorOf, positionOf } from '../../../runtime/db/paging.ts';

export interface ListQuery {
  platformId?: string | undefined;
  limit: number;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

export interface Start {
  since: Time;
  id: string;
}

/** The position after which the page starts. */
export function startOf({ cursor }: Pick<ListQuery, 'cursor'>): Start {
  if (cursor === undefined) return { since: 0, id: '' };
  const { created_at: since, id } = positionOf(cursor);
  return { since, id };
}

interface Item {
  since: string;
  transactionId: string;
}

/** The page of the first `limit` items. A further item in `items` indicates a next page. */
export function pageOfItems<T extends Item>(items: readonly T[], limit: number) {
  const data = items.slice(0, limit);
  const lastItem = data.at(-1);
  const hasMore = items.length > limit;
  const nextCursor =
    hasMore && lastItem
      ? cursorOf({ created_at: Date.parse(lastItem.since), id: lastItem.transactionId })
      : '';
  return { data, hasMore, ...(nextCursor === '' ? {} : { nextCursor }) };
}
