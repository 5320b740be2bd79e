// Clock, fixtures and reset of a sandbox platform by operators, without effect on other
// platforms.
import { afterEach, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const path = (name: string, id = app.platform.id) => `/platforms/${id}/${name}`;
const post = (name: string, body: object, id?: string) =>
  client.call('POST', path(name, id), { body });

it('the API creates the fixtures of a sandbox world in a platform', async () => {
  const { data } = ok(await client.call('GET', '/sandbox-worlds'), 200);
  expect(data.map(({ name }: { name: string }) => name)).toContain('payments');
  const world = ok(await post('fixtures', { world: 'starter' }), 201);
  expect(world).toMatchObject({ platformId: app.platform.id, steps: expect.any(Number) });
  const person = ok(await app.call('GET', `/customers/${world.resources.amara}`), 200);
  expect(person.fullName).toBe('Amara Okafor');
  expect(JSON.stringify(world)).not.toContain('Amara Okafor');
  const records = await client.recordsOf('createPlatformFixtures');
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ subject: app.platform.id, platformId: app.platform.id });

  const steps = [{ operationId: 'getCustomerById', params: { customerId: 'Customer:x' } }];
  const rejectedReply = await post('fixtures', { steps });
  expect(rejectedReply.body).toMatchObject({ code: 'INVALID_INPUT', details: { step: 0 } });
  expect(await client.recordsOf('createPlatformFixtures')).toHaveLength(2);
});

it('the API advances the clock of a platform', async () => {
  const clockBefore = ok(await client.call('GET', path('clock')), 200);
  const advancedClock = ok(
    await post('clock', { advance: 'P2D', freeze: true, reason: 'Test.' }),
    200,
  );
  expect(advancedClock).toMatchObject({ platformId: app.platform.id, frozen: true });
  const days =
    (Date.parse(advancedClock.currentTime) - Date.parse(clockBefore.currentTime)) / 86_400_000;
  expect(Math.round(days)).toBe(2);
  const clock = ok(await app.call('GET', '/sandbox/clock'), 200);
  expect(clock.currentTime).toBe(advancedClock.currentTime);
  expect((await client.recordsOf('changePlatformClock'))[0]).toMatchObject({ reason: 'Test.' });
  const rejectedChange = await post('clock', { advance: 'P2D', to: advancedClock.currentTime });
  expect([rejectedChange.status, rejectedChange.body.code]).toEqual([400, 'INVALID_INPUT']);
});

it('the API resets a platform', async () => {
  const { id } = await createCustomer(app);
  const { id: otherCustomerId } = await createCustomer(app, { platform: app.other });
  expect((await post('reset', {})).status).toBe(400);
  const { removed } = ok(await post('reset', { reason: 'A new test.' }), 200);
  expect(removed.customers).toBeGreaterThan(0);
  expect((await app.call('GET', `/customers/${id}`)).status).toBe(404);
  ok(
    await app.call('GET', `/customers/${otherCustomerId}`, undefined, { platform: app.other }),
    200,
  );
  expect(ok(await client.call('GET', path('clock')), 200).frozen).toBe(false);
  expect((await client.recordsOf('resetPlatform'))[0]).toMatchObject({ reason: 'A new test.' });
});

it('the API rejects production platforms and platforms that the operator may not access', async () => {
  for (const [name, body] of [
    ['clock', { advance: 'P1D' }],
    ['fixtures', { world: 'starter' }],
    ['reset', { reason: 'None.' }],
  ] as const) {
    const { id } = app.production;
    expect((await post(name, body, id)).body.code).toBe('CONFLICT');
    const secret = await client.secretOf({ platformIds: [app.other.id] });
    const foreignReply = await client.call('POST', path(name), { body, secret });
    expect([name, foreignReply.status]).toEqual([name, 404]);
  }
  const productionReply = await client.call('GET', path('clock', app.production.id));
  expect(productionReply.body.code).toBe('CONFLICT');
  const unknownId = 'PlatformConfig:018f0000-0000-7000-8000-000000000000';
  expect((await client.call('GET', path('clock', unknownId))).body.code).toBe('PLATFORM_NOT_FOUND');
});
