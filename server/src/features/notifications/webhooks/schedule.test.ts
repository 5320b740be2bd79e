// Times of the attempts of a delivery, and the statuses of a successful delivery.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Effects } from '../../../kernel/effects.ts';
import { isDelivered, nextAttemptAt, RETRY_DELAYS_MS, RETRY_PERIOD_MS } from './schedule.ts';

const effectsWith = (byte: () => number): Effects => ({
  now: () => 0,
  random: (bytes) => Uint8Array.from({ length: bytes }, byte),
  http: () => Promise.reject(new Error('no network')),
  stream: () => Promise.reject(new Error('no network')),
  call: () => Promise.reject(new Error('no network')),
});

// The random value 0x800000 of 2^24 results in a jitter of zero.
const effectsWithoutJitter = effectsWith(
  (
    (count) => () =>
      count++ % 3 === 0 ? 0x80 : 0
  )(0),
);
const event = { type: 'OUTGOING_PAYMENT.COMPLETED', created_at: 1_000_000 };

const realTimeAt = (now: number) => ({ now, ownClock: false });

describe('nextAttemptAt', () => {
  it('follows the schedule and then repeats a delay of ten hours until a week has passed', () => {
    const hours: number[] = [];
    let attemptAt = event.created_at;
    for (let attempt = 1; ; attempt++) {
      const nextTime = nextAttemptAt(effectsWithoutJitter, event, attempt, realTimeAt(attemptAt));
      if (nextTime === null) break;
      hours.push((nextTime - attemptAt) / 3_600_000);
      attemptAt = nextTime;
    }
    const repeatedDelays = Array.from({ length: 15 }, () => 10);
    expect(hours).toEqual([5 / 3_600, 5 / 60, 0.5, 2, 5, 10, ...repeatedDelays]);
    expect(attemptAt - event.created_at).toBeGreaterThan(RETRY_PERIOD_MS - 10 * 3_600_000);
    expect(attemptAt - event.created_at).toBeLessThanOrEqual(RETRY_PERIOD_MS);
  });

  it('applies a jitter of at most 10 percent in both directions', () => {
    const bytes = fc.tuple(fc.nat(255), fc.nat(255), fc.nat(255));
    fc.assert(
      fc.property(bytes, fc.integer({ min: 1, max: 30 }), (random, attempt) => {
        const effects = effectsWith(
          (
            (count) => () =>
              random[count++ % 3] as number
          )(0),
        );
        const delay = RETRY_DELAYS_MS[Math.min(attempt, 6) - 1] as number;
        const nextTime = nextAttemptAt(
          effects,
          event,
          attempt,
          realTimeAt(event.created_at),
        ) as number;
        expect(Math.abs(nextTime - event.created_at - delay)).toBeLessThanOrEqual(delay / 10);
      }),
    );
    const lowestTime = nextAttemptAt(
      effectsWith(() => 0),
      event,
      1,
      realTimeAt(0),
    );
    const highestTime = nextAttemptAt(
      effectsWith(() => 255),
      event,
      1,
      realTimeAt(0),
    );
    expect([lowestTime, highestTime]).toEqual([4_500, 5_500]);
  });

  it('has no jitter on a platform with its own clock', () => {
    const effects = effectsWith(() => 255);
    const attemptTimes = RETRY_DELAYS_MS.map((_, index) =>
      nextAttemptAt(effects, event, index + 1, { now: 0, ownClock: true }),
    );
    expect(attemptTimes).toEqual(RETRY_DELAYS_MS);
  });

  it('is null for a test event', () => {
    expect(
      nextAttemptAt(effectsWithoutJitter, { ...event, type: 'TEST' }, 1, realTimeAt(0)),
    ).toBeNull();
  });
});

describe('isDelivered', () => {
  it.each([
    [200, true],
    [201, true],
    [204, true],
    [299, true],
    [409, true],
    [199, false],
    [301, false],
    [302, false],
    [400, false],
    [401, false],
    [408, false],
    [410, false],
    [429, false],
    [500, false],
    [503, false],
    [null, false],
  ])('for the status %s returns %s', (status, isSuccess) => {
    expect(isDelivered(status)).toBe(isSuccess);
  });
});
