// Pages of a list that is data and not rows: in the order of a name that every entry has once. The cursor
// says which list it belongs to and after which name to go on, so a page costs the same wherever it is and
// entries that come or go in a later version do not shift it.
import { invalidField } from '../../../kernel/fault.ts';

interface ListQuery {
  limit?: number;
  cursor?: string;
  sortOrder?: 'asc' | 'desc';
}

const DEFAULT_LIMIT = 20;

const cursorOf = (list: string, name: string) =>
  Buffer.from(`${list} ${name}`).toString('base64url');

function placeOf(list: string, cursor: string): string {
  const text = Buffer.from(cursor, 'base64url').toString();
  const name = text.slice(list.length + 1);
  if (cursorOf(list, name) !== cursor || name === '') {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return name;
}

/** One page of `all` by `nameOf`. Throws INVALID_INPUT for a cursor that is not of this list. */
export function pageOfList<T>(
  list: string,
  all: readonly T[],
  nameOf: (item: T) => string,
  { limit = DEFAULT_LIMIT, cursor, sortOrder = 'asc' }: ListQuery,
): { data: T[]; hasMore: boolean; nextCursor?: string } {
  const after = cursor === undefined ? undefined : placeOf(list, cursor);
  const sign = sortOrder === 'asc' ? 1 : -1;
  const order = (a: string, b: string) => (a === b ? 0 : a < b ? -sign : sign);
  const rest = all
    .filter((item) => after === undefined || order(nameOf(item), after) > 0)
    .sort((a, b) => order(nameOf(a), nameOf(b)));
  const data = rest.slice(0, limit);
  const last = data.at(-1);
  const hasMore = rest.length > data.length;
  return {
    data,
    hasMore,
    ...(hasMore && last !== undefined ? { nextCursor: cursorOf(list, nameOf(last)) } : {}),
  };
}
