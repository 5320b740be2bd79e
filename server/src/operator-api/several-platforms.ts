// Lists and sums for an operator of several platforms. A list merges the pages of all platforms in its
// order. The cursor of a list contains a position for each platform. A sum is calculated by one query over
// all platforms.
import type { Operator } from '../kernel/caller.ts';
import type { Contract, ListOrder, Reply } from '../kernel/contract/operation.ts';
import { invalidField } from '../kernel/fault.ts';
import { isAnyId } from '../kernel/id.ts';

type Item = Readonly<Record<string, unknown>>;

interface Page {
  data: readonly Item[];
  hasMore: boolean;
  nextCursor?: string;
}

/** Position in the list of one platform. `skippedCount` items of the page at `cursor` were returned. */
interface Position {
  platformId: string;
  cursor?: string;
  skippedCount: number;
  isComplete: boolean;
}

/** A position with the items that follow it. */
interface Source extends Position {
  items: readonly Item[];
  next: string | undefined;
}

type ReadPage = (query: Record<string, unknown>) => Promise<Reply>;

const DEFAULT_LIMIT = 20;
/**
 * Maximum pages of a platform that are read for its next item. Pages of filtered lists can be
 * empty.
 */
const MAX_READS = 4;
/** Names of the fields with the time by which a list is ordered. */
const TIME_FIELDS = ['createdAt', 'requestedAt', 'since', 'startedAt', 'at'];

/** Orders items by their time, then by their first ID, which also contains a time. */
function timeOf(item: Item): string {
  const time = TIME_FIELDS.map((name) => item[name]).find((value) => value !== undefined);
  const id = Object.values(item).find((value) => typeof value === 'string' && isAnyId(value));
  return `${time ?? ''} ${String(id ?? '').replace(/^.*:/, '')}`;
}

/** The order of a list of this operation. */
export const orderOf = (contract: Contract, query: Record<string, unknown>): ListOrder =>
  contract.listOrder?.(query) ?? { keyOf: timeOf, isOldestFirst: contract.oldestFirst === true };

/** Whether a list can be merged: it is paged and has a filter by platform. */
export const isMergeable = ({ query, replies }: Contract): boolean => {
  const pageFields = replies[200]?.properties ?? {};
  return (
    'platformId' in (query?.properties ?? {}) &&
    ['data', 'hasMore', 'nextCursor'].every((name) => name in pageFields)
  );
};

/** The platforms of an operator whose list must be merged, or undefined for any other request. */
export function mergedPlatforms(
  contract: Contract,
  { platformIds }: Operator,
  { platformId }: Record<string, unknown>,
): readonly string[] | undefined {
  if (platformIds === null || platformIds.length < 2 || platformId !== undefined) return undefined;
  return isMergeable(contract) ? [...platformIds].sort() : undefined;
}

/** The platforms of a sum. Undefined if the operator may access all platforms and selects none. */
export function summedPlatforms(
  { platformIds }: Pick<Operator, 'platformIds'>,
  { platformId }: { platformId?: string | undefined },
): readonly string[] | undefined {
  if (platformId !== undefined) return [platformId];
  return platformIds === null ? undefined : [...new Set(platformIds)];
}

const encode = (positions: readonly Position[]): string =>
  Buffer.from(
    JSON.stringify(
      positions.map(({ platformId, cursor, skippedCount, isComplete }) => [
        platformId,
        cursor ?? null,
        isComplete ? -1 : skippedCount,
      ]),
    ),
  ).toString('base64url');

