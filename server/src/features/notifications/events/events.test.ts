// The list of events: filters, cursors in both directions, waiting, erased data and retention.
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { agentFixture } from '../../../../test/kit/agents/agents.ts';
import {
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestApp } from '../../../../test/kit/app/harness.ts';
import { testApp, testAppForEach } from '../../../../test/kit/app/test-app.ts';
import { waitUntilEventsVisible } from '../../../../test/kit/http/event-order.ts';

interface Event {
  id: string;
  type: string;
  resourceId: string;
  data: Record<string, unknown> | null;
}

async function list(app: TestApp, query: Record<string, string> = {}) {
  if (!query.wait) await waitUntilEventsVisible(app);
  return ok(await app.call('GET', `/events?${new URLSearchParams(query)}`), 200);
}

const idsOf = (page: { data: Event[] }) => page.data.map((each) => each.id);

async function follow(app: TestApp, query: Record<string, string> = {}, from = 'beginning') {
  const events: Event[] = [];
  for (let after = from; ; ) {
    const page = await list(app, { ...query, after });
    events.push(...page.data);
    after = page.after;
    if (!page.hasMore) return { events, after };
  }
}

async function payFundedCustomer(app: TestApp) {
  const { person, account } = await createFundedCustomer(app);
  const payee = await createExternalAccount(app, person.id, 'USD');
  const quote = ok(await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 100_00)), 201);
  ok(await app.call('POST', `/quotes/${quote.quoteId ?? quote.id}/execute`), 200);
  return { person, account, paymentId: quote.transactionId as string };
}

