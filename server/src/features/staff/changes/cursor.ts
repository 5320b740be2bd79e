// A position in the changes of the installation: in the order of events, and of audit records.

/** After the event with this position and ID, and after the audit record with this number. */
export interface ChangePosition {
  position: bigint;
  /** Empty: before all events with this position. */
  id: string;
  record: bigint;
}

const CURSOR_FORM = /^(-?\d{1,19}) (\d{1,18}) ([\x21-\x7e]{0,200})$/;

export const cursorText = ({ position, id, record }: ChangePosition): string =>
  Buffer.from(`${position} ${record} ${id}`).toString('base64url');

/** The position of a cursor, or undefined if the text is not a cursor. */
export function positionOfCursor(text: string): ChangePosition | undefined {
  const [, position, record, id] =
    CURSOR_FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (position === undefined || record === undefined || id === undefined) return undefined;
  const cursor = { position: BigInt(position), id, record: BigInt(record) };
  return cursorText(cursor) === text ? cursor : undefined;
}

/** Whether the event position of `a` is later than that of `b`. */
export const isEventAfter = (
  a: Pick<ChangePosition, 'position' | 'id'>,
  b: Pick<ChangePosition, 'position' | 'id'>,
): boolean => a.position > b.position || (a.position === b.position && a.id > b.id);

/** The later event position and the later audit record. */
export const laterOf = (a: ChangePosition, b: ChangePosition): ChangePosition => {
  const { position, id } = isEventAfter(a, b) ? a : b;
  const { record } = a.record > b.record ? a : b;
  return { position, id, record };
};
