// Money that arrives by itself: taken, held, released, refused, taken back by the bank days later, or sent
// straight back; each time with the events in order, the balances and the books.
import { describe, expect, it } from 'vitest';
import { booksBalance } from '../../../../test/kit/app/books.ts';
import {
  balances,
  customer,
  eventTypes,
  fund,
  internalAccount,
  ok,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { transitionInternalAccount } from '../../balances/internal-accounts/lifecycle.ts';
import type { InternalAccountEvent } from '../../balances/internal-accounts/states.ts';
import { internalAccounts } from '../../balances/internal-accounts/store.ts';
import { customers } from '../../customers/records/store.ts';
import { stageWalletDeclared } from '../../payees/external-accounts/declared.ts';
import { externalAccounts } from '../../payees/external-accounts/store.ts';
import { currentOf } from '../payouts/payout-jobs.ts';
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

const told = (words: string) => words.split(' ').map((word) => `INCOMING_PAYMENT.${word}`);
const DAY = 24 * 3_600_000;
const WALLET = '0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed';

const app = testApp();

async function someone(currency = 'USD') {
  const person = await customer(app);
  return { person, account: await internalAccount(app, person.id, currency) };
}

/** What a bank tells about money for an account. */
async function arrive(accountId: string, amount: number, more: Partial<Deposit> = {}) {
  return app.operate(async (ctx) => {
    const account = await ctx.read(internalAccounts, accountId);
    if (!account) throw new Error('no account');
    const owner = account.customer_id ? await ctx.read(customers, account.customer_id) : undefined;
    const origin = { accountHolderName: 'Grace Hopper', accountIdentifier: '12345000' };
    const given = { account, owner: owner ?? null, amount: BigInt(amount), origin, ...more };
    return (await receiveDeposit(ctx, given)).id;
  });
}

const onRow = (id: string, work: (ctx: Ctx, row: IncomingRow) => unknown) =>
  app.operate(async (ctx) => {
    await work(ctx, await currentOf(ctx, id, asIncoming));
  });

const move = (id: string, event: InternalAccountEvent) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (row) transitionInternalAccount(ctx, row, event);
  });

const read = async (id: string) => ok(await app.call('GET', `/transactions/${id}`), 200);

/** How often a balance was told since `from` events ago. */
async function balancesTold(accountId: string): Promise<number[][]> {
  const events = await app.events();
  return events
    .filter((each) => each.subject === accountId && each.type.endsWith('BALANCE_UPDATED'))
    .map(({ balance, held }) => [Number((balance ?? 0n) - (held ?? 0n)), Number(balance)]);
}

async function owedBy(accountId: string): Promise<number> {
  const row = await app.runtime.db.read(internalAccounts, accountId);
  return Number(row?.owed);
}

describe('receiveDeposit', () => {
  it('credits at once and tells who paid', async () => {
    const { account } = await someone('USDC');
    const chain = { transactionHash: '0xabc', network: 'BASE' };
    const id = await arrive(account.id, 500, { chain });
    expect(await read(id)).toMatchObject({
      status: 'COMPLETED',
      source: {
        sourceType: 'REALTIME_FUNDING',
        currency: 'USDC',
        accountHolderName: 'Grace Hopper',
        onChainTransaction: chain,
      },
      settledAt: expect.any(String),
    });
    expect(await eventTypes(app, id)).toEqual(told('COMPLETED'));
    expect(await balancesTold(account.id)).toEqual([[500, 500]]);
  });

  it('holds what must not be spent yet, in the total alone', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500, { hold: 'COUNTERPARTY_INFORMATION_REQUIRED' });
    expect(await read(id)).toMatchObject({
      status: 'PENDING',
      pendingReason: 'COUNTERPARTY_INFORMATION_REQUIRED',
    });
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 500 });
    expect(await balancesTold(account.id)).toEqual([[0, 500]]);
    // No approval is requested: the event is a notification like any other.
    const types = 'select type from events where subject = $1';
    expect(await app.runtime.db.query(types, [id])).toEqual([{ type: 'INCOMING_PAYMENT.PENDING' }]);
    const approve = await app.call('POST', `/transactions/${id}/approve`);
    expect(approve.status).toBe(409);
  });

  it('holds what arrives for a frozen account, and never gives it back by itself', async () => {
    const { account } = await someone();
    await move(account.id, 'freeze');
    const id = await arrive(account.id, 500);
    expect(await read(id)).toMatchObject({ status: 'PENDING', pendingReason: 'COMPLIANCE_REVIEW' });
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 500 });
    await app.advance(31 * DAY);
    expect((await read(id)).status).toBe('PENDING');
    await move(account.id, 'unfreeze');
    await app.advance(31 * DAY);
    expect((await read(id)).status).toBe('FAILED');
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 0 });
  });

  it.each(['PENDING', 'FAILED', 'CLOSED'])('sends back what arrives for %s', async (status) => {
    const { account } = await someone();
    const set = 'update internal_accounts set status = $2 where id = $1';
    await app.runtime.db.query(set, [account.id, status]);
    await app.runtime.db.query('update ledger_accounts set frozen = true where id = $1', [
      account.id,
    ]);
    const id = await arrive(account.id, 500);
    expect(await read(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
      refund: { status: 'PENDING' },
    });
    await app.settle();
    expect((await read(id)).refund).toMatchObject({ status: 'COMPLETED' });
    expect(await eventTypes(app, id)).toEqual(told('FAILED REFUND_PENDING REFUND_COMPLETED'));
    expect(await balancesTold(account.id)).toEqual([]);
  });

  it('sends back what arrives for somebody who was deleted', async () => {
    const { person, account } = await someone();
    ok(await app.call('DELETE', `/customers/${person.id}`), 200);
    const id = await arrive(account.id, 500);
    await app.settle();
    expect(await eventTypes(app, id)).toEqual(told('FAILED REFUND_PENDING REFUND_COMPLETED'));
  });
});

