// Examples of the operator API: payment metrics, and the search by amount. Payments are counted after
// all earlier database transactions have ended, so the time until which the metrics are complete varies.
import { describe, expect, vi } from 'vitest';
import { ok } from '../../kit/app/fixtures.ts';
import { type OperatorRecorder, operatorExamples } from '../../kit/operator/examples.ts';

/** Waits until all payments are counted. */
async function waitForCount({ service: { app }, client }: OperatorRecorder): Promise<void> {
  await app.advance(120_000);
  const startTime = app.effects.now();
  await vi.waitFor(
    async () => {
      await app.advance(6_000);
      const { completeUntil } = ok(await client.call('GET', '/metrics/payments'), 200);
      expect(Date.parse(completeUntil)).toBeGreaterThanOrEqual(startTime);
    },
    { timeout: 20_000, interval: 20 },
  );
}

async function recordMetrics(recorder: OperatorRecorder) {
  const { service, record } = recorder;
  await service.createPayment();
  await waitForCount(recorder);
  const { id: platformId } = service.platform;
  await record('getPaymentMetrics', 'day', {
    summary: 'Payments of a platform by day',
    query: {
      platformId,
      bucket: 'day',
      from: '2026-01-05T00:00:00.000Z',
      until: '2026-01-06T00:00:00.000Z',
    },
  });
  await record('searchResources', 'amount', {
    summary: 'Search by amount and day',
    body: { amount: 100_00, currency: 'USD', date: '2026-01-05' },
  });
  await record('recountPaymentMetrics', 'restored', {
    summary: 'Count the payments of a platform again',
    params: { platformId },
    body: { reason: 'Restored from a backup' },
  });
}

describe('examples of the operator API: metrics', () => {
  operatorExamples(
    'metrics',
    { recordMetrics },
    {
      replacements: [[/"completeUntil": "[^"]+"/g, '"completeUntil": "2026-01-05T09:02:00.000Z"']],
    },
  );
});
