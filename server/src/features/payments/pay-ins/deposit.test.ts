// Deposits: credited, held, released, rejected, later reversed by the bank, or returned
// immediately. The tests check the order of events, the balances and the ledger.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  eventTypes,
  findInternalAccount,
  fundAccount,
  ok,
  readBalances,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { transitionInternalAccount } from '../../balances/internal-accounts/lifecycle.ts';
import type { InternalAccountEvent } from '../../balances/internal-accounts/states.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { customers } from '../../customers/records/store.ts';
import { stageWalletDeclared } from '../../payees/external-accounts/declared.ts';
import { externalAccounts } from '../../payees/external-accounts/store.ts';
import { readCurrent } from '../payouts/payout-jobs.ts';
import { asIncoming } from '../transactions/rows.ts';
import type { IncomingRow } from '../transactions/store.ts';
import {
  applyIncomingStatus,
  type Deposit,
  receiveDeposit,
  rejectDeposit,
  releaseDeposit,
  returnHeldDeposit,
  reverseDeposit,
} from './index.ts';

const incomingEventTypes = (statuses: string) =>
  statuses.split(' ').map((status) => `INCOMING_PAYMENT.${status}`);
const DAY_MS = 24 * 3_600_000;
const WALLET_ADDRESS = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const app = testApp();

async function createAccountHolder(currency = 'USD') {
  const person = await createCustomer(app);
  return { person, account: await findInternalAccount(app, person.id, currency) };
}

/** Receives a deposit as a bank reports it. Returns the ID of its transaction. */
async function receiveFunds(accountId: string, amount: number, overrides: Partial<Deposit> = {}) {
  return app.operate(async (ctx) => {
    const account = await ctx.read(internalAccounts, accountId);
    if (!account) throw new Error('The account was not found.');
    const owner = account.customer_id ? await ctx.read(customers, account.customer_id) : undefined;
    const origin = { accountHolderName: 'Grace Hopper', accountIdentifier: '12345000' };
    const notification = {
      account,
      owner: owner ?? null,
      amount: BigInt(amount),
      origin,
      ...overrides,
    };
    return (await receiveDeposit(ctx, notification)).id;
  });
}

const changeIncoming = (id: string, work: (ctx: Ctx, row: IncomingRow) => unknown) =>
  app.operate(async (ctx) => {
    await work(ctx, await readCurrent(ctx, id, asIncoming));
  });

const transition = (id: string, event: InternalAccountEvent) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (row) transitionInternalAccount(ctx, row, event);
  });

const readPayment = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

/** Available and total amounts of the balance events of the account. */
async function readBalanceAmounts(accountId: string): Promise<number[][]> {
  const events = await app.events();
  return events
    .filter((each) => each.subject === accountId && each.type.endsWith('BALANCE_UPDATED'))
    .map(({ balance, held }) => [Number((balance ?? 0n) - (held ?? 0n)), Number(balance)]);
}

async function readOwedAmount(accountId: string): Promise<number> {
  const row = await app.runtime.db.read(internalAccounts, accountId);
  return Number(row?.owed);
}

