// Deposits of a production platform, recorded manually from a bank statement.
import { describe, expect, it } from 'vitest';
import {
  balances,
  customer,
  externalAccount,
  internalAccount,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import { DAY, startProduction } from '../../../test/kit/app/production.ts';
import { opened } from '../../../test/kit/app/test-app.ts';
import { PENDING_REASONS } from '../../features/payments/pay-ins/deposit.ts';

const DEPOSIT = 'REALTIME_FUNDING';

/** The list's entries for an account. */
async function heldOn(accountId: string) {
  const all: { accountId: string }[] = await shop.json('deposits', 'list', '--limit', '1000');
  // biome-ignore lint/suspicious/noExplicitAny: checked by assertions.
  return all.filter((each) => each.accountId === accountId) as any[];
}

const BACK = ['--reason', 'PAYOUT_RETURNED'];

const shop = opened(startProduction);

describe('a deposit', () => {
  it('is recorded once for one entry of the statement', async () => {
    const { account } = await shop.payer();
    const entry = ['deposits', 'record', '--account', account, '--currency', 'USD'];
    const same = [...entry, '--amount', '12.50', '--reference', 'WIRE-1', '--rail', 'WIRE'];
    const from = ['--sender-name', 'Ada Lovelace', '--sender-account', '****1234'];
    const first = await shop.json(...same, ...from);
    expect(first).toMatchObject({ type: 'INCOMING', status: 'COMPLETED', recorded: 'now' });
    expect(await shop.json(...same, ...from)).toEqual({ ...first, recorded: 'before' });
    expect(await balances(shop.app, account, shop.as)).toEqual({ balance: 12_50, total: 12_50 });
    await shop.rejected(
      'already recorded',
      ...[...entry, '--amount', '12.51', '--reference', 'WIRE-1', '--rail', 'WIRE'],
    );
    const { body } = await shop.app.call(
      'GET',
      `/transactions/${first.transactionId}`,
      undefined,
      shop.as,
    );
    expect(body.source).toMatchObject({
      ...{ accountHolderName: 'Ada Lovelace', accountIdentifier: '****1234', paymentRail: 'WIRE' },
      traceNumber: 'WIRE-1',
    });
    const both = await Promise.all(
      [1, 2, 3].map(() => shop.run(...entry, '--amount', '1', '--reference', 'W2')),
    );
    expect(both.map((each) => each.code)).toEqual([0, 0, 0]);
    expect((await balances(shop.app, account, shop.as)).total).toBe(13_50);
  });

  it.each([
    [['--amount', '1.001'], 2, 'decimals'],
    [['--amount', '0'], 2, '--amount'],
    [['--currency', 'XXX'], 2, 'is not a supported currency'],
    [['--currency', 'EUR'], 1, 'The account is denominated in USD.'],
    [
      ['--account', 'InternalAccount:018f0000-0000-7000-8000-000000000000'],
      1,
      'Account not found.',
    ],
    [['--payment-reference', 'RH1'], 2, 'Either --account or --payment-reference'],
    [['--hash', '0x1'], 2, '--hash and --network must be used together'],
  ])('is rejected: %j', async (more, code, args) => {
    const { account } = await shop.payer();
    const usual = { '--amount': '1.00', '--currency': 'USD', '--account': account };
    const input = { ...usual, [more[0] as string]: more[1] as string };
    const result = await shop.run(
      ...['deposits', 'record', '--reference', `BAD-${more.join()}`],
      ...Object.entries(input).flat(),
    );
    expect(result.err).toContain(args);
    expect(result.code).toBe(code);
    expect((await balances(shop.app, account, shop.as)).total).toBe(0);
  });

  it('may be recalled by the bank', async () => {
    const { account } = await shop.payer();
    const { transactionId: id } = await shop.json(
      ...['deposits', 'record', '--account', account, '--amount', '20', '--currency', 'USD'],
      ...['--reference', 'ACH-BACK'],
    );
    await shop.rejected('COMPLETED', 'deposits', 'release', id);
    await shop.rejected('COMPLETED', 'deposits', 'reject', id);
    await shop.app.advance(2 * DAY);
    expect(await shop.json('deposits', 'return', id)).toMatchObject({ status: 'FAILED' });
    expect((await balances(shop.app, account, shop.as)).total).toBe(0);
    await shop.rejected('FAILED', 'deposits', 'return', id);
  });

  it('is returned manually if it arrives too late for its quote', async () => {
    const { person } = await shop.payer();
    const to = await shop.payee(person.id);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const requested = { ...quoteBody('', to, 30_00), source };
    const quote = ok(await shop.app.call('POST', '/quotes', requested, shop.as), 201);
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    await shop.app.advance(3_600_000);
    const { transactionId: id } = await shop.json(
      ...['deposits', 'record', '--payment-reference', reference, '--amount', '30'],
      ...['--currency', 'USD', '--reference', 'LATE-1', '--sender-account', '****9'],
    );
    await shop.app.settle();
    expect(await shop.status(id)).toBe('FAILED PENDING COLLECTION_FAILED');
    const [back] = await shop.queue(id);
    expect(back).toMatchObject({ kind: 'refund', amount: 30_00, currency: 'USD' });
    expect(back.account.accountIdentifier).toBe('****9');
    await shop.json('payouts', 'settle', id, '--reference', 'LATE-BACK');
    expect(await shop.status(id)).toBe('FAILED COMPLETED COLLECTION_FAILED');
    expect(await shop.queue(id)).toEqual([]);
  });

  it('is held on a frozen account until the operator releases or returns it', async () => {
    const { account } = await shop.payer();
    await shop.json('accounts', 'freeze', account, '--reason', 'A test');
    const record = async (reference: string) => {
      const entry = ['--account', account, '--amount', '5.00', '--currency', 'USD'];
      const made = await shop.json('deposits', 'record', ...entry, '--reference', reference);
      expect(made).toMatchObject({ status: 'PENDING', pendingReason: 'COMPLIANCE_REVIEW' });
      return made.transactionId as string;
    };
    const [stored, rejected] = [await record('FROZEN-1'), await record('FROZEN-2')];
    expect(await shop.json('deposits', 'release', stored)).toMatchObject({ status: 'COMPLETED' });
    expect(await shop.json('deposits', 'reject', rejected)).toMatchObject({ status: 'FAILED' });
    await shop.app.settle();
    expect((await shop.queue(rejected))[0]).toMatchObject({ kind: 'refund', amount: 5_00 });
    await shop.json('payouts', 'settle', rejected);
    expect(await balances(shop.app, account, shop.as)).toEqual({ balance: 5_00, total: 5_00 });
  });

  it('may be a debit or a payment that arrived after the freeze', async () => {
    const { person, account } = await shop.payer();
    const from = await externalAccount(shop.app, person.id, 'USD', '000', shop.as);
    const debited = async () => {
      const ends = { source: { accountId: from.id }, destination: { accountId: account } };
      const body = { ...ends, amount: 40_00 };
      const row = ok(await shop.app.call('POST', '/transfer-in', body, shop.as), 201);
      await shop.app.settle();
      return row.id as string;
    };
    const all = [await debited(), await debited(), await debited(), await debited()] as const;
    const [stored, rejected, returned, mistaken] = all;
    await shop.rejected('The transaction is not a deposit.', 'deposits', 'release', stored);
    await shop.json('accounts', 'freeze', account, '--reason', 'A test');
    for (const id of all) await shop.json('payouts', 'settle', id);
    expect(await balances(shop.app, account, shop.as)).toEqual({ balance: 0, total: 160_00 });
    expect((await heldOn(account)).map((each) => each.transactionId).sort()).toEqual(
      [...all].sort(),
    );
    const cancel = `/transactions/${stored}/cancel`;
    expect((await shop.app.call('POST', cancel, undefined, shop.as)).status).toBe(409);
    await shop.rejected(
      'No result is expected',
      'payouts',
      'fail',
      stored,
      '--reason',
      'ACCOUNT_INVALID',
    );
    expect(await shop.json('deposits', 'release', stored)).toMatchObject({ status: 'COMPLETED' });
    expect(await shop.json('deposits', 'reject', rejected)).toMatchObject({ status: 'FAILED' });
    await shop.app.settle();
    const [back] = await shop.queue(rejected);
    expect(back).toMatchObject({ kind: 'refund', amount: 40_00, currency: 'USD' });
    expect(back.account.routingNumber).toBe('021000021');
    await shop.json('payouts', 'settle', rejected);
    const message = ['--reason', 'PAYOUT_RETURNED'];
    await shop.json('payouts', 'return', returned, ...message);
    expect(await shop.status(returned)).toBe('FAILED - COLLECTION_FAILED');
    expect(await shop.json('deposits', 'return', mistaken)).toMatchObject({ status: 'FAILED' });
    expect(await balances(shop.app, account, shop.as)).toEqual({ balance: 40_00, total: 40_00 });
    await shop.json('payouts', 'return', stored, ...message);
    expect((await balances(shop.app, account, shop.as)).total).toBe(0);
  });

  it('is held for the given reason', async () => {
    const { account } = await shop.payer();
    const entry = ['--account', account, '--amount', '5.00', '--currency', 'USD'];
    for (const reason of PENDING_REASONS) {
      const more = ['--reference', `HOLD-${reason}`, '--hold', reason];
      const made = await shop.json('deposits', 'record', ...entry, ...more);
      expect(made).toMatchObject({ status: 'PENDING', pendingReason: reason });
    }
    expect(await balances(shop.app, account, shop.as)).toEqual({ balance: 0, total: 20_00 });
    const quoted = ['--payment-reference', `RH${'0'.repeat(32)}`, ...entry.slice(2)];
    const result = await shop.run(
      ...['deposits', 'record', ...quoted, '--reference', 'X', '--hold', 'COMPLIANCE_REVIEW'],
    );
    expect([result.code, result.err]).toEqual([
      2,
      expect.stringContaining('--hold requires --account'),
    ]);
  });

  it('is decided and recalled in the sandbox too', async () => {
    const person = await customer(shop.app);
    const account = await internalAccount(shop.app, person.id, 'USD');
    const held = async () => {
      const body = { amount: 7_00, pendingReason: 'COMPLIANCE_REVIEW' };
      const url = `/sandbox/internal-accounts/${account.id}/fund`;
      ok(await shop.app.call('POST', url, body), 200);
      const query = `/transactions?accountIdentifier=${account.id}&status=PENDING`;
      return ok(await shop.app.call('GET', query), 200).data[0].id as string;
    };
    const stored = await held();
    expect(await shop.json('deposits', 'release', stored)).toMatchObject({ status: 'COMPLETED' });
    await shop.json('deposits', 'reject', await held());
    await shop.app.settle();
    expect(await balances(shop.app, account.id)).toEqual({ balance: 7_00, total: 7_00 });
    const to = await externalAccount(shop.app, person.id, 'USD');
    const ends = { source: { accountId: account.id }, destination: { accountId: to.id } };
    ok(await shop.app.call('POST', '/transfer-out', { ...ends, amount: 5_00 }), 201);
    await shop.app.settle();
    expect(await shop.json('deposits', 'return', stored)).toMatchObject({ status: 'FAILED' });
    await shop.rejected('it is FAILED', 'deposits', 'return', stored);
    const query = ['accounts', 'list', '--owing', '--platform', shop.app.platform.id];
    expect(await shop.json(...query)).toMatchObject([{ accountId: account.id, owed: 5_00 }]);
    expect((await balances(shop.app, account.id)).total).toBe(0);
  });

  it('may be a sandbox debit that its bank recalls', async () => {
    const person = await customer(shop.app);
    const account = await internalAccount(shop.app, person.id, 'USD');
    const from = await externalAccount(shop.app, person.id, 'USD');
    const ends = { source: { accountId: from.id }, destination: { accountId: account.id } };
    const body = { ...ends, amount: 40_00 };
    const { id } = ok(await shop.app.call('POST', '/transfer-in', body), 201);
    await shop.rejected(
      'Only a settled transfer can be returned',
      'payouts',
      'return',
      id,
      ...BACK,
    );
    await shop.app.settle();
    expect((await balances(shop.app, account.id)).total).toBe(40_00);
    expect(await shop.json('payouts', 'return', id, ...BACK)).toMatchObject({ status: 'FAILED' });
    expect((await balances(shop.app, account.id)).total).toBe(0);
    await shop.rejected('is in the sandbox', 'payouts', 'settle', id);
  });

  it('is recalled from its payer, not from the payee of a later payment', async () => {
    const { person, account } = await shop.payer();
    const payee = await shop.payer();
    const to = await internalAccount(shop.app, payee.person.id, 'EUR', shop.as);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const requested = { ...quoteBody('', to.id, 100_00), source };
    const quote = ok(await shop.app.call('POST', '/quotes', requested, shop.as), 201);
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    const id = quote.transactionId as string;
    await shop.rejected('The transaction is not a deposit.', 'deposits', 'return', id);
    await shop.json(
      ...['deposits', 'record', '--payment-reference', reference, '--amount', '100.00'],
      ...['--currency', 'USD', '--reference', 'INSIDE-1', '--rail', 'RTP'],
    );
    expect(await shop.status(id)).toBe('COMPLETED - -');
    const query = `/transactions?accountIdentifier=${to.id}&type=INCOMING`;
    const [counterparty] = ok(await shop.app.call('GET', query, undefined, shop.as), 200).data;
    expect(counterparty.source.sourceType).toBe('REALTIME_FUNDING');
    await shop.rejected(quote.id, 'deposits', 'return', counterparty.id);
    const received = { balance: 91_08, total: 91_08 };
    expect(await balances(shop.app, to.id, shop.as)).toEqual(received);
    expect(await shop.json('deposits', 'return', id)).toMatchObject({ status: 'COMPLETED' });
    await shop.rejected('The return is already recorded.', 'deposits', 'return', id);
    expect(await balances(shop.app, to.id, shop.as)).toEqual(received);
    const [owing] = await shop.app.runtime.db.query<{ owed: bigint }>(
      'select owed from internal_accounts where id = $1',
      [account],
    );
    expect(owing?.owed).toBe(100_00n);
  });

  it('funds a pending quote', async () => {
    const { person } = await shop.payer();
    const to = await shop.payee(person.id);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const requested = { ...quoteBody('', to, 100_00), source };
    const quote = ok(await shop.app.call('POST', '/quotes', requested, shop.as), 201);
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    const entry = ['deposits', 'record', '--payment-reference', reference, '--currency', 'USD'];
    await shop.json(...entry, '--amount', '100.00', '--reference', 'RTP-1', '--rail', 'RTP');
    await shop.app.settle();
    const id = quote.transactionId;
    expect((await shop.queue(id))[0]).toMatchObject({ kind: 'payout', amount: 91_08 });
    await shop.json('payouts', 'fail', id, '--reason', 'ACCOUNT_CANNOT_RECEIVE');
    await shop.app.settle();
    // It was paid in from outside, so a bank has to return it.
    expect((await shop.queue(id))[0]).toMatchObject({
      kind: 'refund',
      amount: 100_00,
      currency: 'USD',
    });
    await shop.json('payouts', 'settle', id, '--reference', 'RTP-BACK');
    expect(await shop.status(id)).toBe('FAILED COMPLETED ACCOUNT_CANNOT_RECEIVE');
    await shop.rejected(
      'Payment reference not found.',
      ...entry.with(3, `RH${'0'.repeat(32)}`),
      '--amount',
      '1',
      '--reference',
      'X',
    );
  });

  it('is listed for as long as it is held, the oldest first', async () => {
    const { account } = await shop.payer();
    await shop.json('accounts', 'freeze', account, '--reason', 'A test');
    const ids: string[] = [];
    for (const reference of ['LIST-1', 'LIST-2']) {
      const entry = ['--account', account, '--amount', '5.25', '--currency', 'USD'];
      const made = await shop.json('deposits', 'record', ...entry, '--reference', reference);
      ids.push(made.transactionId);
      await shop.app.advance(1_000);
    }
    const before = await heldOn(account);
    expect(before).toMatchObject([
      { transactionId: ids[0], reason: 'COMPLIANCE_REVIEW', readable: '5.25', source: DEPOSIT },
      { transactionId: ids[1], platformId: shop.shop.id, currency: 'USD', accountId: account },
    ]);
    expect(Date.parse(before[1].since) - Date.parse(before[0].since)).toBe(1_000);
    // After a month a frozen account still holds it, and it is still listed.
    await shop.app.advance(31 * DAY);
    await shop.app.settle();
    expect(await heldOn(account)).toEqual(before);
    const first = await shop.json('deposits', 'list', '--limit', '1');
    expect(first).toHaveLength(1);
    const shown = await shop.run('deposits', 'list', '--platform', shop.shop.id);
    expect(shown.out).toContain(ids[0]);
    expect(await shop.json('deposits', 'list', '--platform', shop.app.other.id)).toEqual([]);
    await shop.json('deposits', 'release', ids[0] as string);
    await shop.json('deposits', 'reject', ids[1] as string);
    expect(await heldOn(account)).toEqual([]);
  });
});
