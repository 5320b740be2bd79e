// Reconciliation with a provider: balanced days, every kind of difference, and decision postings.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findInternalAccount } from '../kit/app/fixtures.ts';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';
import {
  type BankAccount,
  bankAccount,
  connectBank,
  type Entry,
  ledgerBalance,
} from '../kit/providers/bank-account.ts';

const { service, read, rejects, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;
let bank: BankAccount;
let accountId: string;
/** The day under test. */
let day: string;
const PROVIDER_ACCOUNT = `system:production:provider:EUR:${BANK}`;

const balanceOf = (id: string) => ledgerBalance(service.app, id);
const systemBalance = (purpose: string) => balanceOf(`system:production:${purpose}:EUR`);
const PURPOSES = ['suspense', 'expenses', 'losses', 'external_settlement', 'rail_in_transit'];
const readBalances = async () =>
  Object.fromEntries(
    await Promise.all(PURPOSES.map(async (name) => [name, await systemBalance(name)])),
  );

const reportSettled = (transferId: string, reference = `REF-${transferId.slice(-6)}`) =>
  adapter.send(BANK, {
    ...{ type: 'transfer.updated', transferId },
    transfer: { state: 'settled', reference },
  });

/** A payout that the provider has reported as settled. No statement contains it yet. */
async function settlePayout(): Promise<string> {
  const { id } = await service.createPayment();
  expect((await reportSettled(id)).body).toEqual({ result: 'APPLIED' });
  return id;
}

let depositCount = 0;
/** Reports a deposit. Returns its bank reference. */
async function reportDeposit(amount = 40_00): Promise<string> {
  depositCount += 1;
  const bankReference = `DEP-${depositCount}`;
  const entry = { bankReference, amount, currency: 'EUR', accountId };
  await adapter.send(BANK, { type: 'deposit.received', ...entry });
  return bankReference;
}
const bookDeposit = (bankReference: string, amount = 40_00, fields: Partial<Entry> = {}) =>
  bank.book({ direction: 'in', amount, kind: 'deposit', bankReference, ...fields });

const currentKey = () => ({ currency: 'EUR', day });

/** Requests and reconciles the statement of the day. Returns the day. */
async function reconcile(fields: object = {}) {
  const dayKey = { ...currentKey(), ...fields };
  await write('POST', `/providers/${BANK}/reconcile`, dayKey);
  await service.app.settle();
  const { data } = await read(`/provider-days?providerId=${BANK}&limit=100`);
  return data.find(
    (record: typeof dayKey) => record.day === dayKey.day && record.currency === dayKey.currency,
  );
}
/** Advances the clock to the end of the day and reconciles it. */
async function endDay() {
  await service.app.advance(DAY);
  return reconcile();
}
const CLOSE_PATH = `/providers/${BANK}/close-day`;
const SOURCE_PATH = `/providers/${BANK}/statement-source`;
const closeDay = () => write('POST', CLOSE_PATH, currentKey());
const kindsOf = (differences: { kind: string }[]) => differences.map(({ kind }) => kind);
const listOpen = async () => (await read('/differences?limit=100')).data;
const decide = (difference: { differenceId: string }, decision: string, fields: object = {}) =>
  write('POST', `/differences/${difference.differenceId}/decide`, {
    ...{ decision, reason: 'checked with the bank' },
    ...fields,
  });

/** Returns the only open difference, which must be of this kind. */
async function readOnlyDifference(kind: string) {
  const differences = await listOpen();
  expect(kindsOf(differences)).toEqual([kind]);
  return differences[0];
}

async function expectBalanced() {
  const providerBalance = -(await balanceOf(PROVIDER_ACCOUNT));
  expect(providerBalance).toBe(bank.balance());
  expect(await reconcile()).toMatchObject({ ties: true, openDifferences: 0 });
  expect(await closeDay()).toMatchObject({ status: 'CLOSED', closingBalance: providerBalance });
}

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  const capabilities = adapter.replies['/capabilities']?.({})?.body as object;
  adapter.replies['/capabilities'] = () => ({ body: { ...capabilities, statements: true } });
  await connectBank(write, adapter, BANK);
  const { person } = await service.createPayer();
  accountId = (await findInternalAccount(service.app, person.id, 'EUR', service.callOptions)).id;
  bank = bankAccount(service.app, adapter, 'EUR', 50_000_00);
  // The job requests the statement of the last complete day immediately.
  day = '2026-01-04';
  await reconcile();
  await closeDay();
}, 60_000);
afterAll(() => adapter.close());
beforeEach(() => {
  day = bank.today();
});

