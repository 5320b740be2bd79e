// Cursors of the list of events: a position in the order (position, id), and the time until which
// the list was read. A position is between two events, so a cursor remains valid after the deletion
// of the event that it identifies.
import type { Time } from '../../../kernel/effects.ts';
import { invalidField } from '../../../kernel/fault.ts';

/** A position in the order of events, after the event with this position and ID. */
export interface EventPosition {
  position: bigint;
  /** Empty: before all events with this position. */
  id: string;
}

export interface Cursor extends EventPosition {
  /** All events that the platform emitted up to this real time are before the position. */
  at: Time;
}

/** Value of `after` for the position before the oldest event. */
export const BEGINNING = 'beginning';

const CURSOR_FORM = /^ *(-?\d{1,19}) +(\d{1,15}) ([\x21-\x7e]{0,200})$/;
/** Numbers are padded, so that the length of a cursor depends only on the ID. */
const POSITION_WIDTH = 24;
const TIME_WIDTH = 20;

export function cursorOf({ position, id, at }: Cursor): string {
  const order = `${String(position).padStart(POSITION_WIDTH)} ${String(at).padStart(TIME_WIDTH)}`;
  return Buffer.from(`${order} ${id}`).toString('base64url');
}

/** Throws a fault on `field` for a string that `cursorOf` did not create. */
export function readCursor(field: string, text: string): Cursor {
  const [, position, time, id] = CURSOR_FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (position !== undefined && id !== undefined) {
    const cursor = { position: BigInt(position), id, at: Number(time) };
    if (cursorOf(cursor) === text) return cursor;
  }
  throw invalidField(
    field,
    'is not a cursor of the list of events. Use `after` or `before` of an earlier reply',
  );
}
