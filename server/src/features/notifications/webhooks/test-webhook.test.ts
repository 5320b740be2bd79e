// The test webhook with each response of the endpoint, and the deliveries of other events.
import { Type } from '@sinclair/typebox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { attemptsOf } from '../../../../test/kit/http/outbox.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { defineEvent } from '../../../kernel/contract/event.ts';

const kycApproved = defineEvent('CUSTOMER.KYC_APPROVED', Type.Object({ id: Type.String() }));
const kycPending = defineEvent('CUSTOMER.KYC_PENDING', Type.Object({}));

const app = testApp();
let receiver: Receiver;

beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(async () => {
  await setEndpoint(null);
  await receiver.close();
});

const setEndpoint = (endpoint: string | null, platform = app.platform.id) =>
  app.runtime.db.query('update platforms set webhook_endpoint = $2 where id = $1', [
    platform,
    endpoint,
  ]);

const OPERATIONS = [
  ['sendTestEvent', '/webhooks/test'],
  ['sendTestWebhook', '/sandbox/webhooks/test'],
] as const;

describe.each(OPERATIONS)('%s', (_operation, path) => {
  it.each([
    ['no body', undefined],
    ['an empty object', {}],
  ])('sends one test with %s and returns the response', async (_description, request) => {
    await setEndpoint(receiver.url);
    receiver.behave((response) => response.writeHead(202).end('thanks'));
    const { status, body } = await app.call('POST', path, request);
    expect(status).toBe(200);
    expect(body).toEqual({ url: receiver.url, response_status: 202, response_body: 'thanks' });
    const [arrival] = receiver.arrivals;
    expect(JSON.parse(arrival?.body ?? '')).toEqual({
      test: true,
      id: arrival?.id,
      type: 'TEST',
      timestamp: new Date(app.effects.now()).toISOString(),
      data: {},
    });
    expect(arrival?.headers['x-service-signature']).toBeTruthy();
    expect(arrival?.headers['webhook-signature']).toMatch(/^v1a,/);
    const attempts = await attemptsOf(app.runtime.db, arrival?.id ?? '');
    expect(attempts).toMatchObject([{ attempt: 1, status: 202, result: 'delivered' }]);
    await app.settle();
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('sends one request and returns an error status unchanged', async () => {
    await setEndpoint(receiver.url);
    receiver.behave(500);
    const { status, body } = await app.call('POST', path);
    expect([status, body.response_status]).toEqual([200, 500]);
    await app.advance(3_600_000);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('rejects a platform without an endpoint', async () => {
    const { status, body } = await app.call('POST', path);
    expect([status, body.code]).toEqual([400, 'WEBHOOK_ENDPOINT_NOT_SET']);
  });

  it('fails if the endpoint cannot be reached, and records the attempt', async () => {
    await receiver.close();
    await setEndpoint(receiver.url);
    const { status, body } = await app.call('POST', path);
    expect([status, body.code]).toEqual([400, 'WEBHOOK_DELIVERY_ERROR']);
    const [event] = (await app.events()).filter((each) => each.type === 'TEST').slice(-1);
    const attempts = await attemptsOf(app.runtime.db, event?.id ?? '');
    expect(attempts).toMatchObject([{ status: null, result: 'dropped' }]);
    expect(attempts[0]?.error).toContain('ECONNREFUSED');
    receiver = await startReceiver();
  });

  it('rejects an address that is not allowed in the environment', async () => {
    await setEndpoint('https://10.0.0.1/hook');
    const { body } = await app.call('POST', path);
    expect(body.code).toBe('WEBHOOK_DELIVERY_ERROR');
    await setEndpoint(receiver.url, app.production.id);
    const productionReply = await app.call('POST', path, undefined, { platform: app.production });
    expect([productionReply.status, productionReply.body.code]).toEqual([
      400,
      'WEBHOOK_DELIVERY_ERROR',
    ]);
    expect(receiver.arrivals).toHaveLength(0);
  });

  it('sends to another URL of the same host, and otherwise to the endpoint', async () => {
    await setEndpoint(receiver.url);
    const otherHostReceiver = await startReceiver();
    const otherPathUrl = receiver.url.replace('/hook', '/other');
    const sendTestTo = async (url: string) => (await app.call('POST', path, { url })).body.url;
    expect(await sendTestTo(otherPathUrl)).toBe(otherPathUrl);
    for (const url of [
      otherHostReceiver.url,
      otherPathUrl.replace('http:', 'https:'),
      'nonsense',
    ]) {
      expect(await sendTestTo(url)).toBe(receiver.url);
    }
    expect(otherHostReceiver.arrivals).toHaveLength(0);
    await otherHostReceiver.close();
  });

  it('sends once for one Idempotency-Key', async () => {
    await setEndpoint(receiver.url);
    const headers = { 'idempotency-key': `key of ${path}` };
    const firstReply = await app.call('POST', path, {}, { headers });
    const secondReply = await app.call('POST', path, {}, { headers });
    expect(secondReply.body).toEqual(firstReply.body);
    expect(secondReply.headers['idempotency-replayed']).toBe('true');
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('sends again for the same Idempotency-Key if the endpoint was not reached', async () => {
    const headers = { 'idempotency-key': `second attempt of ${path}` };
    await receiver.close();
    await setEndpoint(receiver.url);
    const firstReply = await app.call('POST', path, {}, { headers });
    expect(firstReply.body.code).toBe('WEBHOOK_DELIVERY_ERROR');
    receiver = await startReceiver();
    await setEndpoint(receiver.url);
    expect((await app.call('POST', path, {}, { headers })).status).toBe(200);
    expect(receiver.arrivals).toHaveLength(1);
  });

  it('requires MANAGE', async () => {
    const platform = await app.tokenWith(['VIEW', 'TRANSACT']);
    const { status, body } = await app.call('POST', path, undefined, { platform });
    expect([status, body.code]).toEqual([403, 'FORBIDDEN']);
  });
});

describe('event', () => {
  it('is delivered to the endpoint of its platform only', async () => {
    await setEndpoint(receiver.url);
    const otherReceiver = await startReceiver();
    await setEndpoint(otherReceiver.url, app.other.id);
    await app.operate(async (ctx) => ctx.emit(kycApproved, 'Customer:1', { id: 'Customer:1' }));
    await app.settle();
    expect(receiver.arrivals.map((each) => each.type)).toEqual(['CUSTOMER.KYC_APPROVED']);
    expect(JSON.parse(receiver.arrivals[0]?.body ?? '').data).toEqual({ id: 'Customer:1' });
    expect(otherReceiver.arrivals).toHaveLength(0);
    await otherReceiver.close();
  });

  it('is delivered immediately while the deliverer runs', async () => {
    await setEndpoint(receiver.url);
    app.start();
    await app.operate(async (ctx) => ctx.emit(kycPending, 'Customer:2', {}));
    await receiver.has(1);
    expect(receiver.arrivals[0]?.type).toBe('CUSTOMER.KYC_PENDING');
  });

  it('of the type TEST is sent when the endpoint is set', async () => {
    const { status } = await app.call('PATCH', '/config', { webhookEndpoint: receiver.url });
    expect(status).toBe(200);
    await receiver.has(1);
    expect(JSON.parse(receiver.arrivals[0]?.body ?? '')).toMatchObject({
      test: true,
      type: 'TEST',
    });
  });
});
