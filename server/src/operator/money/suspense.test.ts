// Suspense items and their decisions, in the sandbox and in production. An item is a failed refund of
// a balance or of external funds, or a shortfall after a reversed debit.
import { beforeAll, describe, expect, it } from 'vitest';
import { expectBalancedBooks } from '../../../test/kit/app/books.ts';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  eventTypes,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';

const service = openForFile(startProduction);

/** The list's entries for a transaction. */
async function listItems(id: string, ...flags: string[]) {
  const allItems: { transactionId: string }[] = await service.runJson('suspense', 'list', ...flags);
  // biome-ignore lint/suspicious/noExplicitAny: checked by assertions.
  return allItems.filter((each) => each.transactionId === id) as any[];
}

async function readSuspense(currency: string, environment = 'production'): Promise<bigint> {
  const id = `system:${environment}:suspense:${currency}`;
  const [row] = await service.app.runtime.db.query(
    'select balance from ledger_accounts where id = $1',
    [id],
  );
  return row?.balance as bigint;
}

const decisionOf = async (id: string) => {
  const text = 'select reference, reason from rail_results where id like $1';
  const [row] = await service.app.runtime.db.query(text, [`${id}/suspense/%`]);
  return row;
};

/** A production payment of 100.00 USD whose refund has failed. */
async function createSuspensePayment() {
  const createdPayment = await service.createPayment();
  const failureFlags = ['--reason', 'COMPLIANCE_REJECTED', '--not-refundable'];
  await service.runJson('payouts', 'fail', createdPayment.id, ...failureFlags);
  await service.app.settle();
  expect(await service.readStatus(createdPayment.id)).toBe('FAILED FAILED COMPLIANCE_REJECTED');
  return createdPayment;
}

