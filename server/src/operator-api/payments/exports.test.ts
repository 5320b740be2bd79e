// Operations of the accounting exports.
import { expect, it } from 'vitest';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, read, rejects, isHidden } = operatorService();

const DAY = 'from=2026-01-05&to=2026-01-05';

/** All items of a list, two at a time. */
async function readAll(listPath: string) {
  const items: unknown[] = [];
  let cursor = '';
  do {
    const { data, nextCursor } = await read(`${listPath}&limit=2${cursor}`);
    items.push(...data);
    cursor = nextCursor === undefined ? '' : `&cursor=${nextCursor}`;
  } while (cursor !== '');
  return items;
}

it('the API exports transactions in pages and records the access', async () => {
  const { id } = await service.createPayment();
  await service.createPayment();
  const listPath = `/exports/transactions?${DAY}&platformId=${service.platform.id}`;
  const { data, hasMore } = await read(`${listPath}&limit=100`);
  expect(hasMore).toBe(false);
  const payment = data.find((each: { transactionId: string }) => each.transactionId === id);
  expect(payment).toMatchObject({ type: 'OUTGOING', sentCurrency: 'USD', sentAmount: 100_00 });
  expect(await readAll(listPath)).toEqual(data);
  expect((await read('/audit-records?operationId=exportTransactions')).data).not.toEqual([]);
  await isHidden('GET', listPath);
});

it('the API exports postings in pages', async () => {
  const listPath = `/exports/postings?${DAY}&platformId=${service.platform.id}`;
  const { data } = await read(`${listPath}&limit=100`);
  expect(data[0]).toMatchObject({ platformId: service.platform.id, currency: 'USD' });
  expect(await readAll(listPath)).toEqual(data);
  await isHidden('GET', listPath);
});

it('the API exports balances in pages', async () => {
  const listPath = `/exports/balances?${DAY}&environment=production`;
  const { data } = await read(`${listPath}&limit=100`);
  expect(data.length).toBeGreaterThan(3);
  for (const { opening, debits, credits, closing } of data) {
    expect(opening + credits - debits).toBe(closing);
  }
  expect(await readAll(listPath)).toEqual(data);
  expect((await readAll(`${listPath}&idle=true`)).length).toBeGreaterThanOrEqual(data.length);
  await isHidden('GET', `${listPath}&platformId=${service.platform.id}`);
});

it('the API rejects a missing, reversed or too long period, and an invalid cursor', async () => {
  for (const exportName of ['transactions', 'postings', 'balances']) {
    const path = `/exports/${exportName}`;
    await rejects(400, 'INVALID_INPUT', 'GET', path);
    await rejects(400, 'INVALID_INPUT', 'GET', `${path}?from=2026-01-02&to=2026-01-01`);
    await rejects(400, 'INVALID_INPUT', 'GET', `${path}?from=2024-01-01&to=2026-01-01`);
    await rejects(400, 'INVALID_INPUT', 'GET', `${path}?${DAY}&cursor=none`);
  }
});
