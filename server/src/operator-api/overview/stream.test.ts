// Changes that operators follow: content, rights, resumption, limits, and the end of a stream.
import { afterEach, beforeAll, expect, it } from 'vitest';
import { createCustomer, createFundedCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { startApp } from '../../../test/kit/app/harness.ts';
import { idSql } from '../../../test/kit/app/query-plans.ts';
import { openSecondProcess } from '../../../test/kit/app/second-process.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';
import {
  browser,
  enrollWithPasskey,
  firstAdministrator,
} from '../../../test/kit/operator/people.ts';
import { type OpenStream, openStream } from '../../../test/kit/operator/streams.ts';
import { testEvent } from '../../features/tenancy/config/index.ts';
import { systemCaller } from '../../features/tenancy/platform/index.ts';
import { operate } from '../../runtime/operation/operate.ts';

const app = testApp();
const client = operatorClient(app);
const openStreams: OpenStream[] = [];

beforeAll(async () => {
  await app.server.listen({ port: 0, host: '127.0.0.1' });
});
afterEach(async () => {
  for (const each of openStreams.splice(0)) await each.close();
  // The call fails if an earlier reply did not match its contract.
  ok(await app.call('GET', '/config'), 200);
});

async function follow(token: object = {}, query = '', headers: Record<string, string> = {}) {
  const secret = await client.secretOf(token);
  const stream = await openStream(app, { authorization: `Bearer ${secret}`, ...headers }, query);
  openStreams.push(stream);
  return stream;
}

const isReady = ({ event }: { event: string }) => event === 'ready';
const isAbout = (id: string) => (each: { data: { resourceId?: string } }) =>
  each.data.resourceId === id;

it('the stream sends events of all processes and of every platform', async () => {
  const stream = await follow();
  expect(stream.status).toBe(200);
  expect(stream.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  expect(stream.headers.get('cache-control')).toBe('no-store');
  expect(stream.headers.get('x-accel-buffering')).toBe('no');
  await stream.waitFor(isReady);

  const { person, account } = await createFundedCustomer(app);
  const { data } = await stream.waitFor(isAbout(account.id));
  expect(data).toEqual({
    type: expect.stringMatching(/^[A-Z_]+\.[A-Z_]+$/),
    resourceId: account.id,
    platformId: app.platform.id,
    customerId: person.id,
    createdAt: expect.any(String),
  });
  expect(JSON.stringify(stream.data())).not.toContain('balance"');
  const { id: otherCustomerId } = await createCustomer(app, { platform: app.other });
  await stream.waitFor(isAbout(otherCustomerId));

  const secondProcess = openSecondProcess(app);
  const startedAt = performance.now();
  const emittedId = await operate(
    secondProcess,
    systemCaller(app.other.id, 'sandbox'),
    async (ctx) => {
      const id = ctx.id('Transaction');
      ctx.emit(testEvent, id, {});
      return id;
    },
  );
  await stream.waitFor(isAbout(emittedId));
  expect(performance.now() - startedAt).toBeLessThan(4_000);
  await secondProcess.close();
});

it('the stream sends changes by operators, without their content unless permitted', async () => {
  const [administratorStream, viewerStream] = [await follow(), await follow({ roles: ['viewer'] })];
  await Promise.all([administratorStream.waitFor(isReady), viewerStream.waitFor(isReady)]);
  const body = { hourlyPayments: 500 };
  const path = `/platforms/${app.platform.id}`;
  ok(await client.call('PATCH', path, { body }), 200);
  const isOperation = (each: { data: { operationId?: string } }) =>
    each.data.operationId === 'updatePlatform';
  expect((await administratorStream.waitFor(isOperation)).data).toEqual({
    type: 'OPERATOR.CHANGE',
    operationId: 'updatePlatform',
    subject: app.platform.id,
    platformId: app.platform.id,
    createdAt: expect.any(String),
  });
  const { data } = await viewerStream.waitFor((each) => each.data.type === 'OPERATOR.CHANGE');
  expect(data).toEqual({ type: 'OPERATOR.CHANGE', createdAt: expect.any(String) });
});

it('the stream omits other platforms for an operator of one platform', async () => {
  const stream = await follow({ platformIds: [app.other.id] });
  await stream.waitFor(isReady);
  await createFundedCustomer(app);
  const body = { hourlyPayments: 501 };
  ok(await client.call('PATCH', `/platforms/${app.platform.id}`, { body }), 200);
  const { id } = await createCustomer(app, { platform: app.other });
  await stream.waitFor(isAbout(id));
  expect(new Set(stream.data().map(({ platformId }) => platformId))).toEqual(
    new Set([app.other.id]),
  );
});

it('the stream continues after the last event without gaps', async () => {
  const firstStream = await follow();
  const readyEvent = await firstStream.waitFor(isReady);
  const { id } = await createCustomer(app);
  await firstStream.waitFor(isAbout(id));
  await firstStream.close();
  const secondCustomer = await createCustomer(app);
  const resumedStream = await follow({}, '', { 'last-event-id': `${readyEvent.id}` });
  await resumedStream.waitFor(isAbout(secondCustomer.id));
  const subjects = resumedStream.data().map(({ resourceId }) => resourceId);
  expect(subjects).toEqual([id, secondCustomer.id]);

  const lastEvent = resumedStream.events.at(-1);
  const { id: laterCustomerId } = await createCustomer(app);
  const streamResumedByQuery = await follow({}, `?after=${lastEvent?.id}`);
  await streamResumedByQuery.waitFor(isAbout(laterCustomerId));
  expect(streamResumedByQuery.data().map(({ resourceId }) => resourceId)).toEqual([
    laterCustomerId,
  ]);
  expect(streamResumedByQuery.events.map(({ event }) => event)).toEqual(['ready', 'change']);
});

const insertEvents = (count: number, start: number) =>
  app.runtime.db.query(
    `insert into events (id, platform_id, type, subject, data, created_at)
     select ${idSql('Webhook', `(${start} + n)`)}, $1, 'TEST', ${idSql('Transaction', `(${start} + n)`)},
       '{}', now() from generate_series(1, $2::int) n`,
    [app.platform.id, count],
  );

it('the stream replaces too many changes with a reset', async () => {
  const stream = await follow();
  const readyEvent = await stream.waitFor(isReady);
  await insertEvents(300, 0);
  await stream.waitFor(({ event }) => event === 'reset');
  await insertEvents(600, 1_000);
  const resets = () => stream.events.filter(({ event }) => event === 'reset');
  await expect.poll(() => resets().length, { timeout: 5_000 }).toBe(2);
  expect(stream.data().filter(({ type }) => type === 'TEST')).toEqual([]);

  for (const cursor of [`${readyEvent.id}`, 'nothing']) {
    const lateStream = await follow({}, `?after=${cursor}`);
    await lateStream.waitFor(({ event }) => event === 'reset');
    expect(lateStream.events.map(({ event }) => event)).toEqual(['ready', 'reset']);
  }
});

it('the number of streams of an operator is limited', async () => {
  const streams = await Promise.all(Array.from({ length: 10 }, () => follow()));
  expect(streams.map(({ status }) => status)).toEqual(Array(10).fill(200));
  expect((await follow()).status).toBe(429);
  expect((await follow({ name: 'Another' })).status).toBe(200);
  await streams[0]?.close();
  await expect.poll(async () => (await follow()).status).toBe(200);
});

const endOf = (stream: OpenStream) => stream.waitFor(({ event }) => event === 'end');

it('the stream ends when its token is revoked', async () => {
  const token = { name: 'Revoked' };
  const stream = await follow(token);
  await stream.waitFor(isReady);
  const { data } = (await client.call('GET', '/operator-tokens?limit=100')).body;
  const { id } = data.find((each: { name: string }) => each.name === token.name);
  const startedAt = performance.now();
  ok(await client.call('DELETE', `/operator-tokens/${id}`), 200);
  expect((await endOf(stream)).data).toEqual({ reason: 'SESSION_ENDED' });
  await stream.ended;
  expect(performance.now() - startedAt).toBeLessThan(4_000);
});

it('the stream ends when its session ends or its rights change', async () => {
  const { person: administrator } = await firstAdministrator(app);
  const invitation = { name: 'Grace', email: 'grace@example.com', roles: ['support'] };
  const createdReply = await administrator.call('POST', '/operator-users', { body: invitation });
  const { id, link } = ok(createdReply, 201);
  const person = browser(app);
  ok((await enrollWithPasskey(person, link.secret)).reply, 201);
  const cookie = [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const openAs = async () => {
    const stream = await openStream(app, { cookie });
    openStreams.push(stream);
    await stream.waitFor(isReady);
    return stream;
  };
  const firstStream = await openAs();
  const body = { roles: ['viewer'] };
  ok(await administrator.call('PATCH', `/operator-users/${id}`, { body }), 200);
  expect((await endOf(firstStream)).data).toEqual({ reason: 'ACCESS_CHANGED' });

  const secondStream = await openAs();
  ok(await person.call('DELETE', '/session'), 200);
  expect((await endOf(secondStream)).data).toEqual({ reason: 'SESSION_ENDED' });
  expect((await openStream(app, { cookie })).status).toBe(401);
});

it('the stream ends when the server stops', async () => {
  const stoppingApp = await startApp();
  const secret = await operatorClient(stoppingApp).secretOf();
  await stoppingApp.server.listen({ port: 0, host: '127.0.0.1' });
  const stream = await openStream(stoppingApp, { authorization: `Bearer ${secret}` });
  await stream.waitFor(isReady);
  const startedAt = performance.now();
  await stoppingApp.close();
  await stream.ended;
  expect(performance.now() - startedAt).toBeLessThan(10_000);
  expect(stream.events.at(-1)).toMatchObject({ event: 'end', data: { reason: 'SERVER_STOPPING' } });
});
