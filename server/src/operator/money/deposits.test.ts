// Deposits of a production platform, recorded manually from a bank statement.
import { describe, expect, it } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  findInternalAccount,
  ok,
  quoteBody,
  readBalances,
} from '../../../test/kit/app/fixtures.ts';
import { DAY, startProduction } from '../../../test/kit/app/production.ts';
import { openForFile } from '../../../test/kit/app/test-app.ts';
import { PENDING_REASONS } from '../../features/payments/pay-ins/deposit.ts';

const DEPOSIT_SOURCE = 'REALTIME_FUNDING';

/** Held deposits of an account. */
async function listHeldDeposits(accountId: string) {
  const allDeposits: { accountId: string }[] = await service.runJson(
    'deposits',
    'list',
    '--limit',
    '1000',
  );
  // biome-ignore lint/suspicious/noExplicitAny: checked by assertions.
  return allDeposits.filter((each) => each.accountId === accountId) as any[];
}

const RETURN_FLAGS = ['--reason', 'PAYOUT_RETURNED'];

const service = openForFile(startProduction);

describe('a deposit', () => {
  it('is recorded once for one entry of the statement', async () => {
    const { account } = await service.createPayer();
    const entry = ['deposits', 'record', '--account', account, '--currency', 'USD'];
    const repeatedEntry = [
      ...entry,
      '--amount',
      '12.50',
      '--reference',
      'WIRE-1',
      '--rail',
      'WIRE',
    ];
    const senderFlags = ['--sender-name', 'Ada Lovelace', '--sender-account', '****1234'];
    const firstOutput = await service.runJson(...repeatedEntry, ...senderFlags);
    expect(firstOutput).toMatchObject({ type: 'INCOMING', status: 'COMPLETED', recorded: 'now' });
    expect(await service.runJson(...repeatedEntry, ...senderFlags)).toEqual({
      ...firstOutput,
      recorded: 'before',
    });
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 12_50,
      total: 12_50,
    });
    await service.expectRejected(
      'already recorded',
      ...[...entry, '--amount', '12.51', '--reference', 'WIRE-1', '--rail', 'WIRE'],
    );
    const { body } = await service.app.call(
      'GET',
      `/transactions/${firstOutput.transactionId}`,
      undefined,
      service.callOptions,
    );
    expect(body.source).toMatchObject({
      ...{ accountHolderName: 'Ada Lovelace', accountIdentifier: '****1234', paymentRail: 'WIRE' },
      traceNumber: 'WIRE-1',
    });
    const replies = await Promise.all(
      [1, 2, 3].map(() => service.run(...entry, '--amount', '1', '--reference', 'W2')),
    );
    expect(replies.map((each) => each.code)).toEqual([0, 0, 0]);
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(13_50);
  });

  it.each([
    [['--amount', '1.001'], 2, 'decimals'],
    [['--amount', '0'], 2, '--amount'],
    [['--currency', 'XXX'], 2, 'is not a supported currency'],
    [['--currency', 'EUR'], 1, 'The account is denominated in USD, not EUR.'],
    [
      ['--account', 'InternalAccount:018f0000-0000-7000-8000-000000000000'],
      1,
      'Account not found.',
    ],
    [['--payment-reference', 'RH1'], 2, 'Exactly one of --account and --payment-reference'],
    [['--hash', '0x1'], 2, '--hash and --network must be used together'],
  ])('is rejected with %j', async (flags, code, message) => {
    const { account } = await service.createPayer();
    const validFlags = { '--amount': '1.00', '--currency': 'USD', '--account': account };
    const input = { ...validFlags, [flags[0] as string]: flags[1] as string };
    const result = await service.run(
      ...['deposits', 'record', '--reference', `INVALID-${flags.join()}`],
      ...Object.entries(input).flat(),
    );
    expect(result.err).toContain(message);
    expect(result.code).toBe(code);
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(0);
  });

  it('may be reversed by the bank', async () => {
    const { account } = await service.createPayer();
    const { transactionId: id } = await service.runJson(
      ...['deposits', 'record', '--account', account, '--amount', '20', '--currency', 'USD'],
      ...['--reference', 'ACH-RETURN'],
    );
    await service.expectRejected('COMPLETED', 'deposits', 'release', id);
    await service.expectRejected('COMPLETED', 'deposits', 'reject', id);
    await service.app.advance(2 * DAY);
    expect(await service.runJson('deposits', 'return', id)).toMatchObject({ status: 'FAILED' });
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(0);
    await service.expectRejected('FAILED', 'deposits', 'return', id);
  });

  it('is returned manually if it arrives too late for its quote', async () => {
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
      ...['--currency', 'USD', '--reference', 'LATE-1', '--sender-account', '****9'],
    );
    await service.app.settle();
    expect(await service.readStatus(id)).toBe('FAILED PENDING COLLECTION_FAILED');
    const [refund] = await service.readQueue(id);
    expect(refund).toMatchObject({ kind: 'refund', amount: 30_00, currency: 'USD' });
    expect(refund.account.accountIdentifier).toBe('****9');
    await service.runJson('payouts', 'settle', id, '--reference', 'LATE-RETURN');
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED COLLECTION_FAILED');
    expect(await service.readQueue(id)).toEqual([]);
  });

  it('is held on a frozen account until the operator releases or returns it', async () => {
    const { account } = await service.createPayer();
    await service.runJson('accounts', 'freeze', account, '--reason', 'A test');
    const record = async (reference: string) => {
      const entry = ['--account', account, '--amount', '5.00', '--currency', 'USD'];
      const recordedDeposit = await service.runJson(
        'deposits',
        'record',
        ...entry,
        '--reference',
        reference,
      );
      expect(recordedDeposit).toMatchObject({
        status: 'PENDING',
        pendingReason: 'COMPLIANCE_REVIEW',
      });
      return recordedDeposit.transactionId as string;
    };
    const [firstId, secondId] = [await record('FROZEN-1'), await record('FROZEN-2')];
    expect(await service.runJson('deposits', 'release', firstId)).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await service.runJson('deposits', 'reject', secondId)).toMatchObject({
      status: 'FAILED',
    });
    await service.app.settle();
    expect((await service.readQueue(secondId))[0]).toMatchObject({ kind: 'refund', amount: 5_00 });
    await service.runJson('payouts', 'settle', secondId);
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 5_00,
      total: 5_00,
    });
  });

  it('may be a direct debit that settles after the freeze of its account', async () => {
    const { person, account } = await service.createPayer();
    const from = await createExternalAccount(
      service.app,
      person.id,
      'USD',
      '000',
      service.callOptions,
    );
    const createDebit = async () => {
      const parties = { source: { accountId: from.id }, destination: { accountId: account } };
      const body = { ...parties, amount: 40_00 };
      const row = ok(
        await service.app.call('POST', '/transfer-in', body, service.callOptions),
        201,
      );
      await service.app.settle();
      return row.id as string;
    };
    const debitIds = [
      await createDebit(),
      await createDebit(),
      await createDebit(),
      await createDebit(),
    ] as const;
    const [releasedId, rejectedId, returnedId, reversedId] = debitIds;
    await service.expectRejected(
      'The transaction is not a deposit.',
      'deposits',
      'release',
      releasedId,
    );
    await service.runJson('accounts', 'freeze', account, '--reason', 'A test');
    for (const id of debitIds) await service.runJson('payouts', 'settle', id);
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 0,
      total: 160_00,
    });
    expect((await listHeldDeposits(account)).map((each) => each.transactionId).sort()).toEqual(
      [...debitIds].sort(),
    );
    const cancelPath = `/transactions/${releasedId}/cancel`;
    expect(
      (await service.app.call('POST', cancelPath, undefined, service.callOptions)).status,
    ).toBe(409);
    await service.expectRejected(
      'No result is expected',
      'payouts',
      'fail',
      releasedId,
      '--reason',
      'ACCOUNT_INVALID',
    );
    expect(await service.runJson('deposits', 'release', releasedId)).toMatchObject({
      status: 'COMPLETED',
    });
    expect(await service.runJson('deposits', 'reject', rejectedId)).toMatchObject({
      status: 'FAILED',
    });
    await service.app.settle();
    const [refund] = await service.readQueue(rejectedId);
    expect(refund).toMatchObject({ kind: 'refund', amount: 40_00, currency: 'USD' });
    expect(refund.account.routingNumber).toBe('021000021');
    await service.runJson('payouts', 'settle', rejectedId);
    const reasonFlags = ['--reason', 'PAYOUT_RETURNED'];
    await service.runJson('payouts', 'return', returnedId, ...reasonFlags);
    expect(await service.readStatus(returnedId)).toBe('FAILED - COLLECTION_FAILED');
    expect(await service.runJson('deposits', 'return', reversedId)).toMatchObject({
      status: 'FAILED',
    });
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 40_00,
      total: 40_00,
    });
    await service.runJson('payouts', 'return', releasedId, ...reasonFlags);
    expect((await readBalances(service.app, account, service.callOptions)).total).toBe(0);
  });

  it('is held for the specified reason', async () => {
    const { account } = await service.createPayer();
    const entry = ['--account', account, '--amount', '5.00', '--currency', 'USD'];
    for (const reason of PENDING_REASONS) {
      const flags = ['--reference', `HOLD-${reason}`, '--hold', reason];
      const recordedDeposit = await service.runJson('deposits', 'record', ...entry, ...flags);
      expect(recordedDeposit).toMatchObject({ status: 'PENDING', pendingReason: reason });
    }
    expect(await readBalances(service.app, account, service.callOptions)).toEqual({
      balance: 0,
      total: 20_00,
    });
    const entryOfQuote = ['--payment-reference', `RH${'0'.repeat(32)}`, ...entry.slice(2)];
    const result = await service.run(
      ...['deposits', 'record', ...entryOfQuote, '--reference', 'X', '--hold', 'COMPLIANCE_REVIEW'],
    );
    expect([result.code, result.err]).toEqual([
      2,
      expect.stringContaining('--hold requires --account'),
    ]);
  });

  it('is released, rejected and reversed in the sandbox', async () => {
    const person = await createCustomer(service.app);
    const account = await findInternalAccount(service.app, person.id, 'USD');
    const holdDeposit = async () => {
      const body = { amount: 7_00, pendingReason: 'COMPLIANCE_REVIEW' };
      const url = `/sandbox/internal-accounts/${account.id}/fund`;
      ok(await service.app.call('POST', url, body), 200);
      const query = `/transactions?accountIdentifier=${account.id}&status=PENDING`;
      return ok(await service.app.call('GET', query), 200).data[0].id as string;
    };
    const depositId = await holdDeposit();
    expect(await service.runJson('deposits', 'release', depositId)).toMatchObject({
      status: 'COMPLETED',
    });
    await service.runJson('deposits', 'reject', await holdDeposit());
    await service.app.settle();
    expect(await readBalances(service.app, account.id)).toEqual({ balance: 7_00, total: 7_00 });
    const to = await createExternalAccount(service.app, person.id, 'USD');
    const parties = { source: { accountId: account.id }, destination: { accountId: to.id } };
    ok(await service.app.call('POST', '/transfer-out', { ...parties, amount: 5_00 }), 201);
    await service.app.settle();
    expect(await service.runJson('deposits', 'return', depositId)).toMatchObject({
      status: 'FAILED',
    });
    await service.expectRejected('it is FAILED', 'deposits', 'return', depositId);
    const query = ['accounts', 'list', '--owing', '--platform', service.app.platform.id];
    expect(await service.runJson(...query)).toMatchObject([{ accountId: account.id, owed: 5_00 }]);
    expect((await readBalances(service.app, account.id)).total).toBe(0);
  });

  it('may be a direct debit of the sandbox, which its bank returns', async () => {
    const person = await createCustomer(service.app);
    const account = await findInternalAccount(service.app, person.id, 'USD');
    const from = await createExternalAccount(service.app, person.id, 'USD');
    const parties = { source: { accountId: from.id }, destination: { accountId: account.id } };
    const body = { ...parties, amount: 40_00 };
    const { id } = ok(await service.app.call('POST', '/transfer-in', body), 201);
    await service.expectRejected(
      'Only a settled transfer can be returned',
      'payouts',
      'return',
      id,
      ...RETURN_FLAGS,
    );
    await service.app.settle();
    expect((await readBalances(service.app, account.id)).total).toBe(40_00);
    expect(await service.runJson('payouts', 'return', id, ...RETURN_FLAGS)).toMatchObject({
      status: 'FAILED',
    });
    expect((await readBalances(service.app, account.id)).total).toBe(0);
    await service.expectRejected('is in the sandbox', 'payouts', 'settle', id);
  });

  it('is reversed, and the payee of the payment keeps the amount', async () => {
    const { person, account } = await service.createPayer();
    const payee = await service.createPayer();
    const to = await findInternalAccount(service.app, payee.person.id, 'EUR', service.callOptions);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const quoteRequest = { ...quoteBody('', to.id, 100_00), source };
    const quote = ok(
      await service.app.call('POST', '/quotes', quoteRequest, service.callOptions),
      201,
    );
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    const id = quote.transactionId as string;
    await service.expectRejected('The transaction is not a deposit.', 'deposits', 'return', id);
    await service.runJson(
      ...['deposits', 'record', '--payment-reference', reference, '--amount', '100.00'],
      ...['--currency', 'USD', '--reference', 'INSIDE-1', '--rail', 'RTP'],
    );
    expect(await service.readStatus(id)).toBe('COMPLETED - -');
    const query = `/transactions?accountIdentifier=${to.id}&type=INCOMING`;
    const [counterparty] = ok(
      await service.app.call('GET', query, undefined, service.callOptions),
      200,
    ).data;
    expect(counterparty.source.sourceType).toBe('REALTIME_FUNDING');
    await service.expectRejected(quote.id, 'deposits', 'return', counterparty.id);
    const receivedBalances = { balance: 91_08, total: 91_08 };
    expect(await readBalances(service.app, to.id, service.callOptions)).toEqual(receivedBalances);
    expect(await service.runJson('deposits', 'return', id)).toMatchObject({ status: 'COMPLETED' });
    await service.expectRejected('The return is already recorded.', 'deposits', 'return', id);
    expect(await readBalances(service.app, to.id, service.callOptions)).toEqual(receivedBalances);
    const [owingAccount] = await service.app.runtime.db.query<{ owed: bigint }>(
      'select owed from internal_accounts where id = $1',
      [account],
    );
    expect(owingAccount?.owed).toBe(100_00n);
  });

  it('funds a pending quote', async () => {
    const { person } = await service.createPayer();
    const to = await service.createPayee(person.id);
    const source = { sourceType: 'REALTIME_FUNDING', currency: 'USD', customerId: person.id };
    const quoteRequest = { ...quoteBody('', to, 100_00), source };
    const quote = ok(
      await service.app.call('POST', '/quotes', quoteRequest, service.callOptions),
      201,
    );
    const { reference } = quote.paymentInstructions[0].accountOrWalletInfo;
    const entry = ['deposits', 'record', '--payment-reference', reference, '--currency', 'USD'];
    await service.runJson(...entry, '--amount', '100.00', '--reference', 'RTP-1', '--rail', 'RTP');
    await service.app.settle();
    const id = quote.transactionId;
    expect((await service.readQueue(id))[0]).toMatchObject({ kind: 'payout', amount: 91_08 });
    await service.runJson('payouts', 'fail', id, '--reason', 'ACCOUNT_CANNOT_RECEIVE');
    await service.app.settle();
    // The payment was funded by a deposit, so the refund is a bank transfer.
    expect((await service.readQueue(id))[0]).toMatchObject({
      kind: 'refund',
      amount: 100_00,
      currency: 'USD',
    });
    await service.runJson('payouts', 'settle', id, '--reference', 'RTP-RETURN');
    expect(await service.readStatus(id)).toBe('FAILED COMPLETED ACCOUNT_CANNOT_RECEIVE');
    await service.expectRejected(
      'Payment reference not found.',
      ...entry.with(3, `RH${'0'.repeat(32)}`),
      '--amount',
      '1',
      '--reference',
      'X',
    );
  });

  it('is listed while it is held, oldest first', async () => {
    const { account } = await service.createPayer();
    await service.runJson('accounts', 'freeze', account, '--reason', 'A test');
    const ids: string[] = [];
    for (const reference of ['LIST-1', 'LIST-2']) {
      const entry = ['--account', account, '--amount', '5.25', '--currency', 'USD'];
      const recordedDeposit = await service.runJson(
        'deposits',
        'record',
        ...entry,
        '--reference',
        reference,
      );
      ids.push(recordedDeposit.transactionId);
      await service.app.advance(1_000);
    }
    const depositsBefore = await listHeldDeposits(account);
    expect(depositsBefore).toMatchObject([
      {
        transactionId: ids[0],
        reason: 'COMPLIANCE_REVIEW',
        readable: '5.25',
        source: DEPOSIT_SOURCE,
      },
      {
        transactionId: ids[1],
        platformId: service.platform.id,
        currency: 'USD',
        accountId: account,
      },
    ]);
    expect(Date.parse(depositsBefore[1].since) - Date.parse(depositsBefore[0].since)).toBe(1_000);
    // A deposit on a frozen account is held and listed for more than a month.
    await service.app.advance(31 * DAY);
    await service.app.settle();
    expect(await listHeldDeposits(account)).toEqual(depositsBefore);
    const limitedOutput = await service.runJson('deposits', 'list', '--limit', '1');
    expect(limitedOutput).toHaveLength(1);
    const output = await service.run('deposits', 'list', '--platform', service.platform.id);
    expect(output.out).toContain(ids[0]);
    expect(await service.runJson('deposits', 'list', '--platform', service.app.other.id)).toEqual(
      [],
    );
    await service.runJson('deposits', 'release', ids[0] as string);
    await service.runJson('deposits', 'reject', ids[1] as string);
    expect(await listHeldDeposits(account)).toEqual([]);
  });
});
