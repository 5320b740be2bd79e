// A simulated bank account of the installation. The adapter returns its entries of each day as
// statements. Tests change entries to create faulty statements.
import { iso } from '../../../src/kernel/effects.ts';
import type { TestApp } from '../app/harness.ts';
import type { Adapter } from './adapter.ts';

export interface Entry {
  id: string;
  direction: 'in' | 'out';
  amount: number;
  kind: string;
  at: string;
  fee?: number | undefined;
  transferId?: string | undefined;
  reference?: string | undefined;
  bankReference?: string | undefined;
}

const DEFAULT_PAGE_SIZE = 500;

const effectOf = ({ direction, amount, fee = 0 }: Entry) =>
  (direction === 'in' ? amount : -amount) - fee;

interface Day {
  openingBalance: number;
  /** Change of the closing balance without an entry. */
  shift: number;
  statementId: string;
  entries: Entry[];
}

/**
 * Creates an account in one currency. `openingBalance` is its balance at the start of the first
 * day.
 */
export function bankAccount(
  app: TestApp,
  adapter: Adapter,
  currency: string,
  openingBalance: number,
  pageSize = DEFAULT_PAGE_SIZE,
) {
  const days = new Map<string, Day>();
  let balance = openingBalance;
  let count = 0;
  const today = () => iso(app.effects.now()).slice(0, 10);

  function dayOf(day: string): Day {
    const existingDay = days.get(day);
    if (existingDay) return existingDay;
    const createdDay = { openingBalance: balance, shift: 0, statementId: `${day}-1`, entries: [] };
    days.set(day, createdDay);
    return createdDay;
  }
  const closingOf = ({ openingBalance: openingAmount, shift, entries }: Day) =>
    entries.reduce((sum, entry) => sum + effectOf(entry), openingAmount + shift);

  function book(fields: Partial<Entry> & Pick<Entry, 'direction' | 'amount'>): Entry {
    count += 1;
    // Of two identical lines, the one with the later ID is the duplicate.
    const id = `E${String(count).padStart(6, '0')}`;
    const entry = { id, kind: 'transfer', at: iso(app.effects.now()), ...fields };
    dayOf(today()).entries.push(entry);
    balance += effectOf(entry);
    return entry;
  }

  function page(day: string, number = 1) {
    const requestedDay = dayOf(day);
    const { statementId, openingBalance: openingAmount, entries } = requestedDay;
    return {
      ...{ statementId, day, currency, openingBalance: openingAmount, page: number },
      closingBalance: closingOf(requestedDay),
      lineCount: entries.length,
      pageCount: Math.max(1, Math.ceil(entries.length / pageSize)),
      lines: entries.slice((number - 1) * pageSize, number * pageSize),
    };
  }

  const previousReply = adapter.replies['/statements/day'];
  adapter.replies['/statements/day'] = (body) => {
    if (body.currency === currency && body.day < today())
      return { body: page(body.day, body.page) };
    return previousReply?.(body) ?? { status: 404, body: { message: 'unknown' } };
  };

  return {
    days,
    today,
    page,
    dayOf,
    book,
    /** Books the entry of a transfer that the adapter has received. */
    pay(transferId: string, fields: Partial<Entry> = {}) {
      const { amount, reference } = adapter.transfers.get(transferId);
      return book({ direction: 'out', amount, reference, transferId, ...fields });
    },
    balance: () => balance,
    /** Changes the closing balance of a day without an entry. */
    shift(day: string, amount: number) {
      dayOf(day).shift += amount;
      balance += amount;
    },
    /** Changes the entries of a reported day. The next statement of the day is a correction. */
    correct(day: string, change: (entries: Entry[]) => Entry[]) {
      const correctedDay = dayOf(day);
      const closingBefore = closingOf(correctedDay);
      correctedDay.entries = change(correctedDay.entries);
      correctedDay.statementId += 'c';
      balance += closingOf(correctedDay) - closingBefore;
    },
  };
}

export type BankAccount = ReturnType<typeof bankAccount>;

type Write = (method: string, path: string, body?: object) => Promise<{ ownKeys: never }>;

/** Adds the bank of an adapter as the provider of payouts in EUR. */
export async function connectBank(write: Write, adapter: Adapter, providerId: string) {
  const provider = await write('POST', '/providers', {
    ...{ providerId, environment: 'production', url: adapter.url },
    ...{ publicKeyPem: adapter.publicKeyPem, privateAddressAllowed: true },
  });
  adapter.accept(provider.ownKeys);
  await write('POST', `/providers/${providerId}/check`);
  await write('POST', '/provider-routes', {
    ...{ providerId, environment: 'production', priority: 10, currency: 'EUR' },
  });
}

/** The balance of a ledger account. */
export async function ledgerBalance({ runtime }: TestApp, id: string): Promise<number> {
  const text = 'select balance from ledger_accounts where id = $1';
  const [row] = await runtime.db.query<{ balance: bigint }>(text, [id]);
  return Number(row?.balance ?? 0n);
}