describe('releaseDeposit', () => {
  it('makes it spendable, once', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500, { hold: 'COMPLIANCE_REVIEW' });
    await onRow(id, releaseDeposit);
    await onRow(id, releaseDeposit);
    await onRow(id, (ctx, row) => returnHeldDeposit(ctx, row));
    const after = await read(id);
    expect(after.status).toBe('COMPLETED');
    expect(after).not.toHaveProperty('pendingReason');
    expect(await balances(app, account.id)).toEqual({ balance: 500, total: 500 });
    expect(await eventTypes(app, id)).toEqual(told('PENDING COMPLETED'));
    expect(await balancesTold(account.id)).toEqual([
      [0, 500],
      [500, 500],
    ]);
    await app.advance(31 * DAY);
    expect((await read(id)).status).toBe('COMPLETED');
  });
});

describe('returnHeldDeposit', () => {
  it('takes it off the account and sends it back', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500, { hold: 'COMPLIANCE_REVIEW' });
    await onRow(id, (ctx, row) => returnHeldDeposit(ctx, row));
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 0 });
    await app.settle();
    expect(await read(id)).toMatchObject({
      status: 'FAILED',
      failureReason: 'COLLECTION_FAILED',
      refund: { status: 'COMPLETED', reason: 'TRANSACTION_FAILED' },
    });
    const all = told('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, id)).toEqual(all);
    expect(await balancesTold(account.id)).toEqual([
      [0, 500],
      [0, 0],
    ]);
  });

  it('happens by itself after thirty days', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500, { hold: 'COUNTERPARTY_DECLARATION_REQUIRED' });
    await app.advance(30 * DAY - 1);
    expect((await read(id)).status).toBe('PENDING');
    await app.advance(1);
    const all = told('PENDING FAILED REFUND_PENDING REFUND_COMPLETED');
    expect(await eventTypes(app, id)).toEqual(all);
  });
});

describe('rejectDeposit', () => {
  const bounce = (accountIdentifier: string) =>
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

  it('sends back at the pace of the rail', async () => {
    const id = await bounce('DE003');
    await app.advance(6 * 60_000 - 1);
    expect((await read(id)).refund.status).toBe('PENDING');
    await app.advance(1);
    expect((await read(id)).refund.status).toBe('COMPLETED');
    await booksBalance(app);
  });

  it('parks what its payer cannot be given back', async () => {
    const id = await bounce('DE007');
    await app.advance(60_000);
    const all = told('FAILED REFUND_PENDING REFUND_FAILED');
    expect(await eventTypes(app, id)).toEqual(all);
    const refund = (await read(id)).refund;
    expect(refund.status).toBe('FAILED');
    expect(refund).not.toHaveProperty('settledAt');
    const [suspense] = await app.runtime.db.query(
      `select balance from ledger_accounts where id = 'system:sandbox:suspense:EUR'`,
    );
    expect(suspense).toEqual({ balance: 700n });
  });
});

