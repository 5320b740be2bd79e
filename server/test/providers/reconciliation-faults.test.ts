// Random faults of statements. Every fault is reported. After decisions the day is balanced and
// closed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { StatementPage } from '../../src/connectors/ports/providers/protocol.ts';
import { reconcileDay } from '../../src/features/reconciliation/reconcile.ts';
import { receivePage } from '../../src/features/reconciliation/statements.ts';
import { findInternalAccount } from '../kit/app/fixtures.ts';
import { DAY } from '../kit/app/production.ts';
import { operatorService } from '../kit/operator/production.ts';
import { type Adapter, startAdapter } from '../kit/providers/adapter.ts';
import {
  type BankAccount,
  bankAccount,
  connectBank,
  type Entry,
} from '../kit/providers/bank-account.ts';

const { service, read, write } = operatorService();
const BANK = 'acme-bank';
let adapter: Adapter;
let bank: BankAccount;
let accountId: string;

/** A seeded generator of integers below a limit (mulberry32). */
function createRandom(seed: number) {
  let state = seed;
  return (limit: number) => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) % limit;
  };
}

beforeAll(async () => {
  adapter = await startAdapter(service.app);
  await connectBank(write, adapter, BANK);
  const { person } = await service.createPayer();
  accountId = (await findInternalAccount(service.app, person.id, 'EUR', service.callOptions)).id;
  bank = bankAccount(service.app, adapter, 'EUR', 1_000_00);
}, 60_000);
afterAll(() => adapter.close());

let depositCount = 0;
async function sendDeposit(amount: number): Promise<Partial<Entry>> {
  depositCount += 1;
  const bankReference = `DEP-${depositCount}`;
  await adapter.send(BANK, {
    ...{ type: 'deposit.received', bankReference, amount, currency: 'EUR', accountId },
  });
  return { bankReference, kind: 'deposit' };
}

async function createPayout(isSettled: boolean): Promise<string> {
  const { id } = await service.createPayment();
  const transfer = { state: 'settled', reference: `S-${id.slice(-8)}` };
  if (isSettled) await adapter.send(BANK, { type: 'transfer.updated', transferId: id, transfer });
  return id;
}

/** Bookings of a payout with and without faults, each with the differences that it must cause. */
const FAULTS: readonly [string[], (id: string) => void][] = [
  [[], (id) => void bank.pay(id)],
  [[], (id) => void bank.pay(id, { transferId: undefined })],
  [['MISSING_AT_PROVIDER'], () => undefined],
  [['AMOUNT_DIFFERS'], (id) => void bank.pay(id, { amount: adapter.transfers.get(id).amount - 1 })],
  [['FEE_UNEXPECTED'], (id) => void bank.pay(id, { fee: 12 })],
  [
    ['DUPLICATED'],
    (id) => {
      bank.pay(id);
      bank.pay(id);
    },
  ],
  [
    ['AMOUNT_DIFFERS', 'FEE_UNEXPECTED'],
    (id) => void bank.pay(id, { amount: adapter.transfers.get(id).amount + 7, fee: 3 }),
  ],
];

/** Books a day with random faults. Returns the kinds of differences that they must cause. */
async function bookFaultyDay(random: (limit: number) => number): Promise<string[]> {
  const expectedKinds: string[] = [];
  bank.dayOf(bank.today());
  for (let count = 0; count < 5; count++) {
    const [kinds, bookEntries] = FAULTS[random(FAULTS.length)] as (typeof FAULTS)[number];
    expectedKinds.push(...kinds);
    bookEntries(await createPayout(true));
  }
  if (random(2)) {
    expectedKinds.push('STATE_DIFFERS');
    bank.pay(await createPayout(false));
  }
  // The amounts are unique, so that no entry is matched by its amount.
  for (let count = 0; count < 3; count++) {
    const amount = 1_000 + depositCount * 10 + count;
    const fields = await sendDeposit(amount);
    if (random(3)) bank.book({ direction: 'in', amount, ...fields });
    else expectedKinds.push('MISSING_AT_PROVIDER');
  }
  for (let count = random(3); count > 0; count--) {
    expectedKinds.push('MISSING_WITH_US');
    bank.book({ direction: random(2) ? 'in' : 'out', amount: 5_000 + random(999), kind: 'other' });
  }
  return expectedKinds.sort();
}

/** Requests and reconciles the statement of a day. Returns the day. */
async function reconcile(key: { currency: string; day: string }) {
  await write('POST', `/providers/${BANK}/reconcile`, key);
  await service.app.settle();
  const { data } = await read(`/provider-days?providerId=${BANK}&limit=100`);
  return data.find((record: { day: string }) => record.day === key.day);
}