describe('listEvents', () => {
  const app = testApp();

  it('lists events newest first and follows them oldest first, each event once', async () => {
    await payFundedCustomer(app);
    const { events } = await follow(app, { limit: '3' });
    expect(events.length).toBeGreaterThan(5);
    expect(new Set(events.map((each) => each.id)).size).toBe(events.length);
    const listedIds: string[] = [];
    let page = await list(app, { limit: '4' });
    const { after } = page;
    for (;;) {
      listedIds.push(...idsOf(page));
      if (!page.hasMore) break;
      page = await list(app, { limit: '4', before: page.before });
    }
    expect(page.before).toBeUndefined();
    expect(listedIds.reverse()).toEqual(events.map((each) => each.id));
    expect((await list(app, { after })).data).toEqual([]);
  });

  it('shows events like their webhooks, with the ID of the resource', async () => {
    const { account, paymentId } = await payFundedCustomer(app);
    const { data } = await list(app, { resourceId: paymentId });
    expect(data.map((each: Event) => each.type)).toEqual(
      expect.arrayContaining(['OUTGOING_PAYMENT.PENDING', 'OUTGOING_PAYMENT.PROCESSING']),
    );
    for (const each of data) expect(each.data.id).toBe(paymentId);
    const balances = await list(app, {
      resourceId: account.id,
      type: 'INTERNAL_ACCOUNT.BALANCE_UPDATED',
    });
    const internalAccount = ok(await app.call('GET', `/internal-accounts/${account.id}`), 200);
    expect(balances.data[0].data.balance).toEqual(internalAccount.balance);
    const event = ok(await app.call('GET', `/events/${balances.data[0].id}`), 200);
    expect(event).toEqual(balances.data[0]);
  });

  it('filters by type, customer and time', async () => {
    const { person, account, paymentId } = await payFundedCustomer(app);
    const customerPage = await follow(app, { customerId: person.id });
    const resourceIds = new Set(customerPage.events.map((each) => each.resourceId));
    for (const id of [person.id, account.id, paymentId]) expect(resourceIds).toContain(id);
    const otherEvents = (await follow(app)).events.filter(
      (each) => !idsOf({ data: customerPage.events }).includes(each.id),
    );
    for (const each of otherEvents) expect(each.data?.customerId).not.toBe(person.id);
    const type = 'OUTGOING_PAYMENT.PENDING,OUTGOING_PAYMENT.PROCESSING';
    const listedPage = await list(app, { customerId: person.id, type });
    expect(new Set(listedPage.data.map((each: Event) => each.type))).toEqual(
      new Set(type.split(',')),
    );
    const now = app.effects.now();
    const timeAt = (ms: number) => new Date(now + ms).toISOString();
    expect((await list(app, { createdAfter: timeAt(1) })).data).toEqual([]);
    expect((await list(app, { createdBefore: timeAt(-365 * 86_400_000) })).data).toEqual([]);
    expect(
      (await list(app, { createdAfter: timeAt(0), createdBefore: timeAt(0) })).data,
    ).not.toEqual([]);
  });

  it.each([
    ['kind=x', 'kind'],
    ['type=PAID', 'type.0'],
    ['limit=101', 'limit'],
    ['limit=0', 'limit'],
    ['after=x', 'after'],
    ['before=eA', 'before'],
    ['wait=5', 'wait'],
    ['after=beginning&wait=61', 'wait'],
    ['after=beginning&before=x', 'before'],
    ['createdAfter=yesterday', 'createdAfter'],
    ['after=beginning&wait=1&createdBefore=2026-01-01T00:00:00Z', 'wait'],
  ])('rejects %s', async (query, field) => {
    const { status, body } = await app.call('GET', `/events?${query}`);
    expect({ status, code: body.code }).toEqual({ status: 400, code: 'INVALID_INPUT' });
    expect(body.details.errors.map((each: { field: string }) => each.field)).toContain(field);
  });

  it('requires the permission VIEW, and rejects agents and unknown parameters', async () => {
    const platform = await app.tokenWith(['TRANSACT', 'MANAGE']);
    expect((await app.call('GET', '/events', undefined, { platform })).status).toBe(403);
    const [{ id }] = (await list(app)).data;
    expect((await app.call('GET', `/events/${id}?x=1`)).body.details.errors[0].field).toBe('x');
    const agent = await agentFixture(app).createAgent();
    const authorization = `Bearer ${agent.accessToken}`;
    const reply = await app.call('GET', '/events', undefined, {
      platform: null,
      headers: { authorization },
    });
    expect(reply.status).toBe(401);
  });

  it('returns an event to a waiting request as soon as it is committed', async () => {
    const { after } = await follow(app);
    const startedAt = performance.now();
    const pendingList = list(app, { after, wait: '20' });
    await sleep(100);
    const { person } = await createFundedCustomer(app);
    const page = await pendingList;
    expect(performance.now() - startedAt).toBeLessThan(15_000);
    expect(page.data.length).toBeGreaterThan(0);
    const { events } = await follow(app, { customerId: person.id }, after);
    expect(events.length).toBeGreaterThan(0);
  });

  it('continues to wait if the filter excludes a new event', async () => {
    const { after } = await follow(app);
    const pendingList = list(app, { after, wait: '1', type: 'CARD.STATE_CHANGE' });
    await createFundedCustomer(app);
    const page = await pendingList;
    expect(page).toMatchObject({ data: [], hasMore: false });
    expect(page.after).not.toBe(after);
  });

  it('stops waiting when the client disconnects', async () => {
    const { after } = await follow(app);
    const origin = await app.server.listen({ host: '127.0.0.1', port: 0 });
    const abortController = new AbortController();
    const { clientId, clientSecret } = app.platform;
    const credential = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
    const pendingReply = fetch(`${origin}/2025-10-13/events?after=${after}&wait=60`, {
      headers: { authorization: `Basic ${credential}` },
      signal: abortController.signal,
    });
    const rejection = expect(pendingReply).rejects.toThrow();
    const readWaitingCount = async () =>
      /railhead_event_followers (\d+)/.exec((await app.server.inject('/metrics')).body)?.[1];
    await expect.poll(readWaitingCount).toBe('1');
    abortController.abort();
    await rejection;
    await expect.poll(readWaitingCount).toBe('0');
  });

  it('limits the number of waiting requests of a platform', async () => {
    const { after } = await follow(app);
    const requestWait = () => app.call('GET', `/events?after=${after}&wait=1`);
    const replies = await Promise.all(Array.from({ length: 22 }, requestWait));
    const rejectedReplies = replies.filter((each) => each.status === 429);
    expect(rejectedReplies).toHaveLength(2);
    expect(rejectedReplies[0]?.headers['retry-after']).toBe('1');
    expect((await requestWait()).status).toBe(200);
    const text = await (await app.server.inject('/metrics')).body;
    expect(text).toContain('railhead_event_followers 0\n');
    // The duration excludes the wait, although 21 requests waited for a second each.
    const durationMatch =
      /railhead_request_seconds_sum\{operation="listEvents",status="200"\} (\S+)/.exec(text);
    expect(Number(durationMatch?.[1])).toBeLessThan(20);
  });
});

