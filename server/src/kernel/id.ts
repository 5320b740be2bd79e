// Identifiers `<Resource>:<uuid>`, the same text in the API, in logs and in SQL. The UUID is version 7, so
// IDs sort by creation time and new rows are added at the end of an index. `Effects` provides time and
// randomness.
import type { Effects, Time } from './effects.ts';

export type Id<R extends string = string> = `${R}:${string}`;

const HEX = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** Maximum count within one millisecond. Further IDs have the next millisecond. */
const MAX_COUNT = 0xfff;

/** Time and count of the latest ID of each `Effects`. */
const counters = new WeakMap<Effects, { time: number; count: number }>();

/**
 * A version 7 UUID: 48 bits of milliseconds, a count of 12 bits and 62 random bits. The count
 * starts at a random value in a new millisecond, or at 0 after `MAX_COUNT`, and increases by one.
 * IDs of one process therefore sort in the order of their creation. The events of one change set
 * are delivered in that order.
 */
export function uuid7(effects: Effects): string {
  const bytes = effects.random(16);
  const now = effects.now();
  const counter = counters.get(effects) ?? { time: -1, count: 0 };
  if (now > counter.time) {
    counter.time = now;
    counter.count = (((bytes[6] as number) << 8) | (bytes[7] as number)) & (MAX_COUNT >> 1);
  } else if (counter.count < MAX_COUNT) counter.count++;
  else {
    counter.time++;
    counter.count = 0;
  }
  counters.set(effects, counter);
  let { time } = counter;
  for (let index = 5; index >= 0; index--) {
    bytes[index] = time % 256;
    time = Math.floor(time / 256);
  }
  bytes[6] = 0x70 | (counter.count >> 8);
  bytes[7] = counter.count & 0xff;
  bytes[8] = 0x80 | ((bytes[8] as number) & 0x3f);
  let text = '';
  for (let index = 0; index < 16; index++) {
    if (index === 4 || index === 6 || index === 8 || index === 10) text += '-';
    text += HEX[bytes[index] as number];
  }
  return text;
}

/** The milliseconds of a version 7 UUID. */
export const timeOfUuid7 = (uuid: string): Time =>
  Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);

export function newId<R extends string>(effects: Effects, resource: R): Id<R> {
  return `${resource}:${uuid7(effects)}`;
}

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

const ANY_ID = /^[A-Za-z]+:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Whether a string has the form of an ID of any resource. */
export const isAnyId = (text: string): boolean => ANY_ID.test(text);

/**
 * Whether a string has the form of an ID of this resource. Other strings are handled like an unknown ID.
 */
export function isId<R extends string>(text: string, resource: R): text is Id<R> {
  return text.startsWith(`${resource}:`) && UUID.test(text.slice(resource.length + 1));
}

/** The time at which an ID was created. Unspecified for any other text. */
export function timeOfId(id: string): Time {
  const start = id.indexOf(':') + 1;
  return Number.parseInt(id.slice(start, start + 13).replace('-', ''), 16);
}

const MAX_TIME = 2 ** 48 - 1;

/** A string that sorts before the IDs of a resource with this time or a later time. */
export function idsFrom(resource: string, instant: Time): string {
  const time = Math.min(MAX_TIME, Math.max(0, Math.floor(instant)));
  const hex = time.toString(16).padStart(12, '0');
  return `${resource}:${hex.slice(0, 8)}-${hex.slice(8)}`;
}
