// Seeded randomness. A seed yields the same numbers, bytes and choices on every machine. The actors
// and the server use separate streams, so that their choices are independent.

export interface Chance {
  /** A whole number from 0 to `limit` - 1. */
  integerBelow(limit: number): number;
  /** An integer from `minimum` to `maximum`, inclusive. */
  integerBetween(minimum: number, maximum: number): number;
  /** True with this probability in percent. */
  percent(share: number): boolean;
  pick<T>(list: readonly T[]): T;
  /** An entry of the list, by weight. */
  pickWeighted<T extends { weight: number }>(list: readonly T[]): T;
  bytes(count: number): Uint8Array;
}

/** sfc32, seeded by a hash of the text. */
function createGenerator(seed: string): () => number {
  let hash = 2166136261;
  for (const letter of seed) hash = Math.imul(hash ^ letter.charCodeAt(0), 16777619);
  let [a, b, c, d] = [hash, hash ^ 0x9e3779b9, Math.imul(hash, 0x85ebca6b), 1];
  const next = () => {
    const sum = (((a + b) | 0) + d) | 0;
    d = (d + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = ((c << 21) | (c >>> 11)) + sum;
    return sum >>> 0;
  };
  for (let i = 0; i < 15; i++) next();
  return next;
}

export function seededChance(seed: string): Chance {
  const next = createGenerator(seed);
  const integerBelow = (limit: number) => Math.floor((next() / 2 ** 32) * limit);
  return {
    integerBelow,
    integerBetween: (minimum, maximum) => minimum + integerBelow(maximum - minimum + 1),
    percent: (share) => integerBelow(100) < share,
    pick: (list) => {
      if (list.length === 0) throw new Error('the list is empty');
      return list[integerBelow(list.length)] as (typeof list)[number];
    },
    pickWeighted(list) {
      const totalWeight = list.reduce((sum, option) => sum + option.weight, 0);
      let remainingWeight = (next() / 2 ** 32) * totalWeight;
      const choice = list.find((option) => {
        remainingWeight -= option.weight;
        return remainingWeight < 0;
      });
      return (choice ?? list.at(-1)) as (typeof list)[number];
    },
    bytes(count) {
      const bytes = Buffer.alloc(count);
      for (let index = 0; index < count; index++) bytes[index] = next() >>> 24;
      return bytes;
    },
  };
}
