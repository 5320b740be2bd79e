// Merges lists of the same order, such as those of two indexes, into one page. Each list is read
// from the same position up to a different end. The page ends at the nearest of these ends, or earlier at
// its limit.

/** A page of one list. */
export interface Part<I, P> {
  items: readonly I[];
  /** The last position that was read, or undefined at the end of the list. */
  end: P | undefined;
}

interface Order<I, P> {
  limit: number;
  positionOf(item: I): P;
  /** Negative if the first position is before the second position. */
  compare(first: P, second: P): number;
}

/**
 * Returns the first items of all parts. `end` is the position after which the next page continues, or
 * undefined on the last page.
 */
export function mergeParts<I, P>(
  parts: readonly Part<I, P>[],
  { limit, positionOf, compare }: Order<I, P>,
): { items: I[]; end: P | undefined } {
  // Items of a list beyond its end are not loaded.
  const [end] = parts.flatMap((part) => part.end ?? []).sort(compare);
  const loadedItems = parts
    .flatMap(({ items }) => items.map((item) => ({ item, position: positionOf(item) })))
    .filter(({ position }) => end === undefined || compare(position, end) <= 0)
    .sort((first, second) => compare(first.position, second.position))
    // An item may be in several lists.
    .filter(({ position }, at, all) => {
      const previousItem = all[at - 1];
      return previousItem === undefined || compare(previousItem.position, position) !== 0;
    });
  const page = loadedItems.slice(0, limit);
  const lastPosition = loadedItems.length > limit ? page.at(-1)?.position : end;
  return { items: page.map(({ item }) => item), end: lastPosition };
}
