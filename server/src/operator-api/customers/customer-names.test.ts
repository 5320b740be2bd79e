// Names of customers: required permission, audit records, and erasure.
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

const createPerson = async (fullName: string) =>
  (await createCustomer(app, {}, { fullName })).id as string;
const fetchNames = (ids: readonly string[], secret?: string) =>
  client.call('GET', `/customer-names?customerIds=${ids.join(',')}`, secret ? { secret } : {});

it('names are returned for several customers, with one audit record per request', async () => {
  const [ada, bea] = [await createPerson('Ada Abel'), await createPerson('Bea Berg')];
  const unknownId = 'Customer:01890000-0000-7000-8000-000000000000';
  const { data } = ok(await fetchNames([ada, unknownId, bea, ada, 'none']), 200);
  expect(data).toEqual([
    { customerId: ada, platformId: app.platform.id, name: 'Ada Abel' },
    { customerId: bea, platformId: app.platform.id, name: 'Bea Berg' },
  ]);
  const records = await client.recordsOf('revealCustomerNames');
  expect(records).toMatchObject([{ hasChanges: false }]);
});

it('names are hidden without the permission and for other platforms', async () => {
  const id = await createPerson('Cleo Conrad');
  const viewerSecret = await client.secretOf({ roles: ['viewer'] });
  expect((await fetchNames([id], viewerSecret)).status).toBe(403);
  const otherPlatformSecret = await client.secretOf({ platformIds: [app.other.id] });
  expect(ok(await fetchNames([id], otherPlatformSecret), 200).data).toEqual([]);
});

it('names are null after an erasure', async () => {
  const id = await createPerson('Dora Dahl');
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  const body = { confirm: 'ERASE', reason: 'Request of the customer' };
  ok(await client.call('POST', `/customers/${id}/erasure`, { body }), 200);
  expect(ok(await fetchNames([id]), 200).data).toMatchObject([{ customerId: id, name: null }]);
});
