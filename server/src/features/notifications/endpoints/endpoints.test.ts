// Webhook endpoints over the API: their events, formats, keys and limits.
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { type Receiver, startReceiver } from '../../../../test/kit/http/webhook-receiver.ts';
import { testEvent } from '../../tenancy/config/index.ts';
import { configuredId } from './index.ts';
import { webhookEndpoints } from './store.ts';

const app = testApp();
const DAY_MS = 86_400_000;
const HOUR_MS = 3_600_000;
let receiver: Receiver;
let configuredReceiver: Receiver;

const createEndpoint = (body: object) => app.call('POST', '/webhook-endpoints', body);
const create = async (body: object) => ok(await createEndpoint(body), 201);
const change = async (id: string, body: object) =>
  app.call('PATCH', `/webhook-endpoints/${id}`, body);
const get = async (id: string) => ok(await app.call('GET', `/webhook-endpoints/${id}`), 200);
const list = async () => ok(await app.call('GET', '/webhook-endpoints'), 200).data;
const rotate = (id: string, body?: object) =>
  app.call('POST', `/webhook-endpoints/${id}/keys/rotate`, body);

let createdCount = 0;
/** Creates a customer, which emits `CUSTOMER.KYC_APPROVED`. */
async function emitEvent(): Promise<void> {
  const body = {
    customerType: 'INDIVIDUAL',
    platformCustomerId: `c-${++createdCount}`,
    region: 'US',
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-01',
    nationality: 'US',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  };
  ok(await app.call('POST', '/customers', body), 201);
  await app.settle();
}

const arrivalTypesAt = (receiver: Receiver) => receiver.arrivals.map(({ type }) => type);

const signatureOf = (secret: string, { headers, body, id }: Receiver['arrivals'][number]) => {
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64');
  const text = `${id}.${headers['webhook-timestamp']}.${body}`;
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
};

beforeAll(async () => {
  configuredReceiver = await startReceiver();
  receiver = await startReceiver();
  ok(await app.call('PATCH', '/config', { webhookEndpoint: configuredReceiver.url }), 200);
  await app.settle();
});

afterEach(async () => {
  for (const each of await list()) {
    if (!each.isConfigured) await app.call('DELETE', `/webhook-endpoints/${each.id}`);
  }
  await app.settle();
  receiver.behave(200);
  receiver.arrivals.length = 0;
  configuredReceiver.arrivals.length = 0;
});

afterAll(async () => {
  await receiver.close();
  await configuredReceiver.close();
});

const PUBLIC_URL = 'https://example.com/hook';

