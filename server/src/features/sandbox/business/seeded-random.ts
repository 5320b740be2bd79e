// A repeatable random generator: the same seed returns the same values. The world `business` is
// generated with it, so each build has the same customers and payments.
import { createHash } from 'node:crypto';

export interface SeededRandom {
  /** A number from 0 to below 1. */
  next(): number;
  /** Whether an event of this probability occurs. */
  is(probability: number): boolean;
  /** A whole number from `low` to `high`. */
  between(low: number, high: number): number;
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
  const between = (low: number, high: number) => low + Math.floor(next() * (high - low + 1));
  return {
    next,
    is: (probability) => next() < probability,
    between,
    pick: (list) => list[between(0, list.length - 1)] as (typeof list)[number],
    digits: (count) => Array.from({ length: count }, () => between(0, 9)).join(''),
  };
}
