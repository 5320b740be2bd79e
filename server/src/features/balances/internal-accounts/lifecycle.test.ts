// Effect of each account state. New payments, sandbox funding and unforced transfers require an
// active account. Payments in progress continue. Refunds and returns are credited.
import { describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  fundAccount,
  ok,
  quoteBody,
  readBalances,
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

const transition = (id: string, event: InternalAccountEvent) =>
  app.operate(async (ctx) => {
    const row = await ctx.read(internalAccounts, id);
    if (!row) throw new Error(`The account ${id} does not exist.`);
    return transitionInternalAccount(ctx, row, event);
  });

const isFrozen = async (id: string) => (await app.runtime.db.read(ledgerAccounts, id))?.frozen;

const statusOf = async (id: string) =>
  ok(await app.call('GET', `/internal-accounts/${id}`), 200).status as string;

/** Number of status events of the account, and the latest status and balance. */
async function readStatusEvents(id: string) {
  const emittedEvents = (await app.events()).filter(
    (each) => each.subject === id && each.type === STATUS_UPDATED,
  );
  return {
    times: emittedEvents.length,
    last: emittedEvents.at(-1)?.data.status,
    balance: emittedEvents.at(-1)?.balance,
  };
}

/** A transfer from the system account, without the checks of handlers. */
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

const rejection = {
  code: 'INVALID_INPUT',
  message:
    'Transfers from and to the account are blocked. Check the status of the account and of its owner.',
};

async function openPendingAccount() {
  const person = await createCustomer(app, {}, { currencies: ['EUR'] });
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

describe('account with deferred provisioning', () => {
  it('rejects deposits until it is provisioned, and emits an event at activation', async () => {
    const id = await openPendingAccount();
    expect(await isFrozen(id)).toBe(true);
    await expect(deposit(id, 1n)).rejects.toMatchObject(rejection);
    await transition(id, 'provision');
    expect(await readStatusEvents(id)).toEqual({ times: 1, last: 'ACTIVE', balance: 0n });
    await deposit(id, 1n);
    expect(await readBalances(app, id)).toEqual({ balance: 1, total: 1 });
  });

  it('remains frozen after a failed provisioning until a retry succeeds', async () => {
    const id = await openPendingAccount();
    await transition(id, 'fail');
    expect(await readStatusEvents(id)).toMatchObject({ times: 1, last: 'FAILED' });
    await expect(deposit(id, 1n)).rejects.toMatchObject(rejection);
    await transition(id, 'retry');
    expect(await readStatusEvents(id)).toMatchObject({ times: 2, last: 'PENDING' });
    await expect(deposit(id, 1n)).rejects.toMatchObject(rejection);
    await app.operate(async (ctx) =>
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: app.platform.id, accountIds: [id] }),
    );
    await app.settle();
    expect(await readStatusEvents(id)).toMatchObject({ times: 3, last: 'ACTIVE' });
    await deposit(id, 1n);
  });
});

describe('frozen account', () => {
  it('rejects sandbox funding and payments in both directions until it is unfrozen', async () => {
    const { person, account } = await createFundedCustomer(app);
    const otherCustomer = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'EUR');
    const createQuote = async (from: string, to: string) =>
      ok(await app.call('POST', '/quotes', quoteBody(from, to, 10_00)), 201).id as string;
    const quotes = await Promise.all([
      createQuote(account.id, payee.id),
      createQuote(account.id, otherCustomer.account.id),
      createQuote(otherCustomer.account.id, account.id),
    ]);
    await transition(account.id, 'freeze');
    expect(await readStatusEvents(account.id)).toEqual({
      times: 1,
      last: 'FROZEN',
      balance: 1_000_00n,
    });
    for (const id of quotes) {
      const response = await app.call('POST', `/quotes/${id}/execute`);
      expect([response.status, response.body.code]).toEqual([400, 'INVALID_INPUT']);
    }
    const path = `/sandbox/internal-accounts/${account.id}/fund`;
    expect((await app.call('POST', path, { amount: 1 })).status).toBe(400);
    const rejectedResponse = await app.call(
      'POST',
      '/quotes',
      quoteBody(account.id, payee.id, 10_00),
    );
    expect([rejectedResponse.status, rejectedResponse.body.code]).toEqual([400, 'INVALID_INPUT']);
    expect(await readBalances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    expect(await readBalances(app, otherCustomer.account.id)).toMatchObject({ balance: 1_000_00 });
    await transition(account.id, 'unfreeze');
    expect(await readStatusEvents(account.id)).toMatchObject({ times: 2, last: 'ACTIVE' });
    for (const id of quotes) ok(await app.call('POST', `/quotes/${id}/execute`), 200);
    await fundAccount(app, account.id, 1);
    await expectBalancedBooks(app);
  });

  it('rejects a deposit at commit unless it is forced', async () => {
    const { account } = await createFundedCustomer(app);
    await transition(account.id, 'freeze');
    await expect(deposit(account.id, 1n)).rejects.toMatchObject(rejection);
    await deposit(account.id, 1n, true);
    expect(await readBalances(app, account.id)).toMatchObject({ total: 1_000_01 });
  });

  const pay = async (suffix: string) => {
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'EUR', suffix);
    const body = quoteBody(account.id, payee.id, 250_00);
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    ok(await app.call('POST', `/quotes/${quote.id}/execute`), 200);
    const getTransaction = async () =>
      ok(await app.call('GET', `/transactions/${quote.transactionId}`), 200);
    return { account, transaction: getTransaction };
  };

  it('completes a payment whose funds were held before the freeze', async () => {
    const { account, transaction } = await pay('000');
    await transition(account.id, 'freeze');
    await app.advance(60_000);
    expect((await transaction()).status).toBe('COMPLETED');
    expect(await readBalances(app, account.id)).toEqual({ balance: 750_00, total: 750_00 });
    await expectBalancedBooks(app);
  });

  it.each([
    ['that the bank rejected immediately', '002'],
    ['that the bank rejected later', '004'],
    ['that the bank returned', '005'],
  ])('receives the refund of a payment %s', async (_, suffix) => {
    const { account, transaction } = await pay(suffix);
    await transition(account.id, 'freeze');
    await app.advance(60_000);
    expect(await transaction()).toMatchObject({
      status: 'FAILED',
      refund: { status: 'COMPLETED' },
    });
    expect(await readBalances(app, account.id)).toEqual({ balance: 1_000_00, total: 1_000_00 });
    expect(await statusOf(account.id)).toBe('FROZEN');
    await expectBalancedBooks(app);
  });
});