describe('createWebhookEndpoint', () => {
  it(
    'adds an endpoint that receives later events with its signature, like the configured ' +
      'endpoint',
    async () => {
      await emitEvent();
      const { secret, ...endpoint } = await create({ url: receiver.url, description: 'Ledger' });
      expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
      expect(await get(endpoint.id)).toEqual(endpoint);
      expect(endpoint).toMatchObject({ eventTypes: [], status: 'ENABLED', isConfigured: false });
      configuredReceiver.arrivals.length = 0;
      await emitEvent();
      expect(arrivalTypesAt(receiver).length).toBeGreaterThan(0);
      expect(arrivalTypesAt(receiver).sort()).toEqual(arrivalTypesAt(configuredReceiver).sort());
      const [arrival] = receiver.arrivals;
      if (!arrival) throw new Error('The receiver got no webhook.');
      expect(arrival.headers['webhook-signature']).toBe(signatureOf(secret, arrival));
      const configuredArrival = configuredReceiver.arrivals.find(({ id }) => id === arrival.id);
      expect(configuredArrival?.body).toBe(arrival.body);
      // Both deliveries have the same signature of the service.
      expect(configuredArrival?.headers['x-service-signature']).toBe(
        arrival.headers['x-service-signature'],
      );
      expect(configuredArrival?.headers['webhook-signature']).toMatch(/^v1a,/);
      const storedText = JSON.stringify(
        await app.runtime.db.find(webhookEndpoints, { id: endpoint.id }),
      );
      expect(storedText).not.toContain(secret.slice(6));
      expect(app.log.join('')).not.toContain(secret);
    },
  );

  it('adds an endpoint that receives only the ID of the resource in the thin format', async () => {
    const endpoint = await create({ url: receiver.url, format: 'THIN' });
    const eventTypes = ['CUSTOMER.KYC_APPROVED'];
    expect(endpoint.format).toBe('THIN');
    ok(await change(endpoint.id, { eventTypes }), 200);
    await emitEvent();
    const arrivalsOf = (receiver: Receiver) =>
      receiver.arrivals.filter(({ type }) => type === eventTypes[0]);
    const [thinArrival, fullArrival] = [arrivalsOf(receiver)[0], arrivalsOf(configuredReceiver)[0]];
    const { id, type, timestamp, data } = JSON.parse(fullArrival?.body ?? '');
    expect(data.fullName).toBe('Ada Lovelace');
    expect(JSON.parse(thinArrival?.body ?? '')).toEqual({
      id,
      type,
      timestamp,
      data: { id: data.id },
    });
    expect(thinArrival && signatureOf(endpoint.secret, thinArrival)).toBe(
      thinArrival?.headers['webhook-signature'],
    );
    expect(thinArrival?.headers['x-service-signature']).not.toBe(
      fullArrival?.headers['x-service-signature'],
    );
    const event = ok(await app.call('GET', `/events/${id}`), 200);
    expect(event.data).toEqual(data);
    expect(ok(await change(endpoint.id, { format: 'FULL' }), 200).format).toBe('FULL');
    await emitEvent();
    expect(JSON.parse(arrivalsOf(receiver)[1]?.body ?? '').data.fullName).toBe('Ada Lovelace');
    const rejectedReply = await createEndpoint({ url: receiver.url, format: 'COMPACT' });
    expect(rejectedReply).toMatchObject({
      status: 400,
      body: { details: { errors: [{ field: 'format' }] } },
    });
  });

  it(
    'adds an endpoint that receives only the types of its filter, without disabled standard ' +
      'headers',
    async () => {
      await create({ url: receiver.url, eventTypes: ['BULK_UPLOAD.COMPLETED'] });
      await emitEvent();
      expect(arrivalTypesAt(receiver)).toEqual([]);
      await create({
        url: receiver.url,
        eventTypes: ['CUSTOMER.KYC_APPROVED', 'CUSTOMER.KYC_APPROVED'],
        standardWebhooks: false,
      });
      await emitEvent();
      expect(arrivalTypesAt(receiver)).toEqual(['CUSTOMER.KYC_APPROVED']);
      const headers = Object.keys(receiver.arrivals[0]?.headers ?? {});
      expect(headers.filter((name) => name.startsWith('webhook-'))).toEqual([]);
      expect(headers).toContain('x-service-signature');
    },
  );

  it('adds an endpoint that receives no test events of the configured endpoint', async () => {
    await create({ url: receiver.url });
    await app.operate(async (ctx) => ctx.emit(testEvent, ctx.caller.platformId, {}));
    await app.settle();
    expect([arrivalTypesAt(receiver), arrivalTypesAt(configuredReceiver)]).toEqual([[], ['TEST']]);
  });

  it('omits the secret from a repeated reply', async () => {
    const headers = { 'idempotency-key': 'one endpoint' };
    const reply = await app.call('POST', '/webhook-endpoints', { url: PUBLIC_URL }, { headers });
    const replay = await app.call('POST', '/webhook-endpoints', { url: PUBLIC_URL }, { headers });
    const { secret, ...endpoint } = reply.body;
    expect(secret).toBeDefined();
    expect(replay.body).toEqual(endpoint);
  });

  it.each([
    [{ url: 'http://example.com/hook' }, 'url'],
    [{ url: 'https://10.0.0.1/hook' }, 'url'],
    [{ url: 'nonsense' }, 'url'],
    [{}, 'url'],
    [{ url: PUBLIC_URL, eventTypes: ['CARD.UNKNOWN'] }, 'eventTypes.0'],
    [{ url: PUBLIC_URL, description: '' }, 'description'],
  ])('rejects %j', async (body, field) => {
    const { status, body: reply } = await app.call('POST', '/webhook-endpoints', body);
    expect([status, reply.details.errors[0].field]).toEqual([400, field]);
  });

  it('requires MANAGE, and public addresses in production', async () => {
    const { body: token } = await app.call('POST', '/tokens', {
      name: 'view',
      permissions: ['VIEW'],
    });
    const platform = { clientId: token.clientId, clientSecret: token.clientSecret };
    expect(
      (await app.call('POST', '/webhook-endpoints', { url: PUBLIC_URL }, { platform })).status,
    ).toBe(403);
    const asProduction = { platform: app.production };
    const localReply = await app.call(
      'POST',
      '/webhook-endpoints',
      { url: receiver.url },
      asProduction,
    );
    expect([localReply.status, localReply.body.details.errors[0].field]).toEqual([400, 'url']);
  });

  it('rejects a seventeenth endpoint, also under concurrent requests', async () => {
    const replies = await Promise.all(
      Array.from({ length: 18 }, () => app.call('POST', '/webhook-endpoints', { url: PUBLIC_URL })),
    );
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(15);
    expect(replies.find(({ status }) => status === 400)?.body.reason).toContain('at most 15');
    expect(await list()).toHaveLength(16);
  });
});