describe('a day', () => {
  it('is balanced after payouts and deposits, matched by ID, reference and amount', async () => {
    bank.dayOf(day);
    const firstPayout = await settlePayout();
    const secondPayout = await settlePayout();
    bank.pay(firstPayout);
    // Without the ID, the line is matched by the reference that was sent.
    bank.pay(secondPayout, { transferId: undefined });
    bookDeposit(await reportDeposit());
    // Without any reference, it is matched by amount and time.
    const thirdPayout = await settlePayout();
    bank.pay(thirdPayout, { transferId: undefined, reference: undefined });
    const result = await endDay();
    expect(result).toMatchObject({
      ...{ openingBalance: 50_000_00, openDifferences: 0, ties: true, statementVersion: 1 },
      closingBalance: bank.balance(),
    });
    expect(await systemBalance('suspense')).toBe(0);
    expect(await systemBalance('rail_in_transit')).toBe(0);
    // Payouts are settled with the provider, so only the opening balance remains.
    expect(await systemBalance('external_settlement')).toBe(50_000_00);
    await expectBalanced();
    await rejects(409, 'CONFLICT', 'POST', CLOSE_PATH, { body: currentKey() });
    const [row] = (await read(`/provider-balances?providerId=${BANK}`)).data;
    const balance = bank.balance();
    expect(row).toMatchObject({ reportedBalance: balance, bookedBalance: balance, day });
  }, 60_000);

  it('has a statement that a job requests after its end until the provider sends it', async () => {
    const payout = await settlePayout();
    bank.pay(payout);
    const reply = adapter.replies['/statements/day'];
    adapter.replies['/statements/day'] = () => ({ status: 404, body: {} });
    await service.app.advance(DAY);
    const daysBefore = (await read(`/provider-days?providerId=${BANK}`)).data;
    expect(daysBefore.map((record: { day: string }) => record.day)).not.toContain(day);
    if (reply) adapter.replies['/statements/day'] = reply;
    await service.app.advance(3_600_000);
    const [latestDay] = (await read(`/provider-days?providerId=${BANK}`)).data;
    expect(latestDay).toMatchObject({ day, ties: true, status: 'OPEN' });
    await expectBalanced();
  }, 60_000);

  it('can be reported in messages with pages in any order, each stored once', async () => {
    const payout = await settlePayout();
    bank.pay(payout);
    bookDeposit(await reportDeposit());
    const statement = bank.page(day);
    const pageOf = (page: number) => ({
      ...{ ...statement, statementId: 'pages', page, pageCount: 2 },
      lines: statement.lines.slice(page - 1, page),
    });
    const send = (statement: object) => adapter.send(BANK, { type: 'statement.day', statement });
    expect(await send(pageOf(2))).toMatchObject({ status: 409 });
    const reply = adapter.replies['/statements/day'];
    adapter.replies['/statements/day'] = () => ({ status: 404, body: {} });
    await service.app.advance(DAY);
    expect((await send(pageOf(2))).body).toEqual({ result: 'APPLIED' });
    expect((await send(pageOf(2))).body).toEqual({ result: 'IGNORED' });
    expect((await send({ ...pageOf(1), closingBalance: 1 })).body.message).toContain('balances');
    expect((await send({ ...pageOf(1), lines: [] })).body.message).toContain(
      '1 lines, but lineCount is 2',
    );
    const invalidPage = { ...pageOf(1), lines: [{ id: 'x', amount: -1 }] };
    expect((await send(invalidPage)).body.message).toContain('statement.lines.0.direction');
    expect((await send(pageOf(1))).body).toEqual({ result: 'APPLIED' });
    await service.app.settle();
    const [latestDay] = (await read('/provider-days')).data;
    expect(latestDay).toMatchObject({ day, ties: true, statementId: 'pages' });
    expect(await reconcile({ request: false })).toMatchObject({ ties: true });
    expect((await closeDay()).status).toBe('CLOSED');
    if (reply) adapter.replies['/statements/day'] = reply;
  }, 60_000);
});

