// Lists over several pages, inputs in path, query and body, and replies without a body.
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../../../server/test/kit/app/fixtures.ts';
import { testApp } from '../../../server/test/kit/app/test-app.ts';
import { clientOf } from './kit/clients.ts';

const app = testApp();
const CUSTOMER_COUNT = 7;

async function createCustomers() {
  const customerIds = [];
  for (let index = 0; index < CUSTOMER_COUNT; index++)
    customerIds.push((await createCustomer(app)).id as string);
  return customerIds.sort();
}

describe('a list', () => {
  it('is a page when awaited, and all items when iterated', async () => {
    const ids = await createCustomers();
    const client = await clientOf(app);
    const page = await client.customers.listCustomers({ limit: 3 });
    expect(page.data).toHaveLength(3);
    expect(page.hasMore).toBe(true);
    const iteratedIds: string[] = [];
    for await (const { id } of client.customers.listCustomers({ limit: 3 })) iteratedIds.push(id);
    expect(iteratedIds.sort()).toEqual(ids);
    const sizes: number[] = [];
    for await (const { data } of client.customers.listCustomers({ limit: 3 }).pages()) {
      sizes.push(data.length);
    }
    expect(sizes).toEqual([3, 3, 1]);
  });

  it('requests only the pages that are read', async () => {
    let requestCount = 0;
    const client = await clientOf(app, { onRequest: () => void requestCount++ });
    let count = 0;
    for await (const _ of client.customers.listCustomers({ limit: 2 })) if (++count === 2) break;
    expect(requestCount).toBe(1);
  });

  it('of events is iterated newest first, or oldest first with `after`', async () => {
    const client = await clientOf(app);
    const newestFirst: string[] = [];
    for await (const { id } of client.events.listEvents({ limit: 3 })) newestFirst.push(id);
    const oldestFirst: string[] = [];
    const allEvents = client.events.listEvents({ limit: 3, after: 'beginning' });
    for await (const { id } of allEvents) oldestFirst.push(id);
    expect(newestFirst.length).toBeGreaterThanOrEqual(CUSTOMER_COUNT);
    expect(oldestFirst.reverse()).toEqual(newestFirst);
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
    const updateReply = await client.customers
      .updateCustomerById({ customerId: id, customerType: 'INDIVIDUAL', fullName: 'Ada King' })
      .withResponse();
    expect(updateReply).toMatchObject({ status: 200, data: { id, fullName: 'Ada King' } });
    const rates = await client.exchangeRates.getExchangeRates({
      sourceCurrency: 'USD',
      destinationCurrency: ['EUR', 'MXN'],
    });
    const codes = new Set(rates.data.map(({ destinationCurrency: { code } }) => code));
    expect(codes).toEqual(new Set(['EUR', 'MXN']));
    const deletionReply = await client.customers.deleteCustomerById({ customerId: id });
    expect(deletionReply.isDeleted).toBe(true);
  });

  it('without a reply body returns no data', async () => {
    const client = await clientOf(app);
    const { id } = await client.tokens.createToken({ name: 'one', permissions: ['VIEW'] });
    const deletionReply = await client.tokens.deleteTokenById({ tokenId: id }).withResponse();
    expect(deletionReply).toMatchObject({ status: 204, data: undefined });
  });
});
