// Endpoints of a sandbox platform with its own clock.
import { createHmac } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { openForFile, testApp } from '../../../../test/kit/app/test-app.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';

const app = testApp();
const receiver = openForFile(startReceiver);
const DAY_MS = 86_400_000;

afterEach(() => {
  receiver.behave(200);
  receiver.arrivals.length = 0;
});

async function createPlatformWithEndpoint(name: string, settings: object = {}) {
  const platform = await app.newPlatform(name);
  const call = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) =>
    (await app.call(method, path, body, { platform })).body;
  const body = { url: receiver.url, eventTypes: ['CUSTOMER.KYC_APPROVED'], ...settings };
  const endpoint = await call('POST', '/webhook-endpoints', body);
  const path = `/webhook-endpoints/${endpoint.id}`;
  return { platform, call, path, id: endpoint.id as string, secret: endpoint.secret as string };
}

async function emitEvent(platform: TestPlatform): Promise<void> {
  await createCustomer(app, { platform });
  await app.settle();
}

const isSignedBy = (secret: string, { headers, body, id }: Receiver['arrivals'][number]) => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const signedContent = `${id}.${headers['webhook-timestamp']}.${body}`;
  const signature = `v1,${createHmac('sha256', key).update(signedContent).digest('base64')}`;
  return headers['webhook-signature']?.split(' ').includes(signature) ?? false;
};

describe('a rotated key', () => {
  it('signs until its expiry in real time, regardless of the clock, even after a reset', async () => {
    const { platform, call, path, secret } = await createPlatformWithEndpoint('Rotated');
    await call('POST', '/sandbox/clock', { advance: 'P30D', freeze: true });
    const expiresAt = new Date(app.effects.now() + DAY_MS).toISOString();
    expect((await call('POST', `${path}/keys/rotate`, {})).keys[1].expiresAt).toBe(expiresAt);
    const expectOverlap = async (isValid: boolean) => {
      receiver.arrivals.length = 0;
      await emitEvent(platform);
      const arrival = receiver.arrivals[0] as Receiver['arrivals'][number];
      expect(isSignedBy(secret, arrival)).toBe(isValid);
      const { keys } = await call('GET', path);
      expect(keys[1]?.expiresAt).toBe(isValid ? expiresAt : undefined);
    };
    await call('POST', '/sandbox/clock', { advance: 'P2D' });
    await expectOverlap(true);
    ok(await app.call('POST', '/sandbox/reset', {}, { platform }), 200);
    await expectOverlap(true);
    await app.advance(DAY_MS);
    await expectOverlap(false);
  });
});

describe('retries', () => {
  it('occur at the same times of the clock in every run', async () => {
    receiver.behave(503);
    const runs = [];
    for (const name of ['First run', 'Second run']) {
      const { platform, call } = await createPlatformWithEndpoint(name);
      const { currentTime } = await call('POST', '/sandbox/clock', { freeze: true });
      await emitEvent(platform);
      const { processed } = await call('POST', '/sandbox/clock', { advance: 'P2D' });
      const { data } = await call('GET', '/webhook-deliveries');
      const { attempts } = await call('GET', `/webhook-deliveries/${data[0].id}`);
      const times = attempts.map(({ at }: { at: string }) => Date.parse(at));
      runs.push([processed, times.map((time: number) => time - Date.parse(currentTime))]);
    }
    expect(runs[1]).toEqual(runs[0]);
    expect(runs[0]?.[1].slice(0, 4)).toEqual([0, 5_000, 305_000, 2_105_000]);
  });
});

