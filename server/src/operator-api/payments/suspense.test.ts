// Operations on suspense items and shortfalls.
import { describe, expect, it } from 'vitest';
import {
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { operatorService } from '../../../test/kit/operator/production.ts';

const { service, read, rejects, isHidden, change } = operatorService();

/** A payment of 100.00 USD whose refund has failed. */
async function createSuspenseItem() {
  const { id, account } = await service.createPayment();
  const reasonFlags = ['--reason', 'COMPLIANCE_REJECTED', '--not-refundable'];
  await service.runJson('payouts', 'fail', id, ...reasonFlags);
  await service.app.settle();
  return { id, account };
}

describe('suspense items', () => {
  it('are listed and returned', async () => {
    const [{ id, account }, { id: secondId }] = [
      await createSuspenseItem(),
      await createSuspenseItem(),
    ];
    const listPath = `/suspense-items?platformId=${service.platform.id}&environment=production&limit=1`;
    const firstPage = await read(listPath);
    expect(firstPage.data).toMatchObject([
      { transactionId: id, amount: 100_00, currency: 'USD', to: account, outside: null },
    ]);
    const nextPage = await read(`${listPath}&cursor=${firstPage.nextCursor}`);
    expect(nextPage).toMatchObject({ data: [{ transactionId: secondId }], hasMore: false });
    expect((await read('/suspense-items?environment=sandbox')).data).toEqual([]);
    await isHidden('GET', listPath);
    const path = `/suspense-items/${id}/return`;
    await isHidden('POST', path, {});
    const input = { reason: 'The account of the beneficiary is closed' };
    const returnedReply = await change(path, input, 'returnSuspenseItem', id);
    expect(returnedReply).toMatchObject({ transactionId: id, status: 'FAILED', funds: 'RETURNED' });
    await rejects(409, 'CONFLICT', 'POST', path);
    const unknownPath = '/suspense-items/Transaction:018f0000-0000-7000-8000-000000000000/return';
    await rejects(404, 'TRANSACTION_NOT_FOUND', 'POST', unknownPath);
  });
});

/** A payment whose debit of 50.00 USD was returned. No account can cover the amount. */
async function createShortfall(): Promise<string> {
  const { app, callOptions } = service;
  const { person, account } = await service.createPayer();
  const to = await service.createPayee(person.id);
  const ownAccount = await findInternalAccount(app, null, 'USD', callOptions);
  for (const id of [account, ownAccount.id]) await service.runJson('accounts', 'close', id);
  const payerAccount = await createExternalAccount(app, person.id, 'USD', '000', callOptions);
  const body = quoteBody(payerAccount.id, to, 50_00, { immediatelyExecute: true });
  const { transactionId: id } = ok(await app.call('POST', '/quotes', body, callOptions), 201);
  await app.settle();
  await service.runJson('payouts', 'settle', id);
  await app.settle();
  const reasonFlags = ['--reason', 'PAYOUT_RETURNED'];
  await service.runJson('payouts', 'return', id, '--of', 'debit', ...reasonFlags);
  return id;
}

describe('shortfalls', () => {
  it('are settled', async () => {
    const id = await createShortfall();
    const [item] = (await read(`/suspense-items?platformId=${service.platform.id}`)).data.filter(
      (each: { transactionId: string }) => each.transactionId === id,
    );
    expect(item).toMatchObject({ to: null, outside: null });
    expect(item.amount).toBeLessThan(0);
    const path = `/suspense-items/${id}/settle`;
    await rejects(400, 'INVALID_INPUT', 'POST', path, { body: {} });
    const body = { reference: 'COVER-1', reason: 'Paid by the customer' };
    await isHidden('POST', path, body);
    await change(path, body, 'settleShortfall', id);
    await rejects(409, 'CONFLICT', 'POST', path, { body });
  });
});