describe('a difference', () => {
  it('MISSING_WITH_US is in suspense, and can be recorded as a deposit', async () => {
    bookDeposit('UNKNOWN-1', 12_34);
    expect(await endDay()).toMatchObject({ ties: false, openDifferences: 1 });
    expect(await systemBalance('suspense')).toBe(12_34);
    const difference = await readOnlyDifference('MISSING_WITH_US');
    expect(difference).toMatchObject({ amount: 12_34, status: 'OPEN', ownerId: null });
    const balanceBefore = await balanceOf(accountId);
    await rejects(400, 'INVALID_INPUT', 'POST', `/differences/${difference.differenceId}/decide`, {
      body: { decision: 'SETTLE', reason: 'x' },
    });
    const decidedDifference = await decide(difference, 'RECORD_DEPOSIT', { accountId });
    expect(decidedDifference).toMatchObject({ status: 'DECIDED', decision: 'RECORD_DEPOSIT' });
    expect(await balanceOf(accountId)).toBe(balanceBefore + 12_34);
    expect(await systemBalance('suspense')).toBe(0);
    // The deposit exists, so the later message of the provider is ignored.
    const fields = { amount: 12_34, currency: 'EUR', accountId };
    const message = { type: 'deposit.received', ...fields };
    const reply = await adapter.send(BANK, { ...message, bankReference: 'UNKNOWN-1' });
    expect(reply.body).toEqual({ result: 'IGNORED' });
    await expectBalanced();
  }, 60_000);

  it('MISSING_WITH_US can be posted as own funds, recorded as a fee, or written off', async () => {
    bank.book({ direction: 'in', amount: 500_00, kind: 'funding' });
    bank.book({ direction: 'out', amount: 3_00, kind: 'fee' });
    bank.book({ direction: 'out', amount: 7_00, kind: 'other' });
    await endDay();
    const totals = await readBalances();
    expect(totals.suspense).toBe(490_00);
    const differencesByAmount = new Map(
      (await listOpen()).map((difference: { amount: number }) => [difference.amount, difference]),
    );
    const pick = (amount: number) => differencesByAmount.get(amount) as { differenceId: string };
    await decide(pick(500_00), 'OWN_FUNDS');
    await decide(pick(-3_00), 'RECORD_FEE');
    expect((await decide(pick(-7_00), 'SUSPENSE')).status).toBe('IN_SUSPENSE');
    expect(await readBalances()).toMatchObject({
      ...{ suspense: -7_00, expenses: totals.expenses - 3_00 },
      external_settlement: totals.external_settlement + 500_00,
    });
    await expectBalanced();
    await decide(pick(-7_00), 'WRITE_OFF');
    expect(await readBalances()).toMatchObject({ suspense: 0, losses: totals.losses - 7_00 });
  }, 60_000);

  it('MISSING_WITH_US can be matched, and is resolved by a later report', async () => {
    const latePayment = await service.createPayment();
    const line = bank.pay(latePayment.id, { transferId: undefined, reference: 'OTHER' });
    const unknownDeposit = bookDeposit(`DEP-${depositCount + 1}`);
    await endDay();
    const differences = await listOpen();
    const isOfLine = ({ lineId }: { lineId: string }) => lineId.startsWith(line.id);
    const lineDifference = differences.find(isOfLine);
    const path = `/differences/${lineDifference.differenceId}/decide`;
    const body = { decision: 'MATCH', transactionId: latePayment.id, reason: 'the amount' };
    await rejects(409, 'CONFLICT', 'POST', path, { body });
    await reportSettled(latePayment.id);
    await decide(lineDifference, 'MATCH', { transactionId: latePayment.id });
    expect(await systemBalance('suspense')).toBe(unknownDeposit.amount);
    await reportDeposit();
    expect(await reconcile()).toMatchObject({ openDifferences: 0 });
    expect(await systemBalance('suspense')).toBe(0);
    await expectBalanced();
  }, 60_000);

  it('MISSING_AT_PROVIDER can be carried, and is resolved by the line of a later day', async () => {
    const payout = await settlePayout();
    await endDay();
    const difference = await readOnlyDifference('MISSING_AT_PROVIDER');
    expect((await decide(difference, 'CARRY')).status).toBe('CARRIED');
    await expectBalanced();
    day = bank.today();
    bank.dayOf(day);
    await endDay();
    const reopenedDifference = await readOnlyDifference('MISSING_AT_PROVIDER');
    expect(reopenedDifference).toMatchObject({ differenceId: difference.differenceId, day });
    expect(reopenedDifference.ageHours).toBeGreaterThanOrEqual(23);
    await decide(reopenedDifference, 'CARRY');
    await expectBalanced();
    day = bank.today();
    bank.pay(payout);
    await endDay();
    expect(await listOpen()).toEqual([]);
    const { status } = await read(`/differences/${difference.differenceId}`);
    expect(status).toBe('RESOLVED');
    await expectBalanced();
  }, 60_000);

  it('MISSING_AT_PROVIDER of a payout and of a deposit can be returned', async () => {
    const payout = await settlePayout();
    await reportDeposit(15_00);
    const balanceBefore = await balanceOf(accountId);
    await endDay();
    const differences = await listOpen();
    expect(differences).toHaveLength(2);
    for (const difference of differences) await decide(difference, 'RETURN');
    await service.app.settle();
    expect(await service.readStatus(payout)).toBe('FAILED COMPLETED PAYOUT_RETURNED');
    expect(await balanceOf(accountId)).toBe(balanceBefore - 15_00);
    await expectBalanced();
  }, 60_000);

  it('MISSING_AT_PROVIDER can be written off or ignored, and is not listed again', async () => {
    const totals = await readBalances();
    const payout = await settlePayout();
    const { amount } = adapter.transfers.get(payout);
    await settlePayout();
    await endDay();
    const [firstDifference, secondDifference] = await listOpen();
    await decide(firstDifference, 'WRITE_OFF');
    await decide(secondDifference, 'IGNORE');
    expect(await readBalances()).toMatchObject({
      losses: totals.losses + amount,
      external_settlement: totals.external_settlement + amount,
    });
    await expectBalanced();
    day = bank.today();
    bank.dayOf(day);
    await endDay();
    await expectBalanced();
  }, 60_000);

  it('AMOUNT_DIFFERS posts the difference of the amounts to suspense', async () => {
    const totals = await readBalances();
    const payout = await settlePayout();
    const { amount } = adapter.transfers.get(payout);
    bank.pay(payout, { amount: amount + 1_50 });
    await endDay();
    const difference = await readOnlyDifference('AMOUNT_DIFFERS');
    expect(difference).toMatchObject({ amount: -1_50, transactionId: payout });
    expect(await systemBalance('suspense')).toBe(-1_50);
    await decide(difference, 'RECORD_FEE');
    expect(await readBalances()).toEqual({ ...totals, expenses: totals.expenses - 1_50 });
    await expectBalanced();
  }, 60_000);

  it('CURRENCY_DIFFERS posts the line to suspense', async () => {
    const payout = await settlePayout();
    const { amount } = adapter.transfers.get(payout);
    const usdBank = bankAccount(service.app, adapter, 'USD', 0);
    usdBank.pay(payout);
    await service.app.advance(DAY);
    await reconcile({ currency: 'USD' });
    const difference = (await listOpen()).find(
      (difference: { currency: string }) => difference.currency === 'USD',
    );
    expect(difference).toMatchObject({ kind: 'CURRENCY_DIFFERS', amount: -amount });
    await decide(difference, 'WRITE_OFF');
    expect(await balanceOf('system:production:suspense:USD')).toBe(0);
    expect(await balanceOf(`system:production:provider:USD:${BANK}`)).toBe(amount);
    expect((await write('POST', CLOSE_PATH, { currency: 'USD', day })).status).toBe('CLOSED');
    await expectBalanced();
  }, 60_000);

  it('STATE_DIFFERS is settled by a decision, or resolved by a provider message', async () => {
    const firstPayment = await service.createPayment();
    const secondPayment = await service.createPayment();
    bank.pay(firstPayment.id);
    bank.pay(secondPayment.id);
    await endDay();
    const differences = await listOpen();
    expect(kindsOf(differences)).toEqual(['STATE_DIFFERS', 'STATE_DIFFERS']);
    const isOfFirst = ({ transactionId: id }: { transactionId: string }) => id === firstPayment.id;
    await decide(differences.find(isOfFirst), 'SETTLE');
    expect(await service.readStatus(firstPayment.id)).toBe('COMPLETED - -');
    await reportSettled(secondPayment.id);
    await reconcile();
    expect(await listOpen()).toEqual([]);
    expect(await systemBalance('suspense')).toBe(0);
    await expectBalanced();
  }, 60_000);

  it('STATE_DIFFERS of a return can be applied to the payment', async () => {
    const payout = await settlePayout();
    const { amount } = bank.pay(payout);
    bank.book({ direction: 'in', amount, kind: 'return', transferId: payout });
    await endDay();
    const difference = await readOnlyDifference('STATE_DIFFERS');
    await decide(difference, 'RETURN', { failureReason: 'ACCOUNT_INVALID' });
    await service.app.settle();
    expect(await service.readStatus(payout)).toBe('FAILED COMPLETED ACCOUNT_INVALID');
    expect(await systemBalance('suspense')).toBe(0);
    await expectBalanced();
  }, 60_000);

  it('DUPLICATED is in suspense, and can be written off', async () => {
    const payout = await settlePayout();
    const entry = bank.pay(payout);
    bank.pay(payout);
    await endDay();
    const difference = await readOnlyDifference('DUPLICATED');
    expect(difference.amount).toBe(-entry.amount);
    const totals = await readBalances();
    expect(totals.suspense).toBe(-entry.amount);
    await decide(difference, 'WRITE_OFF');
    const losses = totals.losses - entry.amount;
    expect(await readBalances()).toMatchObject({ suspense: 0, losses });
    await expectBalanced();
  }, 60_000);

  it('FEE_UNEXPECTED can be posted as an expense, and is absent if fees are expected', async () => {
    const totals = await readBalances();
    bank.pay(await settlePayout(), { fee: 35 });
    await endDay();
    const difference = await readOnlyDifference('FEE_UNEXPECTED');
    expect(difference.amount).toBe(-35);
    await decide(difference, 'RECORD_FEE');
    expect(await readBalances()).toEqual({ ...totals, expenses: totals.expenses - 35 });
    await expectBalanced();
    const source = { feesExpected: true, timeZone: 'UTC' };
    expect(await write('POST', SOURCE_PATH, source)).toMatchObject(source);
    day = bank.today();
    bank.pay(await settlePayout(), { fee: 35 });
    bank.book({ direction: 'out', amount: 65, kind: 'fee' });
    await endDay();
    expect(await readBalances()).toEqual({ ...totals, expenses: totals.expenses - 1_35 });
    await expectBalanced();
    await write('POST', SOURCE_PATH, { feesExpected: false });
  }, 60_000);

  it('BALANCE_DIFFERS can be written off', async () => {
    const totals = await readBalances();
    bank.shift(day, -9_00);
    const result = await endDay();
    expect(result).toMatchObject({ ties: false, closingBalance: bank.balance() });
    const difference = await readOnlyDifference('BALANCE_DIFFERS');
    expect(difference.amount).toBe(-9_00);
    await rejects(409, 'CONFLICT', 'POST', CLOSE_PATH, { body: currentKey() });
    await decide(difference, 'WRITE_OFF');
    expect(await readBalances()).toEqual({ ...totals, losses: totals.losses - 9_00 });
    await expectBalanced();
  }, 60_000);
});

