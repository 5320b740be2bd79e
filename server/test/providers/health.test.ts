// Calls and results of providers over windows, the automatic pause, probes and metrics.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readHealth } from '../../src/features/providers/health/windows.ts';
import { openSecondProcess } from '../kit/app/second-process.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';

const { service, read, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await addProvider(write, adapter, BANK);
  await service.app.advance(60_000);
  await write('POST', `/providers/${BANK}/check`);
  await write('POST', '/provider-routes', {
    ...{ providerId: BANK, environment: 'production', priority: 10, currency: 'EUR' },
  });
});
afterAll(() => adapter.close());

const readWindows = async () => (await read(`/provider-health?providerId=${BANK}`)).data[0].windows;

const setAutoPause = (autoPause: object) =>
  write('POST', `/providers/${BANK}/terms`, { terms: { autoPause } });

const report = (transferId: string, transfer: object) =>
  adapter.send(BANK, { type: 'transfer.updated', transferId, transfer });

const readSystemRecords = async (operationId: string) =>
  (await read(`/audit-records?operationId=${operationId}&limit=100`)).data.filter(
    (record: { actor: { kind: string } }) => record.actor.kind === 'SYSTEM',
  );

const readMetric = async (name: string) => {
  const { body } = await service.app.server.inject('/metrics');
  const line = body.split('\n').find((line) => line.startsWith(`${name}{provider="${BANK}"}`));
  return line === undefined ? undefined : Number(line.split(' ')[1]);
};

describe('getProviderHealth', () => {
  it('counts calls and results in windows that every process reads', async () => {
    const [fiveMinuteWindow] = await readWindows();
    expect(fiveMinuteWindow).toMatchObject({
      minutes: 5,
      calls: 1,
      errors: 0,
      errorRate: 0,
      settled: 0,
    });
    const payments = [
      await service.createPayment(),
      await service.createPayment(),
      await service.createPayment(),
    ];
    const [settledId, failedId, returnedId] = payments.map(({ id }) => id);
    if (!settledId || !failedId || !returnedId) throw new Error('a payment has no ID');
    const settlement = { state: 'settled', reference: 'BANK-1' };
    await report(settledId, settlement);
    await report(failedId, { state: 'failed', reason: 'ACCOUNT_INVALID' });
    await report(returnedId, settlement);
    await report(returnedId, { state: 'returned', reason: 'ACCOUNT_INVALID' });
    const allWindows = await readWindows();
    for (const window of allWindows) {
      expect(window).toMatchObject({
        ...{ calls: 4, errors: 0, settled: 1, failed: 1, returned: 1 },
        ...{ successRate: 0.3333, returnRate: 0.5 },
      });
    }
    const otherProcess = openSecondProcess(service.app);
    const now = service.app.effects.now();
    expect((await readHealth(otherProcess.db, [BANK], now)).get(BANK)).toEqual(allWindows);
    await otherProcess.close();
    await service.app.advance(10 * 60_000);
    const [fiveMinutes, oneHour] = await readWindows();
    expect(fiveMinutes).toMatchObject({ calls: 0, settled: 0, errorRate: null, successRate: null });
    expect(oneHour).toMatchObject({ calls: 4, settled: 1 });
    expect(await readMetric('railhead_provider_return_rate')).toBe(0.5);
  });

  it('adds the counts of several processes, and retains counts after a failed write', async () => {
    const { createCallRecorder } = await import('../../src/features/providers/health/recorder.ts');
    const { effects, runtime } = service.app;
    let isWriteFailing = true;
    const recorders = [1, 2].map(() =>
      createCallRecorder(effects, {
        query: (...input) =>
          isWriteFailing
            ? Promise.reject(new Error('the database is unavailable'))
            : runtime.db.query(...input),
      }),
    );
    for (const recorder of recorders) {
      recorder.observe('counted-bank', { isSuccess: true, durationMs: 80 });
      recorder.observe('counted-bank', { isSuccess: false, durationMs: 3_000 });
      await expect(recorder.flush()).rejects.toThrow('unavailable');
    }
    isWriteFailing = false;
    await Promise.all(recorders.flatMap((recorder) => [recorder.flush(), recorder.flush()]));
    const health = await readHealth(runtime.db, ['counted-bank'], effects.now() + 1_000);
    expect(health.get('counted-bank')?.[1]).toMatchObject({
      ...{ calls: 4, errors: 2, errorRate: 0.5, averageMs: 1_540, maxMs: 3_000 },
      ...{ within100Ms: 2, within500Ms: 2, within2000Ms: 2 },
    });
  });
});