const DECISIONS: Record<string, readonly string[]> = {
  MISSING_AT_PROVIDER: ['WRITE_OFF', 'RETURN', 'IGNORE'],
  STATE_DIFFERS: ['SETTLE', 'WRITE_OFF', 'SUSPENSE'],
};
const DEFAULT_DECISIONS = ['RECORD_FEE', 'OWN_FUNDS', 'WRITE_OFF', 'SUSPENSE'];

it.each([1, 2, 3, 4, 5, 6])(
  'the faults of day %i are reported, and decisions balance the day',
  async (seed) => {
    const random = createRandom(seed * 7_919);
    const day = bank.today();
    const expectedKinds = await bookFaultyDay(random);
    await service.app.advance(DAY);
    const key = { currency: 'EUR', day };
    await reconcile(key);
    const { data } = await read('/differences?limit=100');
    expect(data.map((difference: { kind: string }) => difference.kind).sort()).toEqual(
      expectedKinds,
    );
    for (const { differenceId, kind } of data) {
      const choices = DECISIONS[kind] ?? DEFAULT_DECISIONS;
      const decision = choices[random(choices.length)];
      const path = `/differences/${differenceId}/decide`;
      await write('POST', path, { decision, reason: `seed ${seed}` });
    }
    await service.app.settle();
    expect(await reconcile(key)).toMatchObject({
      ...{ ties: true, openDifferences: 0, closingBalance: bank.balance() },
      bookedBalance: bank.balance(),
    });
    expect(await write('POST', `/providers/${BANK}/close-day`, key)).toMatchObject({
      status: 'CLOSED',
    });
    const [reportedBalance] = (await read('/provider-balances')).data;
    expect(reportedBalance).toMatchObject({ bookedBalance: bank.balance() });
    expect((await service.run('ledger', 'verify')).code).toBe(0);
  },
  120_000,
);

it('a statement that arrives late resolves the differences of later days', async () => {
  const firstDay = bank.today();
  bank.pay(await createPayout(true));
  await service.app.advance(DAY);
  const secondDay = bank.today();
  bank.pay(await createPayout(true));
  await service.app.advance(DAY);
  const currency = 'EUR';
  expect(await reconcile({ currency, day: secondDay })).toMatchObject({ openDifferences: 2 });
  const { data: openDifferences } = await read('/differences?limit=100');
  const kinds = openDifferences.map((difference: { kind: string }) => difference.kind);
  expect(kinds.sort()).toEqual(['BALANCE_DIFFERS', 'MISSING_AT_PROVIDER']);
  expect(await reconcile({ currency, day: firstDay })).toMatchObject({ ties: true });
  expect((await read('/differences?limit=100')).data).toEqual([]);
  for (const day of [firstDay, secondDay]) {
    const closedDay = await write('POST', `/providers/${BANK}/close-day`, { currency, day });
    expect(closedDay).toMatchObject({ status: 'CLOSED' });
  }
}, 60_000);

it('days that are reconciled concurrently have no differences', async () => {
  for (let round = 0; round < 3; round++) {
    const days = [];
    for (let count = 0; count < 3; count++) {
      days.push(bank.today());
      bank.pay(await createPayout(true));
      await service.app.advance(DAY);
    }
    const { runtime } = service.app;
    const keys = days.map((day) => ({ providerId: BANK, currency: 'EUR', day }));
    for (const day of days)
      await receivePage(runtime, BANK, bank.page(day) as StatementPage, false);
    await Promise.all(keys.reverse().map((key) => reconcileDay(runtime, key)));
    expect((await read('/differences?limit=100')).data).toEqual([]);
    for (const day of days) {
      const closedDay = await write('POST', `/providers/${BANK}/close-day`, {
        currency: 'EUR',
        day,
      });
      expect(closedDay).toMatchObject({ status: 'CLOSED' });
    }
  }
}, 60_000);

it('the commands reconcile and close a day, and reject an unknown time zone', async () => {
  const day = bank.today();
  bank.pay(await createPayout(true));
  await service.app.advance(DAY);
  const args = [BANK, '--currency', 'EUR', '--day', day];
  const reconcileResult = await service.run('providers', 'reconcile', ...args);
  expect(reconcileResult.out).toContain(`the statement of ${day}`);
  await service.app.settle();
  const output = (await service.run('providers', 'statements', BANK)).out;
  expect(output).toMatch(new RegExp(`${day}.* yes`));
  expect((await service.run('providers', 'differences', BANK)).out).toBe('None.\n');
  expect((await service.run('providers', 'close-day', ...args)).out).toContain('CLOSED');
  expect((await service.run('providers', 'balances', BANK)).out).toContain('REPORTED');
  const zoneResult = await service.run(
    'providers',
    'set-statements',
    BANK,
    '--time-zone',
    'Mars/Olympus',
  );
  expect(zoneResult.err).toContain('timeZone: must be an IANA time zone');
  const metrics = (await service.app.server.inject('/metrics')).body;
  expect(metrics).toContain('railhead_reconciliation_differences{kind="MISSING_WITH_US"');
}, 60_000);