describe('account closure', () => {
  it('requires a zero balance at commit', async () => {
    const { account } = await createFundedCustomer(app, 5_00);
    await expect(transition(account.id, 'close')).rejects.toMatchObject({ code: 'CONFLICT' });
    expect(await statusOf(account.id)).toBe('ACTIVE');
    expect(await readStatusEvents(account.id)).toMatchObject({ times: 0 });
  });

  it.each(['ACTIVE', 'FROZEN'])('is permanent from %s', async (from) => {
    const person = await createCustomer(app);
    const account = await findInternalAccount(app, person.id, 'USD');
    if (from === 'FROZEN') await transition(account.id, 'freeze');
    await transition(account.id, 'close');
    expect(await readStatusEvents(account.id)).toMatchObject({ last: 'CLOSED', balance: 0n });
    await expect(deposit(account.id, 1n)).rejects.toMatchObject(rejection);
    await expect(transition(account.id, 'unfreeze')).rejects.toThrow(
      'no transition unfreeze from CLOSED',
    );
  });
});

describe('undefined transition', () => {
  it('throws and leaves the account unchanged, by event or by row', async () => {
    const person = await createCustomer(app);
    const { id } = await findInternalAccount(app, person.id, 'USD');
    await expect(transition(id, 'provision')).rejects.toThrow(
      'no transition provision from ACTIVE',
    );
    const invalidUpdate = app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      if (row) ctx.update(internalAccounts, row, { status: 'FAILED' });
    });
    await expect(invalidUpdate).rejects.toThrow('has no transition from ACTIVE to FAILED');
    expect(await statusOf(id)).toBe('ACTIVE');
    expect(await eventTypes(app, id)).not.toContain(STATUS_UPDATED);
  });
});

describe('reason', () => {
  it('is recorded with the transition', async () => {
    const person = await createCustomer(app);
    const { id } = await findInternalAccount(app, person.id, 'USD');
    await app.operate(async (ctx) => {
      const row = await ctx.read(internalAccounts, id);
      const cause = { actor: 'operator', reason: 'Requested by the bank' };
      if (row) transitionInternalAccount(ctx, row, 'freeze', cause);
    });
    await transition(id, 'unfreeze');
    expect(await accountActionsOf(app.runtime, id)).toMatchObject([
      { actor: 'operator', action: 'freeze', reason: 'Requested by the bank' },
    ]);
  });
});

describe('deletion of a customer', () => {
  const remove = (id: string) => app.call('DELETE', `/customers/${id}`);

  it('blocks deposits at commit, also from handlers with an outdated read', async () => {
    const person = await createCustomer(app);
    const { id } = await findInternalAccount(app, person.id, 'USD');
    expect((await remove(person.id)).status).toBe(200);
    await expect(deposit(id, 1n)).rejects.toMatchObject(rejection);
  });

  it('cancels provisioning of pending accounts', async () => {
    const id = await openPendingAccount();
    const { customerId } = ok(await app.call('GET', `/internal-accounts/${id}`), 200);
    expect((await remove(customerId)).status).toBe(200);
    await app.operate(async (ctx) =>
      ctx.later(ACTIVATE_ACCOUNTS, { platformId: app.platform.id, accountIds: [id] }),
    );
    await app.settle();
    expect(await statusOf(id)).toBe('PENDING');
    await expect(deposit(id, 1n)).rejects.toMatchObject(rejection);
  });

  it('is rejected if a concurrent deposit commits first', async () => {
    const winCounts = { deposit: 0, deletion: 0 };
    for (let round = 0; round < 20; round++) {
      const person = await createCustomer(app);
      const { id } = await findInternalAccount(app, person.id, 'USD');
      const [deletedResponse, isDeposited] = await Promise.all([
        remove(person.id),
        deposit(id, 1n).then(
          () => true,
          (error: unknown) => {
            expect(error).toMatchObject(rejection);
            return false;
          },
        ),
      ]);
      expect([200, 409]).toContain(deletedResponse.status);
      expect(isDeposited).toBe(deletedResponse.status === 409);
      winCounts[isDeposited ? 'deposit' : 'deletion']++;
    }
    expect(winCounts.deposit + winCounts.deletion).toBe(20);
    await expectBalancedBooks(app);
  });
});