describe('getEventById', () => {
  const app = testApp();

  it('returns one event', async () => {
    await payFundedCustomer(app);
    for (const each of (await list(app)).data) {
      expect(ok(await app.call('GET', `/events/${each.id}`), 200)).toEqual(each);
    }
  });

  it('returns 404 for events of another platform', async () => {
    const [ownEvent] = (await list(app)).data;
    const platform = app.other;
    expect(await app.call('GET', `/events/${ownEvent.id}`, undefined, { platform })).toMatchObject({
      status: 404,
      body: { code: 'NOT_FOUND' },
    });
    const { body } = await app.call('GET', `/events?resourceId=${ownEvent.resourceId}`, undefined, {
      platform,
    });
    expect(body.data).toEqual([]);
    for (const id of ['Webhook:1', 'x', `Webhook:${'0'.repeat(36)}`]) {
      expect((await app.call('GET', `/events/${id}`)).status).toBe(404);
    }
  });

  it('returns null as the data of events about an erased customer', async () => {
    const { person, paymentId } = await payFundedCustomer(app);
    const pageBefore = await follow(app, { customerId: person.id });
    const sealedEvents = pageBefore.events.filter((each) => each.resourceId === person.id);
    expect(sealedEvents.length).toBeGreaterThan(0);
    await app.settle();
    await app.runtime.db.query('update customers set data_key = null where id = $1', [person.id]);
    for (const { id } of sealedEvents) {
      expect(ok(await app.call('GET', `/events/${id}`), 200).data).toBeNull();
    }
    const pageAfter = await follow(app, { customerId: person.id });
    expect(pageAfter.events.map((each) => each.id)).toEqual(
      expect.arrayContaining(pageBefore.events.map((each) => each.id)),
    );
    expect(pageAfter.events.find((each) => each.resourceId === paymentId)?.data).not.toBeNull();
  });
});

describe('events of a server', () => {
  const app = testAppForEach();

  it('are deleted by week after the retention period, and their cursors are rejected', async () => {
    const { after } = await follow(app);
    await payFundedCustomer(app);
    const oldPage = await follow(app, {}, after);
    await app.runtime.db.query('delete from webhook_queue');
    await app.advance(29 * 86_400_000);
    const retainedIds = new Set((await follow(app)).events.map((each) => each.id));
    for (const each of oldPage.events) expect(retainedIds).toContain(each.id);
    const newerPage = await follow(app, {}, oldPage.after);
    // The last event of the week must also be older than the retention period.
    await app.advance(9 * 86_400_000);
    const remainingIds = new Set((await follow(app)).events.map((each) => each.id));
    for (const each of oldPage.events) expect(remainingIds).not.toContain(each.id);
    const expiredReply = await app.call('GET', `/events?after=${oldPage.after}`);
    expect(expiredReply.status).toBe(400);
    expect(expiredReply.body.details.errors[0]).toMatchObject({ field: 'after' });
    expect((await follow(app, {}, newerPage.after)).after).toBeTruthy();
  });

  it('are no longer awaited when the server stops', async () => {
    const { after } = await follow(app);
    const pendingList = list(app, { after, wait: '30' });
    await sleep(100);
    const startedAt = performance.now();
    await app.drain({ ms: 10, accepts: false });
    expect((await pendingList).data).toEqual([]);
    await list(app, { after, wait: '30' });
    expect(performance.now() - startedAt).toBeLessThan(20_000);
  });

  it('keep their order and their cursors when the database is restored into another cluster', async () => {
    const { events, after } = await follow(app);
    const { db } = app.runtime;
    // Simulates a cluster with much higher transaction IDs.
    await db.query('update events set position = position + 1000000000');
    await db.query(`update event_epochs set cluster = 'another'`);
    await db.query('select open_event_epoch()');
    expect((await follow(app)).events.map((each) => each.id)).toEqual(
      events.map((each) => each.id),
    );
    const resumedPage = await follow(app, {}, after);
    await createFundedCustomer(app);
    const addedPage = await follow(app, {}, resumedPage.after);
    expect(addedPage.events.length).toBeGreaterThan(0);
    const fullList = await follow(app);
    expect(fullList.events.map((each) => each.id)).toEqual([
      ...events.map((each) => each.id),
      ...addedPage.events.map((each) => each.id),
    ]);
    expect(await db.query('select epoch from event_epochs order by epoch')).toHaveLength(2);
  });
});
