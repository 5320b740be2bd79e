// Cursors of pulled deliveries: a position in the order of one endpoint. A cursor of another
// endpoint is rejected, because it would acknowledge deliveries that were never read.
import { invalidField } from '../../../kernel/fault.ts';

/** The position after the delivery of this event. */
export interface PullPosition {
  position: bigint;
  eventId: string;
}

const CURSOR_FORM = /^(\d{1,9}) (-?\d{1,19}) ([\x21-\x7e]{1,200})$/;

export const pullCursorOf = (endpoint: number, { position, eventId }: PullPosition): string =>
  Buffer.from(`${endpoint} ${position} ${eventId}`).toString('base64url');

/** Throws a fault on `field` for a string that is not a cursor of this endpoint. */
export function readPullCursor(field: string, endpoint: number, text: string): PullPosition {
  const [, number, position = '', eventId = ''] =
    CURSOR_FORM.exec(Buffer.from(text, 'base64url').toString()) ?? [];
  if (Number(number) === endpoint && eventId !== '') {
    const cursor = { position: BigInt(position), eventId };
    if (pullCursorOf(endpoint, cursor) === text) return cursor;
  }
  throw invalidField(field, 'is not a cursor of the deliveries of this endpoint');
}