describe('listWebhookEndpoints', () => {
  it('returns the configured endpoint first, and rejects unknown parameters', async () => {
    const { id } = await create({ url: PUBLIC_URL });
    const [configuredEndpoint, createdEndpoint, ...otherEndpoints] = await list();
    expect(configuredEndpoint).toMatchObject({
      id: configuredId(app.platform.id),
      url: configuredReceiver.url,
      isConfigured: true,
      keys: [],
    });
    expect([createdEndpoint.id, otherEndpoints]).toEqual([id, []]);
    expect(createdEndpoint.url).toBe(PUBLIC_URL);
    const { status, body } = await app.call('GET', '/webhook-endpoints?state=PAUSED');
    expect([status, body.details.errors[0].field]).toEqual([400, 'state']);
  });
});

describe('getWebhookEndpointById', () => {
  it('returns 404 for unknown and deleted endpoints and for endpoints of other platforms', async () => {
    const { id } = await create({ url: PUBLIC_URL });
    const otherReply = await app.call('GET', `/webhook-endpoints/${id}`, undefined, {
      platform: app.production,
    });
    expect([otherReply.status, otherReply.body.code]).toEqual([404, 'NOT_FOUND']);
    await app.call('DELETE', `/webhook-endpoints/${id}`);
    for (const each of [id, 'WebhookEndpoint:x', configuredId(app.production.id)]) {
      expect((await app.call('GET', `/webhook-endpoints/${each}`)).status).toBe(404);
    }
  });
});

