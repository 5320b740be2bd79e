// A random generator that returns the same values for the same seed. The world `business` is
// generated with it, so builds with the same input have the same customers and payments.
import { createHash } from 'node:crypto';

export interface SeededRandom {
  /** A number from 0 to below 1. */
  next(): number;
  /** Whether an event of this probability occurs. */
  is(probability: number): boolean;
  /** A whole number from `min` to `max`. */
  integer(min: number, max: number): number;
  pick<T>(list: readonly T[]): T;
  /** Decimal digits. */
  digits(count: number): string;
}

export function seededRandom(seed: string): SeededRandom {
  let state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  // Mulberry32: fast, and sufficient for data that only needs to be plausible.
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let bits = Math.imul(state ^ (state >>> 15), 1 | state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 4_294_967_296;
  }
  const integer = (min: number, max: number) => min + Math.floor(next() * (max - min + 1));
  return {
    next,
    is: (probability) => next() < probability,
    integer,
    pick: (list) => list[integer(0, list.length - 1)] as (typeof list)[number],
    digits: (count) => Array.from({ length: count }, () => integer(0, 9)).join(''),
  };
}
