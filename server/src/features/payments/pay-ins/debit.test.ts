// Incoming transfers: every outcome that the sandbox scripts, rail notifications at each stage, and
// every request that is rejected.
import { describe, expect, it, vi } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  eventTypes,
  findInternalAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../../test/kit/app/harness.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Progress } from '../../../connectors/ports/index.ts';
import { sandboxRail } from '../../../connectors/sandbox/payments/rail.ts';
import { transitionInternalAccount } from '../../balances/internal-accounts/lifecycle.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { readCurrent } from '../payouts/payout-jobs.ts';
import type { WaitKind } from '../suspense/rail-results.ts';
import { asIncoming } from '../transactions/rows.ts';
import { cancelDebit } from './debit.ts';
import { applyIncomingStatus, releaseDeposit, returnHeldDeposit } from './index.ts';

const incomingEventTypes = (statuses: string) =>
  statuses.split(' ').map((status) => `INCOMING_PAYMENT.${status}`);

const app = testApp();

async function createAccounts(suffix = '000', platform?: TestPlatform) {
  const person = await createCustomer(app, { platform });
  const account = await findInternalAccount(app, person.id, 'USD', { platform });
  const source = await createExternalAccount(app, person.id, 'USD', suffix, { platform });
  return { person, account, source };
}

const transferIn = (from: string, to: string, amount: unknown = 250_00, options = {}) =>
  app.call(
    'POST',
    '/transfer-in',
    { source: { accountId: from }, destination: { accountId: to }, amount },
    options,
  );

async function startTransferIn(suffix: string) {
  const { account, source } = await createAccounts(suffix);
  const row = ok(await transferIn(source.id, account.id), 201);
  return { account, source, row };
}

const read = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

const notify = (id: string, progress: Progress, kind: WaitKind = 'debit') =>
  app.operate(async (ctx) => {
    const row = await readCurrent(ctx, id, asIncoming);
    await applyIncomingStatus(ctx, row, kind, progress);
  });

const decide = (id: string, work: typeof releaseDeposit) =>
  app.operate(async (ctx) => {
    await work(ctx, await readCurrent(ctx, id, asIncoming));
  });

const transition = (id: string, event: 'freeze' | 'close') =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (row) transitionInternalAccount(ctx, row, event);
  });