describe('a sandbox payment whose refund fails', () => {
  /**
   * A failed payment with a platform fee of 0.80 USD. The fee is earned before the payment fails.
   */
  async function createSuspenseItem() {
    const { app } = service;
    const { person, account } = await createFundedCustomer(app);
    const to = await createExternalAccount(app, person.id, 'EUR', '007');
    const fee = { platformFixedFee: { amount: 80, currency: 'USD' }, platformVariableFeeBps: 0 };
    const overrides = { immediatelyExecute: true, platformFeeOverride: fee };
    const body = quoteBody(account.id, to.id, 100_00, overrides);
    const { transactionId } = ok(await app.call('POST', '/quotes', body), 201);
    await app.advance(60_000);
    return { id: transactionId as string, account: account.id as string };
  }

  it('is refunded externally if the paying account is closed by then', async () => {
    const { app } = service;
    const { person, account } = await createFundedCustomer(app, 100_00);
    const to = await createExternalAccount(app, person.id, 'EUR', '005');
    const body = quoteBody(account.id, to.id, 100_00, { immediatelyExecute: true });
    const { transactionId: id } = ok(await app.call('POST', '/quotes', body), 201);
    await app.settle();
    await service.runJson('accounts', 'close', account.id);
    await app.advance(60_000);
    expect(await listItems(id)).toMatchObject([{ to: 'outside', outside: null, amount: 100_00 }]);
    await service.expectRejected('with the bank reference', 'suspense', 'return', id);
    const returnedOutput = await service.runJson('suspense', 'return', id, '--reference', 'WIRE-7');
    expect(returnedOutput).toMatchObject({ refund: 'COMPLETED', funds: 'RETURNED' });
    expect((await readBalances(app, account.id)).total).toBe(0);
    expect(await listItems(id)).toEqual([]);
  });

  it('is listed, and returned in full, once', async () => {
    const balanceBefore = await readSuspense('USD', 'sandbox');
    const { id, account } = await createSuspenseItem();
    expect((await readSuspense('USD', 'sandbox')) - balanceBefore).toBe(100_00n);
    const [suspenseItem] = await listItems(id);
    expect(suspenseItem).toMatchObject({
      ...{ environment: 'sandbox', platformId: service.app.platform.id, type: 'OUTGOING' },
      ...{ status: 'FAILED', amount: 100_00, readable: '100.00', currency: 'USD' },
      ...{ to: account, outside: null },
    });
    expect(await service.runJson('payouts', 'list')).toEqual([]);
    const output = (await service.run('suspense', 'list')).out;
    expect(output).toMatch(/^SINCE +TRANSACTION +ENVIRONMENT +AMOUNT +CURRENCY +REASON +TO\n/);
    expect(output).toContain(account);

    await service.expectRejected(
      'Do not send them manually',
      ...['suspense', 'return', id, '--reference', 'WIRE-1'],
    );
    const eventCountBefore = (await service.app.events()).length;
    expect(await service.runJson('suspense', 'return', id, '--reason', 'Cleared')).toEqual({
      platformId: service.app.platform.id,
      ...{ transactionId: id, status: 'FAILED', refund: 'COMPLETED', funds: 'RETURNED' },
    });
    expect((await service.app.events()).slice(eventCountBefore).map((each) => each.type)).toEqual([
      'INTERNAL_ACCOUNT.BALANCE_UPDATED',
      'OUTGOING_PAYMENT.REFUND_COMPLETED',
    ]);
    expect((await eventTypes(service.app, id)).slice(-3)).toEqual(
      ['PENDING', 'FAILED', 'COMPLETED'].map((each) => `OUTGOING_PAYMENT.REFUND_${each}`),
    );
    expect(await readBalances(service.app, account)).toEqual({
      balance: 1_000_00,
      total: 1_000_00,
    });
    expect(await readSuspense('USD', 'sandbox')).toBe(balanceBefore);
    const { body } = await service.app.call('GET', `/transactions/${id}`);
    expect(body.refund).toMatchObject({ status: 'COMPLETED', settledAt: expect.any(String) });
    expect(await listItems(id)).toEqual([]);
    expect(await decisionOf(id)).toEqual({ reference: null, reason: 'Cleared' });
    await service.expectRejected(
      'The transaction has no funds in suspense. It is FAILED, and its refund is COMPLETED.',
      ...['suspense', 'return', id],
    );
    expect((await readBalances(service.app, account)).total).toBe(1_000_00);
    await expectBalancedBooks(service.app);
  });

  it('is returned once by concurrent decisions', async () => {
    const { id, account } = await createSuspenseItem();
    const replies = await Promise.all([1, 2].map(() => service.run('suspense', 'return', id)));
    expect(replies.map((each) => each.code).sort()).toEqual([0, 1]);
    expect((await readBalances(service.app, account)).total).toBe(1_000_00);
  });

  it('is listed oldest first, of one platform, and of one environment', async () => {
    const firstPayment = await createSuspenseItem();
    const secondPayment = await createSuspenseItem();
    const listIds = async (...flags: string[]) =>
      (await service.runJson('suspense', 'list', ...flags)).map(
        (each: { transactionId: string }) => each.transactionId,
      );
    expect(await listIds()).toEqual([firstPayment.id, secondPayment.id]);
    expect(await listIds('--limit', '1')).toEqual([firstPayment.id]);
    expect(await listIds('--environment', 'production')).toEqual([]);
    expect(await listIds('--platform', service.platform.id)).toEqual([]);
    expect(await listIds('--platform', service.app.platform.id)).toEqual([
      firstPayment.id,
      secondPayment.id,
    ]);
    expect((await service.run('suspense', 'list', '--limit', '0')).code).toBe(2);
    await service.expectRejected(
      'Platform not found.',
      'suspense',
      'list',
      '--platform',
      'PlatformConfig:x',
    );
    for (const { id } of [firstPayment, secondPayment])
      await service.runJson('suspense', 'return', id);
  });
});

