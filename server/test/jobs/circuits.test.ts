// Jobs whose circuit is open. Such jobs are postponed without using an attempt. A payment keeps its
// state until the provider responds again.
import { describe, expect, it } from 'vitest';
import type { Connectors, Progress, RailPort } from '../../src/connectors/ports/index.ts';
import { sendMessage } from '../../src/features/notifications/messages/index.ts';
import { payoutJobs } from '../../src/features/payments/payouts/payout-jobs.ts';
import type { Effects } from '../../src/kernel/effects.ts';
import { circuitOpenIn } from '../../src/kernel/net/circuit.ts';
import { createCircuits, MAX_FAILURES, OPEN_MS } from '../../src/runtime/jobs/circuits.ts';
import { createWorker } from '../../src/runtime/jobs/jobs.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { createMetrics } from '../../src/runtime/observability/metrics.ts';
import { expectBalancedBooks } from '../kit/app/books.ts';
import { createExternalAccount, createFundedCustomer, ok } from '../kit/app/fixtures.ts';
import { openForFile, testApp } from '../kit/app/test-app.ts';
import { startHanging } from '../kit/http/hanging-servers.ts';

/** Maximum delay of a job after its circuit may close. */
const SPREAD_MS = 10_000;

const service = openForFile(startHanging);
const app = testApp(() => ({ connectors: { smsUrl: service.url } }));

const scrape = async () => (await app.server.inject({ url: '/metrics' })).body;
const advanceTime = (ms: number) => app.effects.set(app.effects.now() + ms);

const ATTEMPTS_SQL = `select min(attempts) as least, max(attempts) as most, count(*)::int4 as count
  from jobs where kind = 'messages.send-sms'`;

describe('text messages of a failing service', () => {
  it('are postponed without an attempt while the circuit is open, and then sent', async () => {
    service.respondWith(503);
    await app.operate(async (ctx) => {
      for (let index = 0; index < 40; index++) {
        sendMessage(ctx, {
          channel: 'SMS',
          to: '+15550100',
          kind: 'GREETING',
          text: `No. ${index}`,
        });
      }
    }, app.production);
    await app.settle();
    const requestCount = service.requests();
    expect(requestCount).toBeLessThanOrEqual(16);
    const circuitLines = () => app.log.filter((line) => line.includes('circuit is'));
    expect(circuitLines()).toHaveLength(1);
    expect(JSON.parse(circuitLines()[0] as string)).toMatchObject({
      ...{ level: 'warn', message: 'circuit is open', provider: 'sms', failures: MAX_FAILURES },
    });
    expect(await scrape()).toContain('railhead_circuit_state{provider="sms"} 2');
    // Every job becomes due again and uses no attempt while the circuit is open.
    for (let elapsedSeconds = 0; elapsedSeconds < 20; elapsedSeconds++) {
      advanceTime(1_000);
      await app.settle();
    }
    expect(service.requests()).toBe(requestCount);
    expect(await app.runtime.db.query(ATTEMPTS_SQL, [])).toEqual([
      { least: 0, most: 1, count: 40 },
    ]);
    service.respondWith(200);
    await app.advance(OPEN_MS + 2 * SPREAD_MS);
    const sentCountSql = "select count(*)::int4 as count from messages where status = 'SENT'";
    expect(await app.runtime.db.query(sentCountSql, [])).toEqual([{ count: 40 }]);
    expect(await scrape()).toContain('railhead_circuit_state{provider="sms"} 0');
  });
});

/** A rail of a bank with an HTTP interface, which follows the rules of the ports. */
function httpRail(guardedEffects: Effects, url: string): RailPort {
  const requestStatus = async (id: string): Promise<Progress> => {
    const limits = { timeoutMs: 1_000, maxBytes: 100, publicOnly: false };
    const unknownResult = { state: 'unknown', checkAfterMs: 1_000 } as const;
    try {
      const request = { url, method: 'POST', headers: {}, body: id, ...limits } as const;
      const { status } = await guardedEffects.http(request);
      return status === 200 ? { state: 'settled', reference: id } : unknownResult;
    } catch (error) {
      if (circuitOpenIn(error)) throw error;
      return unknownResult;
    }
  };
  const sentIds = new Set<string>();
  return {
    supportsPayout: () => true,
    async send({ id }) {
      const progress = await requestStatus(id);
      sentIds.add(id);
      return progress;
    },
    // An instruction that was never sent is unknown to the bank and was not paid.
    check: async ({ id }) =>
      sentIds.has(id) ? requestStatus(id) : { state: 'failed', reason: 'QUOTE_EXECUTION_FAILED' },
  };
}

describe('a payout whose rail has an open circuit', () => {
  it('is sent when the rail responds again', async () => {
    const circuits = createCircuits(app.effects.now);
    const guardedEffects = circuits.effects(app.effects, 'rail');
    const rail = httpRail(guardedEffects, service.url);
    const connectors = (): Connectors => ({ ...app.connectorsOf('sandbox'), rail });
    const worker = createWorker({
      runtime: app.runtime,
      handlers: payoutJobs(connectors),
      sweeps: [],
      log: createLog(app.effects, 'error', () => undefined),
      metrics: createMetrics(),
    });
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'USD');
    await app.settle();
    service.respondWith(503);
    const probe = { url: service.url, method: 'GET', headers: {} } as const;
    for (let index = 0; index < MAX_FAILURES; index++) {
      await guardedEffects.http({ ...probe, timeoutMs: 1_000, maxBytes: 10, publicOnly: false });
    }
    const transfer = { source: { accountId: account.id }, destination: { accountId: payee.id } };
    const body = { ...transfer, amount: 100_00 };
    const { id } = ok(await app.call('POST', '/transfer-out', body), 201);
    const readStatus = async () => (await app.call('GET', `/transactions/${id}`)).body.status;
    for (let round = 0; round < 5; round++) {
      expect(await worker.runDue()).toBe(round === 0 ? 1 : 0);
      advanceTime(1_000);
    }
    const jobSql = "select attempts, state from jobs where kind = 'payout.send'";
    expect(await app.runtime.db.query(jobSql, [])).toEqual([{ attempts: 0, state: 'queued' }]);
    expect(await readStatus()).toBe('PROCESSING');
    service.respondWith(200);
    advanceTime(OPEN_MS + SPREAD_MS);
    await worker.runDue();
    expect(await readStatus()).toBe('COMPLETED');
    await expectBalancedBooks(app);
  });
});