describe('receiveDeposit', () => {
  it('credits the account immediately and records the payer', async () => {
    const { account } = await createAccountHolder('USDC');
    const chain = { transactionHash: '0xabc', network: 'BASE' };
    const id = await receiveFunds(account.id, 500, { chain });
    expect(await readPayment(id)).toMatchObject({
      status: 'COMPLETED',
      source: {
        sourceType: 'REALTIME_FUNDING',
        currency: 'USDC',
        accountHolderName: 'Grace Hopper',
        onChainTransaction: chain,
      },
      settledAt: expect.any(String),
    });
    expect(await eventTypes(app, id)).toEqual(incomingEventTypes('COMPLETED'));
    expect(await readBalanceAmounts(account.id)).toEqual([[500, 500]]);
  });

  it('adds held funds to the total balance only', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500, { hold: 'COUNTERPARTY_INFORMATION_REQUIRED' });
    expect(await readPayment(id)).toMatchObject({
      status: 'PENDING',
      pendingReason: 'COUNTERPARTY_INFORMATION_REQUIRED',
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 500 });
    expect(await readBalanceAmounts(account.id)).toEqual([[0, 500]]);
    // The event is a notification without an approval request.
    const typesSql = 'select type from events where subject = $1';
    expect(await app.runtime.db.query(typesSql, [id])).toEqual([
      { type: 'INCOMING_PAYMENT.PENDING' },
    ]);
    const approvalResponse = await app.call('POST', `/transactions/${id}/approve`);
    expect(approvalResponse.status).toBe(409);
  });

  it('holds a deposit while the account is frozen, and returns it after the unfreeze', async () => {
    const { account } = await createAccountHolder();
    await transition(account.id, 'freeze');
    const id = await receiveFunds(account.id, 500);
    expect(await readPayment(id)).toMatchObject({
      status: 'PENDING',
      pendingReason: 'COMPLIANCE_REVIEW',
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 500 });
    await app.advance(31 * DAY_MS);
    expect((await readPayment(id)).status).toBe('PENDING');
    await transition(account.id, 'unfreeze');
    await app.advance(31 * DAY_MS);
    expect((await readPayment(id)).status).toBe('FAILED');
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it.each(['PENDING', 'FAILED', 'CLOSED'])('returns a deposit to a %s account', async (status) => {
    const { account } = await createAccountHolder();
    const setStatusSql = 'update internal_accounts set status = $2 where id = $1';
    await app.runtime.db.query(setStatusSql, [account.id, status]);
    await app.runtime.db.query('update ledger_accounts set frozen = true where id = $1', [
      account.id,
    ]);
    const id = await receiveFunds(account.id, 500);
    expect(await readPayment(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
      refund: { status: 'PENDING' },
    });
    await app.settle();
    expect((await readPayment(id)).refund).toMatchObject({ status: 'COMPLETED' });
    expect(await eventTypes(app, id)).toEqual(
      incomingEventTypes('FAILED REFUND_PENDING REFUND_COMPLETED'),
    );
    expect(await readBalanceAmounts(account.id)).toEqual([]);
  });

  it('returns a deposit to a deleted customer', async () => {
    const { person, account } = await createAccountHolder();
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    const id = await receiveFunds(account.id, 500);
    await app.settle();
    expect(await eventTypes(app, id)).toEqual(
      incomingEventTypes('FAILED REFUND_PENDING REFUND_COMPLETED'),
    );
  });
});

describe('releaseDeposit', () => {
  it('makes the deposit available once', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500, { hold: 'COMPLIANCE_REVIEW' });
    await changeIncoming(id, releaseDeposit);
    await changeIncoming(id, releaseDeposit);
    await changeIncoming(id, (ctx, row) => returnHeldDeposit(ctx, row));
    const paymentAfter = await readPayment(id);
    expect(paymentAfter.status).toBe('COMPLETED');
    expect(paymentAfter).not.toHaveProperty('pendingReason');
    expect(await readBalances(app, account.id)).toEqual({ balance: 500, total: 500 });
    expect(await eventTypes(app, id)).toEqual(incomingEventTypes('PENDING COMPLETED'));
    expect(await readBalanceAmounts(account.id)).toEqual([
      [0, 500],
      [500, 500],
    ]);
    await app.advance(31 * DAY_MS);
    expect((await readPayment(id)).status).toBe('COMPLETED');
  });
});

describe('returnHeldDeposit', () => {
  it('reverses and returns the deposit', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500, { hold: 'COMPLIANCE_REVIEW' });
    await changeIncoming(id, (ctx, row) => returnHeldDeposit(ctx, row));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.settle();
    expect(await readPayment(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
      refund: { status: 'COMPLETED', reason: 'TRANSACTION_FAILED' },
    });
    const expectedTypes = incomingEventTypes('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, id)).toEqual(expectedTypes);
    expect(await readBalanceAmounts(account.id)).toEqual([
      [0, 500],
      [0, 0],
    ]);
  });

  it('runs automatically after thirty days', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500, { hold: 'COUNTERPARTY_DECLARATION_REQUIRED' });
    await app.advance(30 * DAY_MS - 1);
    expect((await readPayment(id)).status).toBe('PENDING');
    await app.advance(1);
    const expectedTypes = incomingEventTypes('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, id)).toEqual(expectedTypes);
  });
});

