// What each state of an account means for money: new payments, deposits and transfers are refused while it
// is not active, what was under way goes on, and what comes back comes back.
import { describe, expect, it } from 'vitest';
import { booksBalance } from '../../../../test/kit/app/books.ts';
import {
  balances,
  customer,
  eventTypes,
  externalAccount,
  fund,
  fundedCustomer,
  internalAccount,
  ok,
  quoteBody,
} from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import { ledgerAccounts } from '../../../runtime/committer/ledger-accounts.ts';
import { accountActionsOf } from '../account-actions/store.ts';
import { ACTIVATE_ACCOUNTS } from './jobs.ts';
import { transitionInternalAccount } from './lifecycle.ts';
import { provisionAccounts } from './provision.ts';
import type { InternalAccountEvent } from './states.ts';
import { internalAccounts } from './store.ts';

const app = testApp();

const STATUS_UPDATED = 'INTERNAL_ACCOUNT.STATUS_UPDATED';

const move = (id: string, event: InternalAccountEvent) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (!row) throw new Error('no such account');
    return transitionInternalAccount(ctx, row, event);
  });

const isFrozen = async (id: string) => (await app.runtime.db.read(ledgerAccounts, id))?.frozen;

const statusOf = async (id: string) =>
  ok(await app.call('GET', `/internal-accounts/${id}`), 200).status as string;

/** How often the platform was told of a new status, and the last one. */
async function told(id: string) {
  const all = (await app.events()).filter(
    (each) => each.subject === id && each.type === STATUS_UPDATED,
  );
  return { times: all.length, last: all.at(-1)?.data.status, balance: all.at(-1)?.balance };
}

/** Money from the house, past every check of a handler. */
const deposit = (id: string, amount: bigint, force = false) =>
  app.operate(async (ctx) =>
    ctx.transfer({
      transactionId: ctx.id('Transaction'),
      step: 'deposit',
      debit: systemAccount('sandbox', 'rail_in_transit', 'USD'),
      credit: id,
      currency: 'USD',
      amount,
      force,
    }),
  );

const refusal = { code: 'INVALID_INPUT', message: 'The account is not open.' };

async function openedPending() {
  const person = await customer(app, {}, { currencies: ['EUR'] });
  const [row] = await app.operate(async (ctx) =>
    provisionAccounts(ctx, {
      customerId: person.id,
      currencies: ['USD'],
      funding: undefined,
      status: 'PENDING',
    }),
  );
  return row?.id as string;
}

describe('an account that is opened later', () => {
  it('takes nothing before it is provided for, and says when it is', async () => {
    const id = await openedPending();
    expect(await isFrozen(id)).toBe(true);
    await expect(deposit(id, 1n)).rejects.toMatchObject(refusal);
    await move(id, 'provision');
    expect(await told(id)).toEqual({ times: 1, last: 'ACTIVE', balance: 0n });
    await deposit(id, 1n);
    expect(await balances(app, id)).toEqual({ balance: 1, total: 1 });
  });

  it('stays frozen when that fails, until it has been tried again', async () => {
    const id = await openedPending();
    await move(id, 'fail');
    expect(await told(id)).toMatchObject({ times: 1, last: 'FAILED' });
    await expect(deposit(id, 1n)).rejects.toMatchObject(refusal);
    await move(id, 'retry');
    expect(await told(id)).toMatchObject({ times: 2, last: 'PENDING' });
    await expect(deposit(id, 1n)).rejects.toMatchObject(refusal);
    await app.operate(async (ctx) =>
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: app.platform.id, accountIds: [id] }),
    );
    await app.settle();
    expect(await told(id)).toMatchObject({ times: 3, last: 'ACTIVE' });
    await deposit(id, 1n);
  });
});

