// The draw of codes: as many characters as asked for, and each code as likely as any other.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../../test/kit/app/effects.ts';
import { drawCode, LETTERS_AND_DIGITS } from './codes.ts';

/** Effects that return these random bytes. */
const drawing = (...bytes: number[]) => ({
  random(count: number) {
    if (count > bytes.length) throw new Error('drawn too often');
    return Uint8Array.from(bytes.splice(0, count));
  },
});

describe('drawCode', () => {
  it('has all the digits, zeros in front too', () => {
    expect(drawCode(drawing(0, 0, 10, 250 - 10, 4, 2), { length: 6 })).toBe('000042');
    expect(drawCode(drawing(249, 9, 19, 29), { length: 4 })).toBe('9999');
  });

  it('draws again where the last round of bytes is not whole', () => {
    expect(drawCode(drawing(1, 250, 3, 255, 2, 4), { length: 4 })).toBe('1324');
    const rules = { length: 4, alphabet: LETTERS_AND_DIGITS };
    expect(drawCode(drawing(0, 248, 30, 247, 31), rules)).toBe('2ZZ2');
  });

  it('has no letter that is taken for another character', () => {
    expect(LETTERS_AND_DIGITS).not.toMatch(/[01OIL]/);
    expect(new Set(LETTERS_AND_DIGITS).size).toBe(LETTERS_AND_DIGITS.length);
  });

  it.each([undefined, LETTERS_AND_DIGITS])('favours no character of %s', (alphabet) => {
    const effects = testEffects();
    const counts = new Map<string, number>();
    for (let at = 0; at < 5_000; at++) {
      for (const each of drawCode(effects, { length: 12, ...(alphabet && { alphabet }) })) {
        counts.set(each, (counts.get(each) ?? 0) + 1);
      }
    }
    const all = alphabet ?? '0123456789';
    expect([...counts.keys()].sort().join('')).toBe([...all].sort().join(''));
    // Of sixty thousand, give or take six times the spread of chance.
    const each = 60_000 / all.length;
    for (const count of counts.values()) {
      expect(Math.abs(count - each)).toBeLessThan(6 * Math.sqrt(each));
    }
  });
});
