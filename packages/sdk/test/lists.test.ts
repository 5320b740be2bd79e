// Lists over several pages, and inputs in path, query and body.
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../server/test/kit/app/fixtures.ts';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { clientOf } from './kit/clients.ts';

const app = testApp();
const COUNT = 7;

async function createCustomers() {
  const tokenIds = [];
  for (let index = 0; index < COUNT; index++)
    tokenIds.push((await createCustomer(app)).id as string);
  return tokenIds.sort();
}

describe('a list', () => {
  it('is a page when awaited, and all items when iterated', async () => {
    const ids = await createCustomers();
    const client = await clientOf(app);
    const page = await client.customers.listCustomers({ limit: 3 });
    expect(page.data).toHaveLength(3);
    expect(page.hasMore).toBe(true);
    const names: string[] = [];
    for await (const { id } of client.customers.listCustomers({ limit: 3 })) names.push(id);
    expect(names.sort()).toEqual(ids);
    const sizes: number[] = [];
    for await (const { data } of client.customers.listCustomers({ limit: 3 }).pages()) {
      sizes.push(data.length);
    }
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('requests only the pages that are read', async () => {
    let requests = 0;
    const client = await clientOf(app, { onRequest: () => void requests++ });
    let count = 0;
    for await (const _ of client.customers.listCustomers({ limit: 2 })) if (++count === 2) break;
    expect(requests).toBe(1);
  });

  it('of events iterates older events, or newer events with `after`', async () => {
    const client = await clientOf(app);
    const newestIds: string[] = [];
    for await (const { id } of client.events.listEvents({ limit: 3 })) newestIds.push(id);
    const oldestIds: string[] = [];
    const allEvents = client.events.listEvents({ limit: 3, after: 'beginning' });
    for await (const { id } of allEvents) oldestIds.push(id);
    expect(newestIds.length).toBeGreaterThanOrEqual(COUNT);
    expect(oldestIds.reverse()).toEqual(newestIds);
  });

  it('without pages can be iterated', async () => {
    const client = await clientOf(app);
    const currencies: unknown[] = [];
    for await (const account of client.internalAccounts.listPlatformInternalAccounts()) {
      currencies.push(account.balance.currency.code);
    }
    expect(currencies).toContain('USD');
  });
});

describe('an operation', () => {
  it('sends its input in the path, the query and the body', async () => {
    const client = await clientOf(app);
    const { id } = await createCustomer(app);
    const changedCustomer = await client.customers
      .updateCustomerById({ customerId: id, customerType: 'INDIVIDUAL', fullName: 'Ada King' })
      .withResponse();
    expect(changedCustomer).toMatchObject({ status: 200, data: { id, fullName: 'Ada King' } });
    const rates = await client.exchangeRates.getExchangeRates({
      sourceCurrency: 'USD',
      destinationCurrency: ['EUR', 'MXN'],
    });
    const codes = new Set(rates.data.map(({ destinationCurrency: { code } }) => code));
    expect(codes).toEqual(new Set(['EUR', 'MXN']));
    const deletedReply = await client.customers.deleteCustomerById({ customerId: id });
    expect(deletedReply.isDeleted).toBe(true);
  });

  it('without a reply body returns no data', async () => {
    const client = await clientOf(app);
    const { id } = await client.tokens.createToken({ name: 'one', permissions: ['VIEW'] });
    const deletedReply = await client.tokens.deleteTokenById({ tokenId: id }).withResponse();
    expect(deletedReply).toMatchObject({ status: 204, data: undefined });
  });
});
