// The state of a customer: complete, without personal data, and hidden from other operators.
import { afterEach, expect, it } from 'vitest';
import { createExternalAccount, createFundedCustomer, ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { operatorClient } from '../../../test/kit/operator/client.ts';

const app = testApp();
const client = operatorClient(app);
// The call fails if an earlier reply did not match its contract.
afterEach(async () => {
  ok(await app.call('GET', '/config'), 200);
});

const get = async (id: string) => ok(await client.call('GET', `/customers/${id}`), 200);

it('the state contains accounts, cards, agents, checks and limits, but no personal data', async () => {
  const { person, account } = await createFundedCustomer(app, 700_00);
  const payee = await createExternalAccount(app, person.id, 'USD');
  const platform = `/platforms/${app.platform.id}`;
  ok(await client.call('PATCH', platform, { body: { hourlyPayments: 100 } }), 200);
  const state = await get(person.id);
  expect(state).toMatchObject({
    id: person.id,
    platformId: app.platform.id,
    type: 'INDIVIDUAL',
    status: 'APPROVED',
    isErased: false,
    deletedAt: null,
    documents: [],
    cards: [],
    agents: [],
    hourlyPayments: { maximum: 100, used: 0 },
    authentication: { openResets: 0 },
  });
  expect(state.accounts).toContainEqual(
    expect.objectContaining({ accountId: account.id, balance: 700_00, held: 0, currency: 'USD' }),
  );
  expect(state.externalAccounts).toMatchObject([{ accountId: payee.id, status: 'ACTIVE' }]);
  const text = JSON.stringify(state);
  for (const secret of [person.fullName, person.email, person.platformCustomerId]) {
    if (secret) expect(text).not.toContain(secret);
  }
});

it('the state is available for a deleted customer', async () => {
  const { id } = ok(
    await app.call('POST', '/customers', {
      customerType: 'INDIVIDUAL',
      platformCustomerId: 'to-delete',
      fullName: 'Ida Rhodes',
    }),
    201,
  );
  ok(await app.call('DELETE', `/customers/${id}`), 200);
  expect((await get(id)).deletedAt).toEqual(expect.any(String));
  await app.settle();
  expect((await get(id)).id).toBe(id);
});

it('the state is hidden from operators of other platforms', async () => {
  const { person } = await createFundedCustomer(app);
  const secret = await client.secretOf({ platformIds: [app.other.id] });
  const hiddenReply = await client.call('GET', `/customers/${person.id}`, { secret });
  expect([hiddenReply.status, hiddenReply.body.code]).toEqual([404, 'CUSTOMER_NOT_FOUND']);
  const unknownReply = await client.call('GET', '/customers/Customer:x');
  expect(unknownReply.body.code).toBe('CUSTOMER_NOT_FOUND');
});
