// Stored data of events. Several events of one change set often show the same resource in successive
// states; each later one stores only the fields that differ from the first, which it refers to.

type Fields = Readonly<Record<string, unknown>>;

/** Shorter data is stored whole: the reference takes as many bytes. */
const MIN_SAVED_BYTES = 200;

/**
 * The fields of `data` that differ from `base`, as JSON text. Undefined if `data` lacks a field of
 * `base`, or if the whole text is hardly longer.
 */
export function eventChanges(base: Fields, data: Fields, whole: string): string | undefined {
  const changes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(base)) {
    if (value !== undefined && data[name] === undefined) return undefined;
  }
  for (const [name, value] of Object.entries(data)) {
    if (JSON.stringify(value) !== JSON.stringify(base[name])) changes[name] = value;
  }
  const text = JSON.stringify(changes);
  return whole.length - text.length < MIN_SAVED_BYTES ? undefined : text;
}

/**
 * The whole data of an event, from its own text and that of the event that it refers to, if any.
 * Empty if one of them is erased.
 */
export function wholeEventData(data: string, base: string | null): string {
  if (base === null) return data;
  if (data === '' || base === '') return '';
  return JSON.stringify({ ...JSON.parse(base), ...JSON.parse(data) });
}