describe('the automatic pause', () => {
  it('pauses a provider whose calls fail, and resumes it after a successful probe', async () => {
    await setAutoPause({ windowMinutes: 5, minimum: 3, errorPercent: 40, resumeAfterProbe: true });
    const capabilitiesReply = adapter.replies['/capabilities'];
    if (!capabilitiesReply) throw new Error('the adapter has no reply for /capabilities');
    adapter.replies['/capabilities'] = () => ({ status: 500, body: {} });
    for (let count = 0; count < 2; count++) await write('POST', `/providers/${BANK}/check`);
    await service.app.advance(6_000);
    expect((await read(`/providers/${BANK}`)).status).toBe('ACTIVE');
    await write('POST', `/providers/${BANK}/check`);
    await service.app.advance(6_000);
    const pausedProvider = await read(`/providers/${BANK}`);
    expect(pausedProvider).toMatchObject({ status: 'PAUSED', pausedBy: 'SYSTEM' });
    expect(pausedProvider.pauseReason).toBe('Failed calls: 100 % of 3 in 5 minutes, allowed 40 %.');
    expect(await readMetric('railhead_provider_status')).toBe(2);
    expect(await readSystemRecords('pauseProvider')).toMatchObject([
      {
        subject: BANK,
        reason: pausedProvider.pauseReason,
        hasChanges: true,
        actor: { id: 'system' },
      },
    ]);
    await service.app.advance(61_000);
    expect((await read(`/providers/${BANK}`)).status).toBe('PAUSED');
    adapter.replies['/capabilities'] = capabilitiesReply;
    await service.app.advance(61_000);
    expect(await read(`/providers/${BANK}`)).toMatchObject({
      ...{ status: 'ACTIVE', pausedBy: null, pauseReason: null },
    });
    expect(await readSystemRecords('resumeProvider')).toHaveLength(1);
    // The errors before the resumption are not counted again.
    await service.app.advance(6_000);
    expect((await read(`/providers/${BANK}`)).status).toBe('ACTIVE');
  });

  it('pauses a provider whose transfers are returned, until an operator resumes it', async () => {
    await setAutoPause({
      windowMinutes: 60,
      minimum: 2,
      returnPercent: 50,
      resumeAfterProbe: true,
    });
    await service.app.advance(60_000);
    for (let count = 0; count < 2; count++) {
      const { id } = await service.createPayment();
      await report(id, { state: 'settled', reference: `BANK-R${count}` });
      await report(id, { state: 'returned', reason: 'ACCOUNT_INVALID' });
    }
    await service.app.advance(6_000);
    const { status, pauseReason } = await read(`/providers/${BANK}`);
    expect(status).toBe('PAUSED');
    expect(pauseReason).toMatch(
      /^Returned transfers: 100 % of [23] in 60 minutes, allowed 50 %\.$/,
    );
    await service.app.advance(121_000);
    expect((await read(`/providers/${BANK}`)).status).toBe('PAUSED');
    const { id } = await service.createPayment();
    expect(adapter.transfers.has(id)).toBe(false);
    expect(await write('POST', `/providers/${BANK}/resume`)).toMatchObject({ pausedBy: null });
    await service.app.advance(6_000);
    expect((await read(`/providers/${BANK}`)).status).toBe('ACTIVE');
  });
});