describe('rejectDeposit', () => {
  const createRejectedDeposit = (accountIdentifier: string) =>
    app.operate(async (ctx) => {
      const row = rejectDeposit(ctx, {
        owner: null,
        amount: 700n,
        currency: 'EUR',
        origin: { accountIdentifier },
        destination: { destinationType: 'ACCOUNT', accountId: 'ExternalAccount:x' },
        destinationAccount: 'ExternalAccount:x',
      });
      return row.id;
    });

  it('returns the deposit with the delay of the rail', async () => {
    const id = await createRejectedDeposit('DE003');
    await app.advance(6 * 60_000 - 1);
    expect((await readPayment(id)).refund.status).toBe('PENDING');
    await app.advance(1);
    expect((await readPayment(id)).refund.status).toBe('COMPLETED');
    await expectBalancedBooks(app);
  });

  it('posts to suspense a deposit that cannot be returned', async () => {
    const id = await createRejectedDeposit('DE007');
    await app.advance(60_000);
    const expectedTypes = incomingEventTypes('FAILED REFUND_PENDING REFUND_FAILED');
    expect(await eventTypes(app, id)).toEqual(expectedTypes);
    const refund = (await readPayment(id)).refund;
    expect(refund.status).toBe('FAILED');
    expect(refund).not.toHaveProperty('settledAt');
    const [suspense] = await app.runtime.db.query(
      `select balance from ledger_accounts where id = 'system:sandbox:suspense:EUR'`,
    );
    expect(suspense).toEqual({ balance: 700n });
  });
});

describe('reverseDeposit', () => {
  it('debits the available balance', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500);
    await app.advance(3 * DAY_MS);
    await changeIncoming(id, (ctx, row) =>
      applyIncomingStatus(ctx, row, 'debit', { state: 'returned', reason: 'PAYOUT_RETURNED' }),
    );
    expect(await readPayment(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
    });
    expect(await eventTypes(app, id)).toEqual(incomingEventTypes('COMPLETED FAILED'));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    expect(await readOwedAmount(account.id)).toBe(0);
    await changeIncoming(id, (ctx, row) => reverseDeposit(ctx, row));
    expect(await readBalanceAmounts(account.id)).toEqual([
      [500, 500],
      [0, 0],
    ]);
  });

  it('records a shortfall for spent funds, which the next deposits repay', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500);
    const secondId = await receiveFunds(account.id, 120);
    // 380 of 620 are spent.
    await changeIncoming(secondId, (ctx) =>
      ctx.transfer({
        transactionId: secondId,
        step: 'spent',
        debit: account.id,
        credit: 'system:sandbox:rail_in_transit:USD',
        currency: 'USD',
        amount: 380n,
      }),
    );
    await changeIncoming(id, (ctx, row) => reverseDeposit(ctx, row));
    expect(await readOwedAmount(account.id)).toBe(260);
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const readReceivable = async () => {
      const [row] = await app.runtime.db.query(
        `select balance from ledger_accounts where id = 'system:sandbox:receivable:USD'`,
      );
      return Number((row as { balance: bigint }).balance);
    };
    expect(await readReceivable()).toBe(-260);
    const accountAfterFirstDeposit = await fundAccount(app, account.id, 100);
    expect([accountAfterFirstDeposit.balance.amount, await readOwedAmount(account.id)]).toEqual([
      0, 160,
    ]);
    const heldDepositId = await receiveFunds(account.id, 50, { hold: 'COMPLIANCE_REVIEW' });
    expect(await readOwedAmount(account.id)).toBe(160);
    await changeIncoming(heldDepositId, releaseDeposit);
    expect(await readOwedAmount(account.id)).toBe(110);
    const accountAfterLastDeposit = await fundAccount(app, account.id, 200);
    expect([accountAfterLastDeposit.balance.amount, await readOwedAmount(account.id)]).toEqual([
      90, 0,
    ]);
    expect(await readReceivable()).toBe(0);
    expect((await readBalances(app, account.id)).total).toBe(90);
    await expectBalancedBooks(app);
  });

  it('debits a frozen account and held funds', async () => {
    const { account } = await createAccountHolder();
    const id = await receiveFunds(account.id, 500);
    const heldDepositId = await receiveFunds(account.id, 70, { hold: 'COMPLIANCE_REVIEW' });
    await transition(account.id, 'freeze');
    await changeIncoming(id, (ctx, row) => reverseDeposit(ctx, row));
    await changeIncoming(heldDepositId, (ctx, row) => reverseDeposit(ctx, row));
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const paymentAfter = await readPayment(heldDepositId);
    expect(paymentAfter).toMatchObject({ status: 'FAILED', failureReason: 'COLLECTION_FAILED' });
    expect(paymentAfter).not.toHaveProperty('refund');
    expect(await eventTypes(app, heldDepositId)).toEqual(incomingEventTypes('PENDING FAILED'));
  });
});

