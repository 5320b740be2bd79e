// Operations on external accounts: lists, transitions with their reasons, and access by platform.
import { afterEach, expect, it } from 'vitest';
import { createCustomer, createExternalAccount, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const get = async (path: string) => ok(await client.call('GET', path), 200);
const post = (id: string, action: string, body: object = {}, secret?: string) =>
  client.call('POST', `/external-accounts/${id}/${action}`, {
    body,
    ...(secret ? { secret } : {}),
  });

it('the API lists accounts in pages', async () => {
  const person = await createCustomer(app);
  const ids: string[] = [];
  for (let index = 0; index < 2; index++) {
    app.effects.set(app.effects.now() + 1_000);
    ids.push((await createExternalAccount(app, person.id, 'USD')).id);
  }
  const listPath = `/external-accounts?platformId=${app.platform.id}&status=ACTIVE&limit=1`;
  const firstPage = await get(listPath);
  expect(firstPage).toMatchObject({ data: [{ accountId: ids[0], customerId: person.id }] });
  expect((await get(`${listPath}&cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { accountId: ids[1], status: 'ACTIVE' },
  ]);
  const filteredList = await get(`/external-accounts?accountId=${ids[1]}`);
  expect(filteredList).toMatchObject({ totalCount: 1, data: [{ accountId: ids[1] }] });
});

it('the API performs each transition and lists it with its reason', async () => {
  const { id } = await createExternalAccount(app, (await createCustomer(app)).id, 'USD');
  for (const [action, status] of [
    ['check', 'PENDING'],
    ['review', 'UNDER_REVIEW'],
    ['reject', 'INACTIVE'],
    ['reactivate', 'ACTIVE'],
    ['review', 'UNDER_REVIEW'],
    ['clear', 'ACTIVE'],
    ['disable', 'INACTIVE'],
  ] as const) {
    const reply = ok(await post(id, action, { reason: `Because: ${action}` }), 200);
    expect(reply).toMatchObject({ accountId: id, status });
    app.effects.set(app.effects.now() + 1_000);
  }
  expect((await post(id, 'clear')).body.code).toBe('CONFLICT');
  const path = `/external-accounts/${id}/actions`;
  const firstPage = await get(`${path}?limit=6`);
  expect(firstPage).toMatchObject({ platformId: app.platform.id, hasMore: true });
  expect(firstPage.data[0]).toMatchObject({ action: 'check', reason: 'Because: check' });
  expect((await get(`${path}?cursor=${firstPage.nextCursor}`)).data).toMatchObject([
    { action: 'disable' },
  ]);
  const { data } = await get(`/audit-records?outcome=SUCCEEDED&subject=${id}`);
  expect(data).toHaveLength(7);
  expect(data[0]).toMatchObject({ operationId: 'disableExternalAccount', hasChanges: true });
});

it('the API hides accounts of other platforms', async () => {
  const { id } = await createExternalAccount(app, (await createCustomer(app)).id, 'USD');
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  expect((await post(id, 'disable', {}, secret)).status).toBe(404);
  const path = `/external-accounts/${id}/actions`;
  expect((await client.call('GET', path, { secret })).status).toBe(404);
  expect((await get(path)).data).toEqual([]);
});