describe('a production payment whose refund fails', () => {
  it("first repays its owner's debt, and is credited to a frozen account", async () => {
    const { id, account, person } = await createSuspensePayment();
    const deposits = await service.app.runtime.db.query<{ id: string }>(
      "select id from transactions where type = 'INCOMING' and customer_id = $1",
      [person.id],
    );
    // The bank reverses the deposit of 1,000.00, of which 900.00 remain.
    await service.runJson('deposits', 'return', deposits[0]?.id as string);
    await service.runJson('accounts', 'freeze', account, '--reason', 'A test');
    const listOwing = () =>
      service.runJson('accounts', 'list', '--owing', '--platform', service.platform.id);
    expect(await listOwing()).toMatchObject([{ accountId: account, owed: 100_00, balance: 0 }]);
    await service.runJson('suspense', 'return', id);
    expect(await listOwing()).toEqual([]);
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 0,
      total: 0,
    });
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED COMPLIANCE_REJECTED');
    expect(await readSuspense('USD')).toBe(0n);
  });

  it('prevents closing its account until it is decided', async () => {
    const { id, account } = await createSuspensePayment();
    await service.expectRejected('is in progress', 'accounts', 'close', account);
    await service.runJson('suspense', 'return', id);
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 1_000_00,
      total: 1_000_00,
    });
  });
});

describe('external funds that could not be returned', () => {
  it('are sent manually, with the reference of the bank', async () => {
    const { person } = await service.createPayer();
    const to = await service.createPayee(person.id);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const quoteRequest = { ...quoteBody('', to, 30_00), source };
    const quote = ok(
      await service.app.call('POST', '/quotes', quoteRequest, service.callOptions),
      201,
    );
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    await service.app.advance(3_600_000);
    const { transactionId: id } = await service.runJson(
      ...['deposits', 'record', '--payment-reference', reference, '--amount', '30'],
      ...['--currency', 'USD', '--reference', 'LATE-2', '--sender-account', '****8'],
    );
    await service.app.settle();
    await service.runJson('payouts', 'fail', id, '--reason', 'ACCOUNT_INVALID');
    expect(await service.readStatus(id)).toBe('FAILED FAILED COLLECTION_FAILED');
    expect(await listItems(id)).toMatchObject([
      { type: 'INCOMING', amount: 30_00, to: 'outside', outside: { accountIdentifier: '****8' } },
    ]);
    expect((await service.run('suspense', 'list')).out).toContain('accountIdentifier=****8');
    await service.expectRejected(
      'The funds return to an external account',
      'suspense',
      'return',
      id,
    );
    const returnCommand = ['suspense', 'return', id, '--reference', 'CHEQUE-1'];
    expect(await service.runJson(...returnCommand)).toMatchObject({
      refund: 'COMPLETED',
      funds: 'RETURNED',
    });
    expect((await eventTypes(service.app, id)).at(-1)).toBe('INCOMING_PAYMENT.REFUND_COMPLETED');
    expect(await decisionOf(id)).toEqual({ reference: 'CHEQUE-1', reason: null });
    const postings = (await service.run('ledger', 'postings', id)).out;
    expect(postings).toMatch(/ resolve +\S+:suspense:USD +\S+:rail_in_transit:USD +30\.00 /);
    await service.expectRejected('The transaction has no funds in suspense', ...returnCommand);
    expect(await readSuspense('USD')).toBe(0n);
  });
});

describe('a digital asset that was paid in and cannot be returned', () => {
  /** A sandbox payment that is funded with 100 USDC and fails at the account of the payee. */
  async function createSuspenseItem(isAccountClosed: boolean) {
    const { app } = service;
    const person = await createCustomer(app);
    const to = await createExternalAccount(app, person.id, 'EUR', '007');
    const request = { sourceType: 'REALTIME_FUNDING', currency: 'USDC', cryptoNetwork: 'SOLANA' };
    const source = { ...request, customerId: person.id };
    const body = { ...quoteBody('', to.id, 100_000_000), source };
    const quote = ok(await app.call('POST', '/quotes', body), 201);
    const ownInternalAccount = await findInternalAccount(app, person.id, 'USDC');
    const funds = { quoteId: quote.id, currencyCode: 'USDC' };
    ok(await app.call('POST', '/sandbox/send', funds), 200);
    await app.advance(60_000);
    if (isAccountClosed) await service.runJson('accounts', 'close', ownInternalAccount.id);
    return { id: quote.transactionId as string, accountId: ownInternalAccount.id as string };
  }

  it('is credited to the balance of its owner', async () => {
    const { id, accountId } = await createSuspenseItem(false);
    expect(await listItems(id)).toMatchObject([
      { amount: 100_000_000, to: accountId, outside: null },
    ]);
    await service.runJson('suspense', 'return', id);
    expect((await readBalances(service.app, accountId)).balance).toBe(100_000_000);
    expect((await eventTypes(service.app, id)).at(-1)).toBe('OUTGOING_PAYMENT.REFUND_COMPLETED');
  });

  it('is sent manually if the account of its owner is closed', async () => {
    const { id, accountId } = await createSuspenseItem(true);
    expect(await listItems(id)).toMatchObject([{ amount: 100_000_000, to: 'outside' }]);
    await service.expectRejected(
      'The funds return to an external account',
      'suspense',
      'return',
      id,
    );
    await service.runJson('suspense', 'return', id, '--reference', '0xabc');
    expect((await readBalances(service.app, accountId)).total).toBe(0);
    expect(await readSuspense('USDC', 'sandbox')).toBe(0n);
  });
});