describe('reverseDeposit', () => {
  it('takes back what is still there', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500);
    await app.advance(3 * DAY);
    await onRow(id, (ctx, row) =>
      applyIncomingStatus(ctx, row, 'pull', { state: 'returned', reason: 'PAYOUT_RETURNED' }),
    );
    expect(await read(id)).toMatchObject({ status: 'FAILED', failureReason: 'COLLECTION_FAILED' });
    expect(await eventTypes(app, id)).toEqual(told('COMPLETED FAILED'));
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 0 });
    expect(await owedBy(account.id)).toBe(0);
    await onRow(id, (ctx, row) => reverseDeposit(ctx, row));
    expect(await balancesTold(account.id)).toEqual([
      [500, 500],
      [0, 0],
    ]);
  });

  it('leaves a debt where it was spent, which the next money repays first', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500);
    const other = await arrive(account.id, 120);
    // 380 of 620 are spent.
    await onRow(other, (ctx) =>
      ctx.transfer({
        transactionId: other,
        step: 'spent',
        debit: account.id,
        credit: 'system:sandbox:rail_in_transit:USD',
        currency: 'USD',
        amount: 380n,
      }),
    );
    await onRow(id, (ctx, row) => reverseDeposit(ctx, row));
    expect(await owedBy(account.id)).toBe(260);
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const receivable = async () => {
      const [row] = await app.runtime.db.query(
        `select balance from ledger_accounts where id = 'system:sandbox:receivable:USD'`,
      );
      return Number((row as { balance: bigint }).balance);
    };
    expect(await receivable()).toBe(-260);
    const first = await fund(app, account.id, 100);
    expect([first.balance.amount, await owedBy(account.id)]).toEqual([0, 160]);
    const held = await arrive(account.id, 50, { hold: 'COMPLIANCE_REVIEW' });
    expect(await owedBy(account.id)).toBe(160);
    await onRow(held, releaseDeposit);
    expect(await owedBy(account.id)).toBe(110);
    const last = await fund(app, account.id, 200);
    expect([last.balance.amount, await owedBy(account.id)]).toEqual([90, 0]);
    expect(await receivable()).toBe(0);
    expect((await balances(app, account.id)).total).toBe(90);
    await booksBalance(app);
  });

  it('takes back from a frozen account, and what was held', async () => {
    const { account } = await someone();
    const id = await arrive(account.id, 500);
    const held = await arrive(account.id, 70, { hold: 'COMPLIANCE_REVIEW' });
    await move(account.id, 'freeze');
    await onRow(id, (ctx, row) => reverseDeposit(ctx, row));
    await onRow(held, (ctx, row) => reverseDeposit(ctx, row));
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 0 });
    const after = await read(held);
    expect(after).toMatchObject({ status: 'FAILED', failureReason: 'COLLECTION_FAILED' });
    expect(after).not.toHaveProperty('refund');
    expect(await eventTypes(app, held)).toEqual(told('PENDING FAILED'));
  });
});

describe('a wallet that is declared', () => {
  const register = (customerId: string, address: string, more: object = {}) =>
    app.call('POST', '/customers/external-accounts', {
      customerId,
      currency: 'USDC',
      accountInfo: { accountType: 'ETHEREUM_WALLET', address, ...more },
    });
  const vaspName = 'Coinbase';

  it('releases what it sent and what was held for that', async () => {
    const { person, account } = await someone('USDC');
    const from = (accountIdentifier: string, hold: Deposit['hold']) =>
      arrive(account.id, 100, { hold, origin: { accountIdentifier } });
    const declared = await from(WALLET.toLowerCase(), 'COUNTERPARTY_DECLARATION_REQUIRED');
    const verified = await from(WALLET, 'WALLET_VERIFICATION_REQUIRED');
    const reviewed = await from(WALLET, 'COMPLIANCE_REVIEW');
    const other = await from('0x0000000000000000000000000000000000000001', 'COMPLIANCE_REVIEW');
    const stranger = await someone('USDC');
    ok(await register(stranger.person.id, WALLET, { vaspName }), 201);
    ok(await register(person.id, '0x52908400098527886E0F7030069857D2E4169EE7'), 201);
    await app.settle();
    expect(await balances(app, account.id)).toEqual({ balance: 0, total: 400 });
    ok(await register(person.id, WALLET, { vaspName }), 201);
    await app.settle();
    const states = await Promise.all([declared, verified, reviewed, other].map(read));
    expect(states.map((each) => each.status)).toEqual([
      'COMPLETED',
      'COMPLETED',
      'PENDING',
      'PENDING',
    ]);
    expect(await balances(app, account.id)).toEqual({ balance: 200, total: 400 });
  });

  it('releases more than one change set may hold', async () => {
    const { person, account } = await someone('USDC');
    const address = '0xde709f2102306220921060314715629080e2fb77';
    const origin = { accountIdentifier: address };
    const hold = 'COUNTERPARTY_DECLARATION_REQUIRED';
    for (let at = 0; at < 120; at++) await arrive(account.id, 1, { hold, origin });
    ok(await register(person.id, address, { vaspName }), 201);
    const before = await balances(app, account.id);
    expect(before).toEqual({ balance: 0, total: 120 });
    await app.settle();
    expect(await balances(app, account.id)).toEqual({ balance: 120, total: 120 });
    const spendable = (await balancesTold(account.id)).map(([now]) => now);
    expect([...new Set(spendable)]).toEqual([0, 50, 100, 120]);
  });

  it('counts once its owner has proved it', async () => {
    const { person, account } = await someone('USDC');
    const address = '0x8617E340B3D01FA5F11F306F4090FD50E238070D';
    const id = await arrive(account.id, 100, {
      hold: 'WALLET_VERIFICATION_REQUIRED',
      origin: { accountIdentifier: address },
    });
    const wallet = ok(await register(person.id, address), 201);
    await app.settle();
    expect((await read(id)).status).toBe('PENDING');
    await app.operate(async (ctx) => {
      const row = await ctx.read(externalAccounts, wallet.id);
      if (row) stageWalletDeclared(ctx, ctx.update(externalAccounts, row, { proven_at: ctx.now }));
    });
    await app.settle();
    expect(await eventTypes(app, id)).toEqual(told('PENDING COMPLETED'));
  });
});