describe('a frozen account', () => {
  it('refuses deposits and payments in both directions, and takes them again afterwards', async () => {
    const { person, account } = await fundedCustomer(app);
    const other = await fundedCustomer(app);
    const payee = await externalAccount(app, person.id, 'EUR');
    const quote = async (from: string, to: string) =>
      ok(await app.call('POST', '/quotes', quoteBody(from, to, 10_00)), 201).id as string;
    const quotes = await Promise.all([
      quote(account.id, payee.id),
      quote(account.id, other.account.id),
      quote(other.account.id, account.id),
    ]);
    await move(account.id, 'freeze');
    expect(await told(account.id)).toEqual({ times: 1, last: 'FROZEN', balance: 1_000_00n });
    for (const id of quotes) {
      const answer = await app.call('POST', `/quotes/${id}/execute`);
      expect([answer.status, answer.body.code]).toEqual([400, 'INVALID_INPUT']);
    }
    const path = `/sandbox/internal-accounts/${account.id}/fund`;
    expect((await app.call('POST', path, { amount: 1 })).status).toBe(400);
    const refused = await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 10_00));
    expect([refused.status, refused.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await balances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    expect(await balances(app, other.account.id)).toMatchObject({ balance: 1_000_00 });
    await move(account.id, 'unfreeze');
    expect(await told(account.id)).toMatchObject({ times: 2, last: 'ACTIVE' });
    for (const id of quotes) ok(await app.call('POST', `/quotes/${id}/execute`), 200);
    await fund(app, account.id, 1);
    await booksBalance(app);
  });

  it('is refused at commit, whatever a handler has read', async () => {
    const { account } = await fundedCustomer(app);
    await move(account.id, 'freeze');
    await expect(deposit(account.id, 1n)).rejects.toMatchObject(refusal);
    await deposit(account.id, 1n, true);
    expect(await balances(app, account.id)).toMatchObject({ total: 1_000_01 });
  });

  const pay = async (suffix: string) => {
    const { person, account } = await fundedCustomer(app);
    const payee = await externalAccount(app, person.id, 'EUR', suffix);
    const body = quoteBody(account.id, payee.id, 250_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    const transaction = async () =>
      ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
    return { account, transaction };
  };

  it('lets a payment go on whose money was set aside before', async () => {
    const { account, transaction } = await pay('000');
    await move(account.id, 'freeze');
    await app.advance(60_000);
    expect((await transaction()).status).toBe('COMPLETED');
    expect(await balances(app, account.id)).toEqual({ balance: 750_00, total: 750_00 });
    await booksBalance(app);
  });

  it.each([
    ['that never left', '002'],
    ['that the bank refused later', '004'],
    ['that the bank sends back', '005'],
  ])('gets money back %s', async (_, suffix) => {
    const { account, transaction } = await pay(suffix);
    await move(account.id, 'freeze');
    await app.advance(60_000);
    expect(await transaction()).toMatchObject({
      status: 'FAILED',
      refund: { status: 'COMPLETED' },
    });
    expect(await balances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    expect(await statusOf(account.id)).toBe('FROZEN');
    await booksBalance(app);
  });
});

describe('closing an account', () => {
  it('asks that it is empty, at commit', async () => {
    const { account } = await fundedCustomer(app, 5_00);
    await expect(move(account.id, 'close')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await statusOf(account.id)).toBe('ACTIVE');
    expect(await told(account.id)).toMatchObject({ times: 0 });
  });

  it.each(['ACTIVE', 'FROZEN'])('is for good, from %s', async (from) => {
    const person = await customer(app);
    const account = await internalAccount(app, person.id, 'USD');
    if (from === 'FROZEN') await move(account.id, 'freeze');
    await move(account.id, 'close');
    expect(await told(account.id)).toMatchObject({ last: 'CLOSED', balance: 0n });
    await expect(deposit(account.id, 1n)).rejects.toMatchObject(refusal);
    await expect(move(account.id, 'unfreeze')).rejects.toThrow(
      'no transition unfreeze from CLOSED',
    );
  });
});

describe('a move that the table lacks', () => {
  it('throws and changes nothing, by its event or by the row alone', async () => {
    const person = await customer(app);
    const { id } = await internalAccount(app, person.id, 'USD');
    await expect(move(id, 'provision')).rejects.toThrow('no transition provision from ACTIVE');
    const by = app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      if (row) ctx.update(internalAccounts, row, { status: 'FAILED' });
    });
    await expect(by).rejects.toThrow('has no transition from ACTIVE to FAILED');
    expect(await statusOf(id)).toBe('ACTIVE');
    expect(await eventTypes(app, id)).not.toContain(STATUS_UPDATED);
  });
});

describe('a reason', () => {
  it('is kept with the move', async () => {
    const person = await customer(app);
    const { id } = await internalAccount(app, person.id, 'USD');
    await app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      const cause = { actor: 'operator', reason: 'Asked by the bank' };
      if (row) transitionInternalAccount(ctx, row, 'freeze', cause);
    });
    await move(id, 'unfreeze');
    expect(await accountActionsOf(app.runtime, id)).toMatchObject([
      { actor: 'operator', action: 'freeze', reason: 'Asked by the bank' },
    ]);
  });
});

describe('a customer who is deleted', () => {
  const remove = (id: string) => app.call('DELETE', `/customers/${id}`);

  it('gets nothing more, not even from who has not heard of it yet', async () => {
    const person = await customer(app);
    const { id } = await internalAccount(app, person.id, 'USD');
    expect((await remove(person.id)).status).toBe(200);
    await expect(deposit(id, 1n)).rejects.toMatchObject(refusal);
  });

  it('gets no account any more that was still to be provided for', async () => {
    const id = await openedPending();
    const { customerId } = ok(await app.call('GET', `/internal-accounts/${id}`), 200);
    expect((await remove(customerId)).status).toBe(200);
    await app.operate(async (ctx) =>
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: app.platform.id, accountIds: [id] }),
    );
    await app.settle();
    expect(await statusOf(id)).toBe('PENDING');
    await expect(deposit(id, 1n)).rejects.toMatchObject(refusal);
  });

  it('stays when a deposit comes first, in the very same instant', async () => {
    const won = { deposit: 0, deletion: 0 };
    for (let round = 0; round < 20; round++) {
      const person = await customer(app);
      const { id } = await internalAccount(app, person.id, 'USD');
      const [gone, paid] = await Promise.all([
        remove(person.id),
        deposit(id, 1n).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject(refusal);
            return false;
          },
        ),
      ]);
      expect([200, 409]).toContain(gone.status);
      expect(paid).toBe(gone.status === 409);
      won[paid ? 'deposit' : 'deletion']++;
    }
    expect(won.deposit + won.deletion).toBe(20);
    await booksBalance(app);
  });
});