describe('a reversed debit of a payment', () => {
  let person: { id: string };
  let to: string;
  beforeAll(async () => {
    const createdPayer = await service.createPayer();
    person = createdPayer.person;
    to = await service.createPayee(person.id);
    const platformAccount = await findInternalAccount(
      service.app,
      null,
      'USD',
      service.callOptions,
    );
    for (const id of [createdPayer.account, platformAccount.id])
      await service.runJson('accounts', 'close', id);
  });

  /** A payment funded by a debit of 50.00 USD. No account can cover a return of the debit. */
  async function createDebit(): Promise<string> {
    const externalAccount = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const body = quoteBody(externalAccount.id, to, 50_00, { immediatelyExecute: true });
    const createdQuote = ok(
      await service.app.call('POST', '/quotes', body, service.callOptions),
      201,
    );
    await service.app.settle();
    await service.runJson('payouts', 'settle', createdQuote.transactionId);
    await service.app.settle();
    return createdQuote.transactionId;
  }

  const reverseDebit = (id: string) =>
    service.runJson('payouts', 'return', id, '--of', 'debit', '--reason', 'PAYOUT_RETURNED');

  it('is a shortfall until the funds are received', async () => {
    const id = await createDebit();
    await reverseDebit(id);
    // The payout of the payment is still pending.
    expect(await service.readQueue(id)).toMatchObject([{ kind: 'payout' }]);
    expect(await listItems(id)).toMatchObject([{ amount: -50_00, readable: '-50.00', to: null }]);
    expect((await service.run('suspense', 'list')).out).toMatch(
      /-50\.00 +USD +PROCESSING +missing\n/,
    );
    await service.runJson('payouts', 'settle', id);
    await service.expectRejected(
      'The transaction has no funds in suspense',
      'suspense',
      'return',
      id,
      '--reference',
      'X',
    );
    const settleCommand = ['suspense', 'settle', id, '--reference', 'WIRE-9'];
    expect(await service.runJson(...settleCommand)).toMatchObject({
      status: 'COMPLETED',
      refund: null,
    });
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    expect(await decisionOf(id)).toEqual({ reference: 'WIRE-9', reason: null });
    expect(await listItems(id)).toEqual([]);
    expect(await readSuspense('USD')).toBe(0n);
    await service.expectRejected('The transaction has no shortfall in suspense.', ...settleCommand);
  });

  it('leaves no funds to return if its funds were in suspense', async () => {
    const id = await createDebit();
    const failureFlags = ['--reason', 'COMPLIANCE_REJECTED', '--not-refundable'];
    await service.runJson('payouts', 'fail', id, ...failureFlags);
    await service.app.settle();
    const [item] = await listItems(id);
    expect(item).toMatchObject({ amount: 50_00, to: 'outside' });
    expect(item.outside).toMatchObject({ routingNumber: '021000021' });
    await reverseDebit(id);
    expect(await listItems(id)).toMatchObject([{ amount: 0, to: 'outside' }]);
    await service.expectRejected(
      'The transaction has no shortfall in suspense.',
      'suspense',
      'settle',
      id,
      '--reference',
      'X',
    );
    await service.runJson('suspense', 'return', id, '--reference', 'ACH-R10');
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED COMPLIANCE_REJECTED');
    expect(await readSuspense('USD')).toBe(0n);
  });
});
