// Sequence, bounds and rate of a payment run, and its counts of payments and errors.
import { describe, expect, it } from 'vitest';
import { paySequentially } from './fairness-payer.ts';

const waitMs = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('paySequentially', () => {
  it('executes one payment at a time for the duration', async () => {
    let [inFlight, peak] = [0, 0];
    const run = await paySequentially(
      async () => {
        peak = Math.max(peak, ++inFlight);
        await waitMs(10);
        inFlight--;
        return 10;
      },
      { seconds: 0.2, minPayments: 2, maxSeconds: 5 },
    );
    expect(peak).toBe(1);
    expect(run).toMatchObject({ p50: 10, p99: 10, errors: 0 });
    expect(run.completedCount).toBeGreaterThan(1);
    expect(run.completedCount).toBeLessThanOrEqual(20);
    expect(run.perSecond).toBeGreaterThan(0);
  });

  it('waits for the minimum number of payments, and for no more', async () => {
    const bounds = { seconds: 0.01, minPayments: 3, maxSeconds: 30 };
    const run = await paySequentially(() => waitMs(50).then(() => 50), bounds);
    expect(run.completedCount).toBe(3);
  });

  it('starts no payment after the maximum duration', async () => {
    const bounds = { seconds: 0.01, minPayments: 100, maxSeconds: 0.1 };
    const run = await paySequentially(() => waitMs(60).then(() => 60), bounds);
    expect(run.completedCount).toBeLessThanOrEqual(3);
  });

  it('counts a failed payment as an error and its duration as a latency', async () => {
    const bounds = { seconds: 0.01, minPayments: 1, maxSeconds: 5 };
    const run = await paySequentially(async () => {
      await waitMs(40);
      throw new Error('no response');
    }, bounds);
    expect(run).toMatchObject({ completedCount: 0, errors: 1, firstError: 'no response' });
    expect(run.p50).toBeGreaterThanOrEqual(39);
  });

  it('remains below the rate limits', async () => {
    const bounds = { seconds: 0.5, minPayments: 1, maxSeconds: 5 };
    const run = await paySequentially(async () => 0, bounds);
    expect(run.completedCount).toBeLessThanOrEqual(135);
  });
});