describe('updateWebhookEndpoint', () => {
  it('sets the format of the configured endpoint', async () => {
    const id = configuredId(app.platform.id);
    expect((await get(id)).format).toBe('FULL');
    ok(await change(id, { format: 'THIN' }), 200);
    await emitEvent();
    expect(Object.keys(JSON.parse(configuredReceiver.arrivals[0]?.body ?? '').data)).toEqual([
      'id',
    ]);
    ok(await change(id, { format: 'FULL' }), 200);
  });

  it('pauses and resumes, and sends the events of the pause afterwards', async () => {
    const { id } = await create({ url: receiver.url });
    const pausedEndpoint = ok(
      await change(id, { status: 'PAUSED', statusReason: 'Maintenance' }),
      200,
    );
    expect(pausedEndpoint).toMatchObject({ status: 'PAUSED', statusReason: 'Maintenance' });
    await emitEvent();
    expect(arrivalTypesAt(receiver)).toEqual([]);
    const resumedEndpoint = ok(await change(id, { status: 'ENABLED' }), 200);
    expect(resumedEndpoint).not.toHaveProperty('statusReason');
    await app.settle();
    expect(arrivalTypesAt(receiver)).toContain('CUSTOMER.KYC_APPROVED');
  });

  it('changes URL, filter and description', async () => {
    const { id } = await create({ url: 'http://127.0.0.1:9/', description: 'a' });
    const changes = { url: receiver.url, eventTypes: ['CUSTOMER.KYC_APPROVED'], description: null };
    expect(ok(await change(id, changes), 200)).not.toHaveProperty('description');
    await emitEvent();
    expect(arrivalTypesAt(receiver)).toEqual(['CUSTOMER.KYC_APPROVED']);
    const rejectedReply = await change(id, { url: 'ftp://example.com' });
    expect([rejectedReply.status, rejectedReply.body.details.errors[0].field]).toEqual([
      400,
      'url',
    ]);
  });

  it('filters and pauses the configured endpoint, and rejects a change of its URL', async () => {
    const id = configuredId(app.platform.id);
    const urlReply = await change(id, { url: receiver.url });
    expect([urlReply.status, urlReply.body.details.errors[0].field]).toEqual([400, 'url']);
    const settings = { description: 'Main', eventTypes: ['BULK_UPLOAD.COMPLETED'] };
    expect(ok(await change(id, settings), 200)).toMatchObject(settings);
    await emitEvent();
    expect(arrivalTypesAt(configuredReceiver)).toEqual([]);
    ok(await change(id, { eventTypes: [], status: 'PAUSED' }), 200);
    await emitEvent();
    expect(arrivalTypesAt(configuredReceiver)).toEqual([]);
    expect(await get(id)).toMatchObject({ status: 'PAUSED', description: 'Main' });
    ok(await change(id, { status: 'ENABLED', standardWebhooks: false }), 200);
    await app.settle();
    expect(arrivalTypesAt(configuredReceiver)).toContain('CUSTOMER.KYC_APPROVED');
    expect(configuredReceiver.arrivals[0]?.headers).not.toHaveProperty('webhook-id');
    ok(await change(id, { standardWebhooks: true }), 200);
  });
});

describe('deliveries of a paused endpoint', () => {
  it('are retained for seven days', async () => {
    const { id } = await create({ url: receiver.url });
    await change(id, { status: 'PAUSED' });
    await emitEvent();
    const findRetainedRows = () =>
      app.runtime.db.query('select 1 from webhook_queue where endpoint > 0');
    await app.advance(7 * 86_400_000 - 60_000);
    expect(await findRetainedRows()).toHaveLength(1);
    await app.advance(2 * 60_000);
    expect(await findRetainedRows()).toEqual([]);
  });
});

describe('deleteWebhookEndpointById', () => {
  it('discards pending deliveries, except those of the configured endpoint', async () => {
    const { id } = await create({ url: receiver.url });
    await change(id, { status: 'PAUSED' });
    await emitEvent();
    expect((await app.call('DELETE', `/webhook-endpoints/${id}`)).status).toBe(204);
    await app.settle();
    const remainingRows = await app.runtime.db.query(
      'select 1 from webhook_queue where endpoint > 0',
    );
    expect(remainingRows).toEqual([]);
    expect(arrivalTypesAt(receiver)).toEqual([]);
    const { status } = await app.call(
      'DELETE',
      `/webhook-endpoints/${configuredId(app.platform.id)}`,
    );
    expect(status).toBe(409);
  });

  it('changes deliveries that wait for a retry to FAILED', async () => {
    const { id } = await create({ url: receiver.url, eventTypes: ['CUSTOMER.KYC_APPROVED'] });
    receiver.behave(503);
    await emitEvent();
    const listDeliveries = async () =>
      ok(await app.call('GET', `/webhook-deliveries?endpointId=${id}`), 200).data;
    expect(await listDeliveries()).toMatchObject([{ status: 'PENDING', attemptCount: 1 }]);
    ok(await app.call('DELETE', `/webhook-endpoints/${id}`), 204);
    await app.settle();
    const [delivery] = await listDeliveries();
    expect(delivery).toMatchObject({ status: 'FAILED', lastAttempt: { result: 'FAILED' } });
    expect(delivery).not.toHaveProperty('nextAttemptAt');
  });
});