describe('a corrected statement', () => {
  it('of an open day replaces its lines', async () => {
    const payout = await settlePayout();
    const entry = bank.pay(payout, { amount: adapter.transfers.get(payout).amount + 5 });
    const deposit = await reportDeposit();
    bookDeposit(deposit);
    bank.book({ direction: 'out', amount: 77, kind: 'other' });
    await endDay();
    expect(await listOpen()).toHaveLength(2);
    bank.correct(day, (entries) =>
      entries
        .filter((entry) => entry.amount !== 77)
        .map((item) => (item.id === entry.id ? { ...item, amount: item.amount - 5 } : item)),
    );
    expect(await reconcile()).toMatchObject({
      statementVersion: 2,
      openDifferences: 0,
      ties: true,
    });
    expect(await systemBalance('suspense')).toBe(0);
    await expectBalanced();
  }, 60_000);

  it('of a closed day opens a difference of the next day', async () => {
    bookDeposit(await reportDeposit());
    await endDay();
    await expectBalanced();
    const closedDay = day;
    day = bank.today();
    bank.correct(closedDay, (entries) => [
      ...entries,
      { id: 'LATE', direction: 'out', amount: 2_00, kind: 'fee', at: `${closedDay}T20:00:00Z` },
    ]);
    bank.dayOf(day);
    expect(await reconcile({ day: closedDay })).toMatchObject({
      ...{ status: 'CLOSED', statementVersion: 1 },
    });
    const difference = await readOnlyDifference('LATE_CORRECTION');
    expect(difference).toMatchObject({ day, amount: -2_00 });
    expect(difference.detail).toContain('LATE');
    await endDay();
    await decide(difference, 'RECORD_FEE');
    expect(await systemBalance('suspense')).toBe(0);
    await expectBalanced();
  }, 60_000);
});

