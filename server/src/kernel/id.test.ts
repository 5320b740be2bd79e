// Order and uniqueness of generated IDs, for any clock.
import { describe, expect, it } from 'vitest';
import type { Effects } from './effects.ts';
import { isAnyId, isId, newId, uuid7 } from './id.ts';

function effectsAt(clock: { now: number }): Effects {
  let seed = 1;
  return {
    now: () => clock.now,
    random: (bytes) =>
      Uint8Array.from({ length: bytes }, () => {
        seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
        return seed >> 16;
      }),
    http: () => Promise.reject(new Error('no network')),
    stream: () => Promise.reject(new Error('no network')),
    call: () => Promise.reject(new Error('no network')),
  };
}

describe('uuid7', () => {
  it('contains the time, the version and the variant', () => {
    const id = uuid7(effectsAt({ now: 0x0123456789ab }));
    expect(id).toMatch(/^01234567-89ab-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  });

  it('sorts in the order of creation while the clock stops, advances and is set back', () => {
    const clock = { now: 1_700_000_000_000 };
    const effects = effectsAt(clock);
    const ids: string[] = [];
    for (let i = 0; i < 20_000; i++) {
      if (i === 9_000) clock.now += 5;
      if (i === 15_000) clock.now -= 1_000;
      ids.push(uuid7(effects));
    }
    expect([...ids].sort()).toEqual(ids);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it('is independent for separate effects and follows their clock', () => {
    const clock = { now: 1_700_000_000_000 };
    const effects = effectsAt(clock);
    for (let i = 0; i < 10_000; i++) uuid7(effects);
    clock.now += 60_000;
    const timeOf = (id: string) => Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16);
    expect(timeOf(uuid7(effects))).toBe(clock.now);
    expect(timeOf(uuid7(effectsAt({ now: 1_000 })))).toBe(1_000);
  });
});

describe('newId', () => {
  it('is recognized as an ID of its resource only', () => {
    const id = newId(effectsAt({ now: 1 }), 'Quote');
    expect(isId(id, 'Quote')).toBe(true);
    expect(isId(id, 'Quo')).toBe(false);
    expect(isId(`${id}0`, 'Quote')).toBe(false);
    expect(isId('Quote:', 'Quote')).toBe(false);
    const otherTexts = [
      `${id}0`,
      'Quote:',
      id.slice('Quote'.length),
      `a secret ${id}`,
      `${id}:${id}`,
    ];
    expect([id, ...otherTexts].filter(isAnyId)).toEqual([id]);
  });
});