describe('createTransferIn', () => {
  it('returns a pending transaction, which completes', async () => {
    const { account, source, row } = await startTransferIn('000');
    expect(row).toMatchObject({
      type: 'INCOMING',
      direction: 'CREDIT',
      status: 'PENDING',
      source: { sourceType: 'ACCOUNT', accountId: source.id, currency: 'USD' },
      destination: { destinationType: 'ACCOUNT', accountId: account.id, currency: 'USD' },
      sentAmount: { amount: 250_00 },
      receivedAmount: { amount: 250_00 },
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.settle();
    expect(await read(row.id)).toMatchObject({ status: 'COMPLETED' });
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING COMPLETED'));
    expect(await readBalances(app, account.id)).toEqual({ balance: 250_00, total: 250_00 });
  });

  it.each(['002', '003', '004'])('fails immediately for the suffix %s', async (suffix) => {
    const { account, row } = await startTransferIn(suffix);
    await app.settle();
    const rowAfter = await read(row.id);
    expect(rowAfter).toMatchObject({ status: 'FAILED', failureReason: 'COLLECTION_FAILED' });
    expect(rowAfter).not.toHaveProperty('refund');
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING FAILED'));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it('holds a debit with suffix 005 for thirty seconds, then fails', async () => {
    const { account, row } = await startTransferIn('005');
    await app.advance(29_999);
    expect((await read(row.id)).status).toBe('PROCESSING');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 250_00 });
    await app.advance(1);
    expect(await read(row.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
    });
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING FAILED'));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const events = (await app.events()).filter((each) => each.subject === account.id);
    expect(events.map(({ balance, held }) => [balance, held])).toEqual([
      [250_00n, 250_00n],
      [0n, 0n],
    ]);
  });

  it("credits the platform's own account", async () => {
    const platformAccount = await findInternalAccount(app, null, 'USD');
    const source = await createExternalAccount(app, null, 'USD');
    const row = ok(await transferIn(source.id, platformAccount.id, 5), 201);
    expect(row).toMatchObject({ customerId: app.platform.id, platformCustomerId: app.platform.id });
    await app.settle();
    expect((await readBalances(app, platformAccount.id)).balance).toBe(5);
  });

  it('runs once per idempotency key', async () => {
    const { account, source } = await createAccounts();
    const options = { headers: { 'idempotency-key': 'in-once' } };
    const firstTransfer = ok(await transferIn(source.id, account.id, 7, options), 201);
    const secondTransfer = ok(await transferIn(source.id, account.id, 7, options), 201);
    expect(secondTransfer.id).toBe(firstTransfer.id);
    await app.settle();
    expect((await readBalances(app, account.id)).total).toBe(7);
    const otherResponse = await transferIn(source.id, account.id, 8, options);
    expect([otherResponse.status, otherResponse.body.code]).toEqual([409, 'DUPLICATE_PAY_REQUEST']);
  });

  it('rejects invalid requests', async () => {
    const { person, account, source } = await createAccounts();
    const expectError = async (
      reply: Promise<{ status: number; body: unknown }>,
      ...expected: unknown[]
    ) =>
      expect([(await reply).status, ((await reply).body as { code: string }).code]).toEqual(
        expected,
      );
    for (const amount of [0, -1, 1.5, '1', null, undefined]) {
      const reply = await app.call('POST', '/transfer-in', {
        source: {},
        destination: { accountId: account.id },
        amount,
      });
      expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_INPUT']);
      const fields = reply.body.details.errors.map((each: { field: string }) => each.field);
      expect(fields.sort()).toEqual(['amount', 'source.accountId']);
    }
    const unknownId = source.id.replace(/.{12}$/, '0123456789ab');
    await expectError(transferIn(unknownId, account.id), 404, 'ACCOUNT_NOT_FOUND');
    const unknownAccountId = account.id.replace(/.{12}$/, '0123456789ab');
    await expectError(transferIn(source.id, unknownAccountId), 404, 'ACCOUNT_NOT_FOUND');
    await expectError(transferIn(account.id, account.id), 400, 'INVALID_INPUT');
    await expectError(transferIn(source.id, source.id), 400, 'INVALID_INPUT');
    const otherAccounts = await createAccounts('000', app.other);
    await expectError(transferIn(otherAccounts.source.id, account.id), 404, 'ACCOUNT_NOT_FOUND');
    await expectError(transferIn(source.id, otherAccounts.account.id), 404, 'ACCOUNT_NOT_FOUND');
    const secondAccounts = await createAccounts();
    await expectError(transferIn(source.id, secondAccounts.account.id), 400, 'INVALID_INPUT');
    const platformExternalAccount = await createExternalAccount(app, null, 'USD');
    await expectError(transferIn(platformExternalAccount.id, account.id), 400, 'INVALID_INPUT');
    const euroAccount = await findInternalAccount(app, person.id, 'EUR');
    await expectError(transferIn(source.id, euroAccount.id), 400, 'INVALID_CURRENCY');
    const euroExternalAccount = await createExternalAccount(app, person.id, 'EUR');
    await expectError(transferIn(euroExternalAccount.id, euroAccount.id), 400, 'INVALID_INPUT');
    const excessiveAmount = 9_000_000_000_000_000;
    await expectError(
      transferIn(source.id, account.id, excessiveAmount),
      400,
      'TRANSACTION_SIZE_LIMIT_EXCEEDED',
    );
    await transition(account.id, 'freeze');
    await expectError(transferIn(source.id, account.id), 400, 'INVALID_INPUT');
    const thirdAccounts = await createAccounts();
    ok(await app.call('DELETE', `/customers/external-accounts/${thirdAccounts.source.id}`), 204);
    await expectError(
      transferIn(thirdAccounts.source.id, thirdAccounts.account.id),
      404,
      'ACCOUNT_NOT_FOUND',
    );
    ok(await app.call('DELETE', `/customers/${secondAccounts.person.id}`), 200);
    await expectError(
      transferIn(secondAccounts.source.id, secondAccounts.account.id),
      410,
      'CUSTOMER_DELETED',
    );
  });

  it('rejects an external destination, even if no rail reaches it', async () => {
    const platform = app.production;
    const source = await createExternalAccount(app, null, 'USD', '000', { platform });
    const accountInfo = { accountType: 'LIGHTNING', lightningAddress: 'ada@example.com' };
    const wallet = ok(
      await app.call(
        'POST',
        '/platform/external-accounts',
        { currency: 'BTC', accountInfo },
        { platform },
      ),
      201,
    );
    const { status, body } = await transferIn(source.id, wallet.id, 1_00, { platform });
    expect([status, body.code, body.details.errors]).toMatchObject([
      400,
      'INVALID_INPUT',
      [{ field: 'destination.accountId' }],
    ]);
  });

  it.each([
    ['PENDING', 409, 'BANK_ACCOUNT_VALIDATION_PENDING'],
    ['INACTIVE', 400, 'INVALID_BANK_ACCOUNT'],
    ['UNDER_REVIEW', 400, 'INVALID_INPUT'],
  ])('rejects an account that is %s', async (accountStatus, status, code) => {
    const { account, source } = await createAccounts();
    const updateSql = 'update external_accounts set status = $2 where id = $1';
    await app.runtime.db.query(updateSql, [source.id, accountStatus]);
    const reply = await transferIn(source.id, account.id);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
  });

  it('rejects customers who are not ready, and transfers outside the platform settings', async () => {
    const unverifiedAccounts = await createAccounts('000', app.unregulated);
    const rejectedResponse = await transferIn(
      unverifiedAccounts.source.id,
      unverifiedAccounts.account.id,
      1,
      {
        platform: app.unregulated,
      },
    );
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([403, 'USER_NOT_READY']);
    const platform = await app.newPlatform('Narrow');
    const { account, source } = await createAccounts('000', platform);
    const { supportedCurrencies } = ok(
      await app.call('GET', '/config', undefined, { platform }),
      200,
    );
    const changeCurrencies = async (overrides: object) => {
      const changedCurrencies = supportedCurrencies.map((currency: object) => ({
        ...currency,
        ...overrides,
      }));
      ok(
        await app.call(
          'PATCH',
          '/config',
          { supportedCurrencies: changedCurrencies },
          { platform },
        ),
        200,
      );
    };
    await changeCurrencies({ minAmount: 10, maxAmount: 20 });
    for (const amount of [9, 21]) {
      const reply = await transferIn(source.id, account.id, amount, { platform });
      expect([reply.status, reply.body.code]).toEqual([400, 'AMOUNT_OUT_OF_RANGE']);
    }
    await changeCurrencies({ enabledTransactionTypes: ['OUTGOING'] });
    const reply = await transferIn(source.id, account.id, 15, { platform });
    expect([reply.status, reply.body.code]).toEqual([400, 'INVALID_CURRENCY']);
  });
});

