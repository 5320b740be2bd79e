// Late and repeated results: bank returns for closed accounts, repeated returns of debits, frozen
// fee accounts, canceled debits, and funds above the daily limit. Also rejected payments to UMA
// addresses.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../../test/kit/app/test-app.ts';
import type { Progress } from '../../../../connectors/ports/index.ts';
import { transitionInternalAccount } from '../../../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../../balances/internal-accounts/store.ts';
import { platforms } from '../../../tenancy/platform/store.ts';
import { applyPayoutStatus, readCurrent } from '../../payouts/payout-jobs.ts';
import { asOutgoing } from '../../transactions/rows.ts';
import { applyFundingStatus } from './funding.ts';

const app = testApp();

const getTransaction = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);
const execute = async (id: string) => ok(await app.call('POST', `/quotes/${id}/execute`), 200);

const transition = (accountId: string, event: 'freeze' | 'unfreeze' | 'close') =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, accountId);
    if (!row) throw new Error('The account was not found.');
    transitionInternalAccount(ctx, row, event);
  });

const applyProgress = (id: string, apply: typeof applyPayoutStatus, progress: Progress) =>
  app.operate(async (ctx) => {
    await apply(ctx, await readCurrent(ctx, id, asOutgoing), progress);
  });

const RETURNED_PROGRESS: Progress = { state: 'returned', reason: 'PAYOUT_RETURNED' };

async function executeNewQuote(suffix: string) {
  const { person, account } = await createFundedCustomer(app, 100_00);
  const target = await createExternalAccount(app, person.id, 'MXN', suffix);
  const quote = ok(
    await app.call('POST', '/quotes', quoteBody(account.id, target.id, 100_00)),
    201,
  );
  await execute(quote.id);
  await app.settle();
  return { person, account, id: quote.transactionId as string };
}

describe('bank returns for a closed account or a deleted customer', () => {
  const expectSuspense = async (id: string) => {
    await app.advance(60_000);
    expect(await getTransaction(id)).toMatchObject({
      status: 'FAILED',
      refund: { status: 'FAILED' },
    });
    expect((await eventTypes(app, id)).at(-1)).toBe('OUTGOING_PAYMENT.REFUND_FAILED');
  };

  it('are posted to suspense if the account was closed', async () => {
    const { account, id } = await executeNewQuote('005');
    await transition(account.id, 'close');
    await expectSuspense(id);
    expect((await readBalances(app, account.id)).total).toBe(0);
  });

  it('are posted to suspense if the customer was deleted', async () => {
    const { person, account, id } = await executeNewQuote('005');
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    await expectSuspense(id);
    const [row] = await app.runtime.db.query('select balance from ledger_accounts where id = $1', [
      account.id,
    ]);
    expect(row?.balance).toBe(0n);
  });
});

