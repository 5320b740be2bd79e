// Operations on webhook deliveries: listing in pages, details of an event, and resending.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createCustomer,
  findInternalAccount,
  fundAccount,
  ok,
} from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);

beforeAll(async () => {
  app.effects.http = async () => ({ status: 500, headers: {}, body: 'answer' });
  const settings = { webhookEndpoint: 'http://127.0.0.1:9/hook' };
  ok(await app.call('PATCH', '/config', settings), 200);
  const person = await createCustomer(app);
  await fundAccount(app, (await findInternalAccount(app, person.id, 'USD')).id, 1_00);
});

// The next request of the harness reports replies that violate their contract.
afterAll(async () => void ok(await app.call('GET', '/config'), 200));

/** All items of a list, read in pages of two. */
async function readAll(path: string): Promise<Record<string, string>[]> {
  const items: Record<string, string>[] = [];
  let cursor: string | undefined;
  do {
    const cursorParameter = cursor === undefined ? '' : `&cursor=${cursor}`;
    const { data, nextCursor } = ok(
      await client.call('GET', `${path}?limit=2${cursorParameter}`),
      200,
    );
    items.push(...data);
    cursor = nextCursor;
  } while (cursor);
  return items;
}

describe('deliveries', () => {
  it('are listed in pages while pending, as in the platform API', async () => {
    const path = '/webhook-deliveries?status=PENDING&sortOrder=asc';
    const { data } = ok(await app.call('GET', path), 200);
    expect(data.length).toBeGreaterThan(2);
    const { id: platformId } = app.platform;
    const pendingDeliveries = await readAll('/webhook-deliveries/pending');
    expect(pendingDeliveries).toEqual(data.map((each: object) => ({ platformId, ...each })));
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    const emptyList = ok(await client.call('GET', '/webhook-deliveries/pending', { secret }), 200);
    expect(emptyList).toEqual({ data: [], hasMore: false });
    const rejectedReply = await client.call('GET', '/webhook-deliveries/pending?cursor=x');
    expect([rejectedReply.status, rejectedReply.body.code]).toEqual([400, 'INVALID_INPUT']);
  });

  it('are listed with their attempts after a failure, and can be resent', async () => {
    await app.advance(8 * 86_400_000);
    const droppedEvents = ok(await client.call('GET', '/events/dropped'), 200);
    expect(droppedEvents.data.length).toBeGreaterThan(2);
    expect(await readAll('/events/dropped')).toEqual(droppedEvents.data);
    const { eventId, attempts } = droppedEvents.data[0];
    const path = `/events/${eventId}`;
    const details = ok(await client.call('GET', `${path}/deliveries`), 200);
    expect(details).toMatchObject({ platformId: app.platform.id, type: expect.any(String) });
    expect(details.resourceId).toMatch(/^\w+:/);
    const { deliveries } = details;
    expect(deliveries).toMatchObject([{ eventId, status: 'FAILED', attemptCount: attempts }]);

    const secret = await client.secretOf({ platformIds: [app.other.id] });
    for (const [method, suffix] of [
      ['GET', ''],
      ['GET', '/deliveries'],
      ['POST', '/resend'],
    ] as const) {
      const foreignReply = await client.call(method, path + suffix, { secret });
      const notFound = await client.call(method, `/events/Webhook:none${suffix}`, { secret });
      expect(foreignReply.status).toBe(404);
      expect(foreignReply.body).toEqual(notFound.body);
    }
    const otherDroppedEvents = ok(await client.call('GET', '/events/dropped', { secret }), 200);
    expect(otherDroppedEvents.data).toEqual([]);

    const body = { reason: 'Endpoint is repaired' };
    const resentReply = ok(await client.call('POST', `${path}/resend`, { body }), 200);
    const { id: platformId } = app.platform;
    expect(resentReply).toEqual({ eventId, platformId, deliveryIds: [deliveries[0].id] });
    expect(await client.recordsOf('resendEventOfPlatform')).toMatchObject([
      { subject: eventId, platformId, ...body },
    ]);
    const unknownEndpoint = { endpointId: 'WebhookEndpoint:none' };
    const unknownReply = await client.call('POST', `${path}/resend`, { body: unknownEndpoint });
    expect([unknownReply.status, unknownReply.body.code]).toEqual([404, 'NOT_FOUND']);
  });

  it('of an unknown event are not found', async () => {
    expect((await client.call('GET', '/events/Webhook:none/deliveries')).status).toBe(404);
    expect((await client.call('POST', '/events/Webhook:none/resend')).status).toBe(404);
  });
});
