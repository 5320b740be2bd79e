// The draw of codes: as many digits as asked for, and each code as likely as any other.
import { describe, expect, it } from 'vitest';
import { testWorld } from '../../../test/harness.ts';
import { drawCode } from './codes.ts';

/** A world whose next draws of four bytes are these numbers. */
const drawing = (...numbers: number[]) => ({
  random(bytes: number) {
    expect(bytes).toBe(4);
    const next = numbers.shift();
    if (next === undefined) throw new Error('drawn too often');
    const out = Buffer.alloc(4);
    out.writeUInt32BE(next);
    return out;
  },
});

describe('drawCode', () => {
  it('has all the digits, zeros in front too', () => {
    expect(drawCode(drawing(42), 6)).toBe('000042');
    expect(drawCode(drawing(1_999_999), 6)).toBe('999999');
    expect(drawCode(drawing(7), 4)).toBe('0007');
    expect(drawCode(drawing(2 ** 32 - 1, 3_123_456_789), 9)).toBe('123456789');
  });

  it('draws again where the last round of numbers is not whole', () => {
    const whole = 4_294 * 1_000_000;
    expect(drawCode(drawing(whole - 1), 6)).toBe('999999');
    expect(drawCode(drawing(whole, 2 ** 32 - 1, 5), 6)).toBe('000005');
  });

  it('does not favour any first digit', () => {
    const world = testWorld();
    const counts = new Array<number>(10).fill(0);
    for (let at = 0; at < 20_000; at++) {
      const first = Number(drawCode(world, 6)[0]);
      counts[first] = (counts[first] ?? 0) + 1;
    }
    // Two thousand each, give or take six times the spread of chance.
    for (const count of counts) expect(Math.abs(count - 2_000)).toBeLessThan(260);
  });
});
