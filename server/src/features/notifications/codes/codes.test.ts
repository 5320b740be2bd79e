// Generated codes have the requested length and are uniformly distributed.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../../test/kit/app/effects.ts';
import { generateCode, LETTERS_AND_DIGITS } from './codes.ts';

/** Effects that return `bytes` as random bytes, in order. */
const randomReturning = (...bytes: number[]) => ({
  random(count: number) {
    if (count > bytes.length) throw new Error('no further random bytes');
    return Uint8Array.from(bytes.splice(0, count));
  },
});

describe('generateCode', () => {
  it('keeps leading zeros', () => {
    expect(generateCode(randomReturning(0, 0, 10, 250 - 10, 4, 2), { length: 6 })).toBe('000042');
    expect(generateCode(randomReturning(249, 9, 19, 29), { length: 4 })).toBe('9999');
  });

  it('discards bytes beyond the last multiple of the alphabet length', () => {
    expect(generateCode(randomReturning(1, 250, 3, 255, 2, 4), { length: 4 })).toBe('1324');
    const rules = { length: 4, alphabet: LETTERS_AND_DIGITS };
    expect(generateCode(randomReturning(0, 248, 30, 247, 31), rules)).toBe('2ZZ2');
  });

  it('has an alphabet without ambiguous characters', () => {
    expect(LETTERS_AND_DIGITS).not.toMatch(/[01OIL]/);
    expect(new Set(LETTERS_AND_DIGITS).size).toBe(LETTERS_AND_DIGITS.length);
  });

  it.each([undefined, LETTERS_AND_DIGITS])('is uniform over %s', (alphabet) => {
    const effects = testEffects();
    const counts = new Map<string, number>();
    for (let index = 0; index < 5_000; index++) {
      for (const each of generateCode(effects, { length: 12, ...(alphabet && { alphabet }) })) {
        counts.set(each, (counts.get(each) ?? 0) + 1);
      }
    }
    const characters = alphabet ?? '0123456789';
    expect([...counts.keys()].sort().join('')).toBe([...characters].sort().join(''));
    // Sixty thousand characters, within six standard deviations.
    const expectedCount = 60_000 / characters.length;
    for (const count of counts.values()) {
      expect(Math.abs(count - expectedCount)).toBeLessThan(6 * Math.sqrt(expectedCount));
    }
  });
});