/** The positions of a cursor. The list of a platform without a position starts at its beginning. */
function decode(text: string, platformIds: readonly string[]): Position[] {
  const positions = new Map<string, Position>();
  try {
    const values = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[];
    for (const value of values) {
      const [platformId, cursor, skippedCount] = value as [string, string | null, number];
      if (!Number.isInteger(skippedCount)) throw new Error('no position');
      positions.set(platformId, {
        ...{ platformId, skippedCount: Math.max(skippedCount, 0), isComplete: skippedCount < 0 },
        ...(typeof cursor === 'string' ? { cursor } : {}),
      });
    }
  } catch {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return platformIds.map(
    (platformId) => positions.get(platformId) ?? { platformId, skippedCount: 0, isComplete: false },
  );
}

/** Reads until there is an item, the list has no more items, or `MAX_READS` pages were read. */
async function fill(
  position: Position,
  query: Record<string, unknown>,
  readPage: ReadPage,
): Promise<Source> {
  let source: Source = { ...position, items: [], next: undefined };
  for (let reads = 0; reads < MAX_READS && !source.isComplete; reads++) {
    const { platformId, cursor } = source;
    const { body } = await readPage({ ...query, platformId, cursor });
    const { data, hasMore, nextCursor } = body as Page;
    const items = data.slice(source.skippedCount);
    const nextCursorOrEnd = hasMore ? nextCursor : undefined;
    if (items.length > 0 || nextCursorOrEnd === undefined) {
      return { ...source, items, next: nextCursorOrEnd, isComplete: items.length === 0 };
    }
    const skippedCount = Math.max(source.skippedCount - data.length, 0);
    source = {
      platformId,
      cursor: nextCursorOrEnd,
      skippedCount,
      isComplete: false,
      items: [],
      next: undefined,
    };
  }
  return source;
}

/** The position after the first item. */
function advance({ items, next, ...position }: Source): Source {
  const nextPosition = {
    ...position,
    skippedCount: position.skippedCount + 1,
    items: items.slice(1),
    next,
  };
  if (nextPosition.items.length > 0) return nextPosition;
  const { platformId } = position;
  if (next === undefined) return { ...nextPosition, isComplete: true };
  return {
    platformId,
    cursor: next,
    skippedCount: 0,
    isComplete: false,
    items: [],
    next: undefined,
  };
}

/** Index of the source with the next item of the list, or -1 if no source has one. */
function indexOfNext(sources: readonly Source[], { keyOf, isOldestFirst }: ListOrder): number {
  let nextIndex = -1;
  for (const [index, { items }] of sources.entries()) {
    const [item] = items;
    if (!item) continue;
    const [nextItem] = sources[nextIndex]?.items ?? [];
    const isEarlier = nextItem && keyOf(item) < keyOf(nextItem);
    const isLater = nextItem && keyOf(item) > keyOf(nextItem);
    if (!nextItem || (isOldestFirst ? isEarlier : isLater)) nextIndex = index;
  }
  return nextIndex;
}

/**
 * A page over these platforms. The page can be shorter than the limit, like a page of a list with filters.
 * Throws INVALID_INPUT for an invalid cursor.
 */
export async function mergedPage(
  platformIds: readonly string[],
  query: Record<string, unknown>,
  order: ListOrder,
  readPage: ReadPage,
): Promise<Reply> {
  const { cursor, ...filters } = query;
  const limit = Number(query.limit ?? DEFAULT_LIMIT);
  const positions = decode(typeof cursor === 'string' ? cursor : encode([]), platformIds);
  let sources = await Promise.all(positions.map((each) => fill(each, filters, readPage)));
  const data: Item[] = [];
  while (data.length < limit && sources.every((each) => each.isComplete || each.items.length > 0)) {
    const index = indexOfNext(sources, order);
    const source = sources[index];
    const [item] = source?.items ?? [];
    if (!source || !item) break;
    data.push(item);
    const nextSource = advance(source);
    const isEmpty = nextSource.items.length === 0 && !nextSource.isComplete;
    const filledSource =
      isEmpty && data.length < limit ? await fill(nextSource, filters, readPage) : nextSource;
    sources = sources.with(index, filledSource);
  }
  const hasMore = sources.some((each) => !each.isComplete);
  return {
    status: 200,
    body: { data, hasMore, ...(hasMore ? { nextCursor: encode(sources) } : {}) },
  };
}