describe('a failing endpoint', () => {
  const STATUS_REASON = 'Every attempt failed for five days.';

  it('is paused after five days of an advanced clock, and the other endpoints receive an event', async () => {
    const { platform, call, path, id } = await createPlatformWithEndpoint('Failing');
    const otherReceiver = await startReceiver();
    const eventTypes = ['WEBHOOK_ENDPOINT.PAUSED'];
    await call('POST', '/webhook-endpoints', { url: otherReceiver.url, eventTypes });
    await call('POST', '/sandbox/clock', { freeze: true });
    receiver.behave(503);
    await emitEvent(platform);
    await call('POST', '/sandbox/clock', { advance: 'P4D' });
    const { status, failingSince } = await call('GET', path);
    expect(status).toBe('ENABLED');
    const pausedAt = new Date(Date.parse(failingSince) + 5 * DAY_MS).toISOString();
    await call('POST', '/sandbox/clock', { advance: 'P4D' });
    const pausedFields = {
      status: 'PAUSED',
      statusReason: STATUS_REASON,
      statusChangedAt: pausedAt,
    };
    expect(await call('GET', path)).toMatchObject(pausedFields);
    const notices = otherReceiver.arrivals.map(({ body }) => JSON.parse(body));
    expect(notices).toMatchObject([{ data: { id, status: 'PAUSED' }, timestamp: pausedAt }]);
    await otherReceiver.close();
  });

  it('is paused under a clock ahead of real time, and remains enabled under a frozen clock', async () => {
    receiver.behave(503);
    const [fastPlatform, frozenPlatform] = [
      await createPlatformWithEndpoint('Fast'),
      await createPlatformWithEndpoint('Frozen'),
    ];
    await frozenPlatform.call('POST', '/sandbox/clock', { freeze: true });
    await fastPlatform.call('POST', '/sandbox/clock', { advance: 'P30D' });
    for (const { platform } of [fastPlatform, frozenPlatform]) await emitEvent(platform);
    const statusOf = async ({ call, path }: typeof fastPlatform) =>
      (await call('GET', path)).status;
    const advanceDays = async (count: number) => {
      app.effects.set(app.effects.now() + count * DAY_MS);
      await app.settle();
    };
    await advanceDays(4);
    expect(await statusOf(fastPlatform)).toBe('ENABLED');
    await advanceDays(2);
    expect([await statusOf(fastPlatform), await statusOf(frozenPlatform)]).toEqual([
      'PAUSED',
      'ENABLED',
    ]);
  });

  it('has no time of failure after a reset', async () => {
    const { platform, call, path } = await createPlatformWithEndpoint('Reset');
    await call('POST', '/sandbox/clock', { advance: 'P30D' });
    receiver.behave(503);
    await emitEvent(platform);
    expect(await call('GET', path)).toHaveProperty('failingSince');
    ok(await app.call('POST', '/sandbox/reset', {}, { platform }), 200);
    expect(await call('GET', path)).not.toHaveProperty('failingSince');
    await emitEvent(platform);
    const { failingSince } = await call('GET', path);
    expect(failingSince).toBe(new Date(app.effects.now()).toISOString());
  });

  it('has a new time of failure after it was enabled again', async () => {
    const { platform, call, path } = await createPlatformWithEndpoint('Enabled');
    receiver.behave(503);
    await emitEvent(platform);
    await call('PATCH', path, { status: 'PAUSED' });
    await call('PATCH', path, { status: 'ENABLED' });
    expect(await call('GET', path)).not.toHaveProperty('failingSince');
    await emitEvent(platform);
    expect(await call('GET', path)).toHaveProperty('failingSince');
  });
});

describe('a delivery of a paused endpoint', () => {
  it('is discarded after seven days of the clock', async () => {
    const { platform, call, path, id } = await createPlatformWithEndpoint('Paused');
    await call('POST', '/sandbox/clock', { freeze: true });
    await call('PATCH', path, { status: 'PAUSED' });
    await emitEvent(platform);
    await call('POST', '/sandbox/clock', { advance: 'P6D' });
    const list = async () => (await call('GET', `/webhook-deliveries?endpointId=${id}`)).data;
    expect(await list()).toMatchObject([{ status: 'PENDING' }]);
    await call('POST', '/sandbox/clock', { advance: 'P1DT1S' });
    await call('PATCH', path, { status: 'ENABLED' });
    await app.settle();
    const error = 'EXPIRED: the endpoint was paused for seven days';
    expect(await list()).toMatchObject([{ status: 'FAILED', lastAttempt: { error } }]);
    expect(receiver.arrivals).toEqual([]);
  });
});