describe('debit that funds a payment', () => {
  async function createDebitedQuote(suffix: string) {
    const { person, account } = await createFundedCustomer(app, 300_00);
    const source = await createExternalAccount(app, person.id, 'USD', suffix);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const body = quoteBody(source.id, target.id, 100_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    await execute(quote.id);
    await app.settle();
    return { account, id: quote.transactionId as string };
  }

  it.each([
    ['005', 'while the debit is awaited'],
    ['002', 'after the debit failed'],
  ])('ignores repeated returns for an account with suffix %s %s', async (suffix) => {
    const { account, id } = await createDebitedQuote(suffix);
    for (let round = 0; round < 3; round++)
      await applyProgress(id, applyFundingStatus, RETURNED_PROGRESS);
    expect((await getTransaction(id)).status).toBe('FAILED');
    expect((await readBalances(app, account.id)).total).toBe(300_00);
  });

  it('is reversed once by repeated returns after the payout', async () => {
    const { account, id } = await createDebitedQuote('000');
    for (let round = 0; round < 3; round++)
      await applyProgress(id, applyFundingStatus, RETURNED_PROGRESS);
    expect((await readBalances(app, account.id)).total).toBe(200_00);
  });

  it('can be canceled before the funds arrive', async () => {
    const { account, id } = await createDebitedQuote('005');
    ok(await app.call('POST', `/transactions/${id}/cancel`), 200);
    await app.settle();
    expect(await getTransaction(id)).toMatchObject({ status: 'FAILED' });
    await app.advance(60_000);
    expect((await readBalances(app, account.id)).total).toBe(300_00);
    const secondResponse = await app.call('POST', `/transactions/${id}/cancel`);
    expect(secondResponse.body.code).toBe('TRANSACTION_NOT_CANCELLABLE');
  });
});

describe('delivered payment', () => {
  it('ignores a late failure', async () => {
    const { account, id } = await executeNewQuote('000');
    await applyProgress(id, applyPayoutStatus, { state: 'failed', reason: 'ACCOUNT_INVALID' });
    await applyProgress(id, applyPayoutStatus, { state: 'accepted' });
    await app.settle();
    expect((await getTransaction(id)).status).toBe('COMPLETED');
    expect((await readBalances(app, account.id)).total).toBe(0);
    const awaitedResults = await app.runtime.db.query(
      'select 1 from awaited_rail_results where id = $1',
      [id],
    );
    expect(awaitedResults).toEqual([]);
  });
});

describe('inactive fee account', () => {
  it('fails payments whose funds arrive and rejects executions', async () => {
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const { person, account } = await createFundedCustomer(app);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const feeOverride = {
      platformFeeOverride: {
        platformFixedFee: { amount: 1_00, currency: 'USD' },
        platformVariableFeeBps: 0,
      },
    };
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const body = quoteBody(account.id, target.id, 100_00, feeOverride);
    const realtimeQuote = ok(await app.call('POST', '/quotes', { ...body, source }), 201);
    const balanceQuote = ok(await app.call('POST', '/quotes', body), 201);
    await transition(platformAccount.id, 'freeze');
    const fundingBody = { quoteId: realtimeQuote.id, currencyCode: 'USD' };
    ok(await app.call('POST', '/sandbox/send', fundingBody), 200);
    await app.settle();
    expect(await getTransaction(realtimeQuote.transactionId)).toMatchObject({
      status: 'FAILED',
      failureReason: 'QUOTE_EXECUTION_FAILED',
      refund: { status: 'COMPLETED' },
    });
    const response = await app.call('POST', `/quotes/${balanceQuote.id}/execute`);
    expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    await transition(platformAccount.id, 'unfreeze');
    expect((await execute(balanceQuote.id)).status).toBe('PROCESSING');
  });
});

describe('funds paid in at the daily limit', () => {
  it('are returned, except within the remaining limit', async () => {
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.platform.id);
      if (row) ctx.update(platforms, row, { limits: [{ currency: 'GBP', perDay: 100_00 }] });
    });
    const person = await createCustomer(app);
    const target = await createExternalAccount(app, person.id, 'MXN');
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'GBP', customerId: person.id };
    const fundingBodies = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const body = { ...quoteBody('', target.id, 100_00), source };
        const quote = ok(await app.call('POST', '/quotes', body), 201);
        return { quoteId: quote.id, currencyCode: 'GBP' };
      }),
    );
    const responses = await Promise.all(
      fundingBodies.map((each) => app.call('POST', '/sandbox/send', each)),
    );
    const outcomes = responses
      .map((each) => `${each.status} ${each.body.failureReason ?? ''}`)
      .sort();
    expect(outcomes).toEqual(['200 ', ...Array(3).fill('200 LIMIT_EXCEEDED')]);
    await app.settle();
  });
});

describe('payment to a UMA address', () => {
  it('is rejected if the sender is the receiver', async () => {
    const { person, account } = await createFundedCustomer(app);
    const uma = encodeURIComponent(person.umaAddress);
    const { lookupId } = ok(await app.call('GET', `/receiver/uma/${uma}`), 200);
    const destination = {
      destinationType: 'UMA_ADDRESS',
      umaAddress: person.umaAddress,
      currency: 'USD',
    };
    const body = { ...quoteBody(account.id, '', 100), destination, lookupId };
    const response = await app.call('POST', '/quotes', body);
    expect([response.status, response.body.code]).toEqual([400, 'SELF_PAYMENT']);
  });

  it('is rejected if the payee discovery belongs to another customer', async () => {
    const { person } = await createFundedCustomer(app);
    const { account } = await createFundedCustomer(app);
    const umaAddress = '$success.usd@sandbox.uma.money';
    const path = `/receiver/uma/${encodeURIComponent(umaAddress)}?customerId=${person.id}`;
    const { lookupId } = ok(await app.call('GET', path), 200);
    const destination = { destinationType: 'UMA_ADDRESS', umaAddress };
    const body = { ...quoteBody(account.id, '', 100_00), destination, lookupId };
    const response = await app.call('POST', '/quotes', body);
    expect(response.body.details.errors).toMatchObject([{ field: 'lookupId' }]);
  });
});