describe('rail notification about a debit', () => {
  it('is applied once', async () => {
    const { account, row } = await startTransferIn('005');
    await app.settle();
    const settledProgress: Progress = { state: 'settled', reference: 'x' };
    await notify(row.id, { state: 'accepted', checkAfterMs: 3_600_000 });
    await notify(row.id, settledProgress);
    await notify(row.id, settledProgress);
    await notify(row.id, { state: 'failed', reason: 'ACCOUNT_INVALID' });
    await app.advance(60_000);
    expect((await read(row.id)).status).toBe('COMPLETED');
    expect(await readBalances(app, account.id)).toEqual({ balance: 250_00, total: 250_00 });
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING COMPLETED'));
  });

  it('reverses a completed debit that the bank returns days later', async () => {
    const { account, row } = await startTransferIn('000');
    await app.advance(5 * 24 * 3_600_000);
    await notify(row.id, { state: 'returned', reason: 'PAYOUT_RETURNED' });
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING COMPLETED FAILED'));
    expect(await read(row.id)).toMatchObject({ failureReason: 'COLLECTION_FAILED' });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it('fails the debit after screening', async () => {
    const { row } = await startTransferIn('005');
    await app.settle();
    await notify(row.id, { state: 'failed', reason: 'COMPLIANCE_REJECTED' });
    expect((await read(row.id)).failureReason).toBe('COMPLIANCE_REJECTED');
  });

  it('is ignored after a cancellation', async () => {
    const { account, row } = await startTransferIn('005');
    await app.settle();
    await app.operate(async (ctx) => {
      await cancelDebit(ctx, await readCurrent(ctx, row.id, asIncoming));
    });
    expect(await read(row.id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.advance(60_000);
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING FAILED'));
  });

  /** A settled debit on an account that was frozen before the settlement. */
  async function createHeldDebit(isAccepted = true) {
    const { account, row } = await startTransferIn('005');
    if (isAccepted) await app.settle();
    await transition(account.id, 'freeze');
    await notify(row.id, { state: 'settled', reference: 'x' });
    return { account, row };
  }

  it('holds the funds if the account was frozen before settlement', async () => {
    const { account, row } = await createHeldDebit();
    expect(await read(row.id)).toMatchObject({
      status: 'PROCESSING',
      pendingReason: 'COMPLIANCE_REVIEW',
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 250_00 });
  });

  it('changes held funds only if they are returned', async () => {
    const { account, row } = await createHeldDebit();
    await notify(row.id, { state: 'failed', reason: 'ACCOUNT_INVALID' });
    await notify(row.id, { state: 'cancelled' });
    expect((await read(row.id)).status).toBe('PROCESSING');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 250_00 });
    await notify(row.id, { state: 'returned', reason: 'PAYOUT_RETURNED' });
    expect(await eventTypes(app, row.id)).toEqual(incomingEventTypes('PENDING FAILED'));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it('starts a review that a release or a return completes', async () => {
    const releasedDebit = await createHeldDebit();
    await decide(releasedDebit.row.id, releaseDeposit);
    expect(await readBalances(app, releasedDebit.account.id)).toEqual({
      balance: 250_00,
      total: 250_00,
    });
    expect(await eventTypes(app, releasedDebit.row.id)).toEqual(
      incomingEventTypes('PENDING COMPLETED'),
    );
    const returnedDebit = await createHeldDebit();
    await decide(returnedDebit.row.id, returnHeldDeposit);
    await app.settle();
    expect(await readBalances(app, returnedDebit.account.id)).toEqual({ balance: 0, total: 0 });
    const expectedTypes = incomingEventTypes('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, returnedDebit.row.id)).toEqual(expectedTypes);
  });

  it('prevents cancellation after the funds are held', async () => {
    // The first debit settles before its acceptance by the rail, the second in the usual order.
    for (const isAccepted of [false, true]) {
      const { row } = await createHeldDebit(isAccepted);
      const reply = await app.call('POST', `/transactions/${row.id}/cancel`);
      expect([reply.status, reply.body.code]).toEqual([409, 'TRANSACTION_NOT_CANCELLABLE']);
    }
  });

  it('discards the cancellation request if the funds arrive first', async () => {
    const { account, row } = await startTransferIn('005');
    ok(await app.call('POST', `/transactions/${row.id}/cancel`), 200);
    await transition(account.id, 'freeze');
    await notify(row.id, { state: 'settled', reference: 'x' });
    await app.advance(10 * 60_000);
    expect(await read(row.id)).toMatchObject({ pendingReason: 'COMPLIANCE_REVIEW' });
    const rows = await app.runtime.db.query(
      `select kind from jobs where input ->> 'transactionId' = $1 and kind = 'incoming.cancel'`,
      [row.id],
    );
    expect(rows).toEqual([]);
    const [{ cancel_requested_at }] = (await app.runtime.db.query(
      'select cancel_requested_at from transactions where id = $1',
      [row.id],
    )) as [{ cancel_requested_at: unknown }];
    expect(cancel_requested_at).toBeNull();
  });

  it('leaves the deposit return unchanged', async () => {
    const { account, row } = await startTransferIn('005');
    await transition(account.id, 'close');
    await notify(row.id, { state: 'settled', reference: 'x' });
    for (const state of ['settled', 'failed', 'returned'] as const) {
      await notify(row.id, { state, reference: 'x', reason: 'ACCOUNT_INVALID' });
      expect((await read(row.id)).refund.status).toBe('PENDING');
    }
    await app.settle();
    const expectedTypes = incomingEventTypes('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, row.id)).toEqual(expectedTypes);
  });

  it('prevents the submission of a deposit return with a recorded result', async () => {
    const { account, row } = await startTransferIn('005');
    await transition(account.id, 'close');
    await notify(row.id, { state: 'settled', reference: 'x' });
    await notify(row.id, { state: 'failed', reason: 'ACCOUNT_INVALID' }, 'refund');
    expect((await read(row.id)).refund.status).toBe('FAILED');
    const send = vi.spyOn(sandboxRail, 'send');
    await app.settle();
    const sentIds = send.mock.calls.map(([{ id }]) => id);
    send.mockRestore();
    expect(sentIds).not.toContain(`${row.id}/refund`);
  });

  it('returns the funds if the account was closed before settlement', async () => {
    const { account, row } = await startTransferIn('005');
    await transition(account.id, 'close');
    await app.settle();
    await notify(row.id, { state: 'settled', reference: 'x' });
    await app.settle();
    const expectedTypes = incomingEventTypes('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, row.id)).toEqual(expectedTypes);
    await expectBalancedBooks(app);
  });
});