describe('rotateWebhookEndpointKey', () => {
  it('signs with the new and the previous key until the overlap expires', async () => {
    const { id, secret: secretBefore } = await create({ url: receiver.url });
    const { secret: secretAfter, keys } = ok(await rotate(id, { overlapHours: 2 }), 200);
    expect(keys).toHaveLength(2);
    expect(keys[1].expiresAt).toBe(new Date(app.effects.now() + 2 * HOUR_MS).toISOString());
    await emitEvent();
    const arrival = receiver.arrivals[0] as Receiver['arrivals'][number];
    expect(arrival.headers['webhook-signature']?.split(' ')).toEqual([
      signatureOf(secretAfter, arrival),
      signatureOf(secretBefore, arrival),
    ]);
    await app.advance(2 * HOUR_MS);
    receiver.arrivals.length = 0;
    await emitEvent();
    const laterArrival = receiver.arrivals[0] as Receiver['arrivals'][number];
    expect(laterArrival.headers['webhook-signature']).toBe(signatureOf(secretAfter, laterArrival));
    expect((await get(id)).keys).toHaveLength(1);
  });

  it('keeps three keys, each for a day by default, and rejects the configured endpoint', async () => {
    const { id } = await create({ url: PUBLIC_URL });
    const { keys } = ok(await rotate(id), 200);
    expect(keys[1].expiresAt).toBe(new Date(app.effects.now() + DAY_MS).toISOString());
    ok(await rotate(id), 200);
    expect((await rotate(id)).status).toBe(409);
    expect(ok(await rotate(id, { overlapHours: 0 }), 200).keys).toHaveLength(1);
    expect((await rotate(id, { overlapHours: 169 })).status).toBe(400);
    expect((await rotate(configuredId(app.platform.id))).status).toBe(409);
  });
});

describe('a failing endpoint', () => {
  it('is paused after five days, and the other endpoints receive an event', async () => {
    const failingEndpoint = await create({ url: receiver.url });
    receiver.behave(500);
    await emitEvent();
    expect((await get(failingEndpoint.id)).failingSince).toBeDefined();
    await app.advance(4 * DAY_MS);
    expect((await get(failingEndpoint.id)).status).toBe('ENABLED');
    await app.advance(DAY_MS + HOUR_MS);
    expect(await get(failingEndpoint.id)).toMatchObject({
      status: 'PAUSED',
      statusReason: 'Every attempt failed for five days.',
    });
    const notice = configuredReceiver.arrivals.find(
      ({ type }) => type === 'WEBHOOK_ENDPOINT.PAUSED',
    );
    expect(JSON.parse(notice?.body ?? '{}').data).toMatchObject({
      id: failingEndpoint.id,
      status: 'PAUSED',
    });
    receiver.behave(200);
    ok(await change(failingEndpoint.id, { status: 'ENABLED' }), 200);
    await app.settle();
    expect(arrivalTypesAt(receiver)).toContain('CUSTOMER.KYC_APPROVED');
    expect(arrivalTypesAt(receiver)).not.toContain('WEBHOOK_ENDPOINT.PAUSED');
    expect(await get(failingEndpoint.id)).not.toHaveProperty('failingSince');
  });

  it('has no time of failure after a success', async () => {
    const { id } = await create({ url: receiver.url });
    receiver.behave(500);
    await emitEvent();
    expect((await get(id)).failingSince).toBeDefined();
    receiver.behave(200);
    await app.advance(10_000);
    expect(await get(id)).not.toHaveProperty('failingSince');
  });
});