describe('declared wallet', () => {
  const register = (customerId: string, address: string, overrides: object = {}) =>
    app.call('POST', '/customers/external-accounts', {
      customerId,
      currency: 'USDC',
      accountInfo: { accountType: 'ETHEREUM_WALLET', address, ...overrides },
    });
  const vaspName = 'Coinbase';

  it('releases deposits that were held for a declaration or a proof', async () => {
    const { person, account } = await createAccountHolder('USDC');
    const receiveDepositFrom = (accountIdentifier: string, hold: Deposit['hold']) =>
      receiveFunds(account.id, 100, { hold, origin: { accountIdentifier } });
    const declaredDepositId = await receiveDepositFrom(
      WALLET_ADDRESS.toLowerCase(),
      'COUNTERPARTY_DECLARATION_REQUIRED',
    );
    const verifiedDepositId = await receiveDepositFrom(
      WALLET_ADDRESS,
      'WALLET_VERIFICATION_REQUIRED',
    );
    const depositInReviewId = await receiveDepositFrom(WALLET_ADDRESS, 'COMPLIANCE_REVIEW');
    const otherDepositId = await receiveDepositFrom(
      '0x0000000000000000000000000000000000000001',
      'COMPLIANCE_REVIEW',
    );
    const otherHolder = await createAccountHolder('USDC');
    ok(await register(otherHolder.person.id, WALLET_ADDRESS, { vaspName }), 201);
    ok(await register(person.id, '0x52908400098527886E0F7030069857D2E4169EE7'), 201);
    await app.settle();
    expect(await readBalances(app, account.id)).toEqual({ balance: 0, total: 400 });
    ok(await register(person.id, WALLET_ADDRESS, { vaspName }), 201);
    await app.settle();
    const states = await Promise.all(
      [declaredDepositId, verifiedDepositId, depositInReviewId, otherDepositId].map(readPayment),
    );
    expect(states.map((each) => each.status)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'PENDING',
      'PENDING',
    ]);
    expect(await readBalances(app, account.id)).toEqual({ balance: 200, total: 400 });
  });

  it('releases more deposits than fit in one change set', async () => {
    const { person, account } = await createAccountHolder('USDC');
    const address = '0xde709f2102306220921060314715629080e2fb77';
    const origin = { accountIdentifier: address };
    const hold = 'COUNTERPARTY_DECLARATION_REQUIRED';
    for (let index = 0; index < 120; index++) await receiveFunds(account.id, 1, { hold, origin });
    ok(await register(person.id, address, { vaspName }), 201);
    const balancesBefore = await readBalances(app, account.id);
    expect(balancesBefore).toEqual({ balance: 0, total: 120 });
    await app.settle();
    expect(await readBalances(app, account.id)).toEqual({ balance: 120, total: 120 });
    const availableAmounts = (await readBalanceAmounts(account.id)).map(
      ([availableAmount]) => availableAmount,
    );
    expect([...new Set(availableAmounts)]).toEqual([0, 50, 100, 120]);
  });

  it('releases a deposit after its owner has verified the wallet', async () => {
    const { person, account } = await createAccountHolder('USDC');
    const address = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
    const id = await receiveFunds(account.id, 100, {
      hold: 'WALLET_VERIFICATION_REQUIRED',
      origin: { accountIdentifier: address },
    });
    const wallet = ok(await register(person.id, address), 201);
    await app.settle();
    expect((await readPayment(id)).status).toBe('PENDING');
    await app.operate(async (ctx) => {
      const row = await ctx.read(externalAccounts, wallet.id);
      if (row) stageWalletDeclared(ctx, ctx.update(externalAccounts, row, { proven_at: ctx.now }));
    });
    await app.settle();
    expect(await eventTypes(app, id)).toEqual(incomingEventTypes('PENDING COMPLETED'));
  });
});