describe('an open difference', () => {
  it('can be assigned with a note, and its decision can require approval', async () => {
    bank.book({ direction: 'in', amount: 10_00, kind: 'other' });
    await endDay();
    const difference = await readOnlyDifference('MISSING_WITH_US');
    const path = `/differences/${difference.differenceId}`;
    await rejects(400, 'INVALID_INPUT', 'POST', `${path}/assign`, { body: { ownerId: 'unknown' } });
    const { data: users } = await read('/operator-tokens?limit=1');
    const ownerId = users[0].id;
    const assignment = { ownerId, note: 'sent a request to the bank' };
    expect(await write('POST', `${path}/assign`, assignment)).toMatchObject(assignment);
    expect((await read(`/differences?ownerId=${ownerId}`)).data).toHaveLength(1);
    const policy = await write('POST', '/approval-policies', {
      ...{ operationId: 'decideDifference', hours: 24, reason: 'four eyes' },
    });
    const pendingReply = await decide(difference, 'OWN_FUNDS');
    expect(pendingReply.status).toBe('PENDING');
    expect(await systemBalance('suspense')).toBe(10_00);
    await write('DELETE', `/approval-policies/${policy.id}`, { reason: 'done' });
    const records = await read('/audit-records?operationId=assignDifference');
    expect(records.data[0]).toMatchObject({ subject: difference.differenceId });
    await decide(difference, 'SUSPENSE');
    await expectBalanced();
    await decide(difference, 'OWN_FUNDS');
    expect(await systemBalance('suspense')).toBe(0);
  }, 60_000);
});
