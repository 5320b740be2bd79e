// The account of the simulated bank and its statements. Entries can be wrong, repeated, late,
// missing or unknown. Each fault is recorded with the difference that must be listed for operators.
import { iso } from '../../../src/kernel/effects.ts';
import { DAY } from '../../kit/app/production.ts';
import { type BankAccount, bankAccount, type Entry } from '../../kit/providers/bank-account.ts';
import { type Chance, seededChance } from '../harness/chance.ts';
import type { Installation } from './installation.ts';

const OPENING_BALANCE = 1_000_000_00;
const LINES_PER_PAGE = 8;
/** Smallest amount of entries other than transfers and deposits. */
const MIN_OTHER_AMOUNT = 1_000_000;
/** Decisions that only post the funds of a difference. */
const fundDecisions = () => ['RECORD_FEE', 'OWN_FUNDS', 'WRITE_OFF', 'SUSPENSE'];

/** A difference that a fault causes. */
export interface Expectation {
  /** First day on which the difference must be listed. The difference can be listed earlier. */
  day: string;
  decisions(): readonly string[];
  /** Input of a decision in addition to the reason. */
  input?: object;
  /** Whether the difference can disappear without a decision, when a late entry is booked. */
  isOptional?: boolean;
  onDecision?(decision: string): void;
}

export const lineKey = (kind: string, lineId: string) => `${kind} ${lineId}`;
/**
 * The key of a missing entry by its unique amount. Entries that decrease the balance have a
 * negative amount.
 */
export const missingKey = (amount: number) => `MISSING_AT_PROVIDER ${amount}`;
const PAYOUT_FAULTS = ['fee', 'amount', 'double', 'missing', 'late', 'anonymous'] as const;
type Fault = (typeof PAYOUT_FAULTS)[number] | 'none';

/** The fault of an entry. Each fault occurs in one of `frequency` entries. */
const chooseFault = (chance: Chance, faults: readonly Fault[], frequency: number): Fault =>
  faults[chance.integerBelow(frequency)] ?? 'none';

export function bookkeeping(
  { app, adapter }: Pick<Installation, 'app' | 'adapter'>,
  seed: string,
  add: (fault: string) => void,
) {
  const account: BankAccount = bankAccount(app, adapter, 'EUR', OPENING_BALANCE, LINES_PER_PAGE);
  // The statement of the day before the first day is requested, too.
  account.dayOf(iso(app.effects.now() - DAY).slice(0, 10));
  const expected = new Map<string, Expectation>();
  const lateEntries: (() => void)[] = [];
  const chance = seededChance(`${seed} entries`);
  let otherEntryCount = 0;

  function expectLine(kind: string, { id }: Entry, details: Partial<Expectation> = {}): void {
    add(kind);
    expected.set(lineKey(kind, id), { day: account.today(), decisions: fundDecisions, ...details });
  }

  function expectMissing(amount: number, details: Partial<Expectation>): void {
    add('MISSING_AT_PROVIDER');
    // By the end of the next day the ledger has the result, too.
    const day = nextDay(account.today());
    expected.set(missingKey(amount), { day, decisions: () => ['WRITE_OFF', 'IGNORE'], ...details });
  }

  /** Books an entry with this fault. */
  function bookWith(fault: Fault, fields: Omit<Entry, 'id' | 'at'>): void {
    const { direction, amount, transferId } = fields;
    if (fault === 'fee') expectLine('FEE_UNEXPECTED', account.book({ ...fields, fee: 7 }));
    else if (fault === 'amount') {
      expectLine('AMOUNT_DIFFERS', account.book({ ...fields, amount: amount + 3 }));
    } else if (fault === 'double') {
      account.book(fields);
      expectLine('DUPLICATED', account.book(fields));
    } else if (fault === 'late') {
      add('late entries');
      const key = missingKey(direction === 'out' ? -amount : amount);
      expected.set(key, { day: account.today(), decisions: () => ['CARRY'], isOptional: true });
      lateEntries.push(() => {
        expected.delete(key);
        account.book(fields);
      });
    } else if (fault === 'anonymous') {
      const reference = transferId && adapter.transfers.get(transferId).reference;
      account.book({ ...fields, transferId: undefined, reference });
    } else if (fault !== 'missing') account.book(fields);
  }

  return {
    ...{ account, expected },
    /** Books a payout, which an operator can reverse if its entry is missing. */
    bookPayout(transferId: string, payout: { isSettled(): boolean; reverse(): void }): void {
      const { amount } = adapter.transfers.get(transferId);
      const fault = chooseFault(seededChance(`${seed} ${transferId}`), PAYOUT_FAULTS, 40);
      if (fault === 'missing') {
        expectMissing(-amount, {
          decisions: () => ['WRITE_OFF', 'IGNORE', ...(payout.isSettled() ? ['RETURN'] : [])],
          onDecision(decision) {
            if (decision === 'RETURN') payout.reverse();
          },
        });
      }
      bookWith(fault, { direction: 'out', amount, kind: 'transfer', transferId });
    },
    bookReturn(transferId: string): void {
      const { amount } = adapter.transfers.get(transferId);
      const fault = chooseFault(
        seededChance(`${seed} ${transferId}/return`),
        ['fee', 'double'],
        20,
      );
      bookWith(fault, { direction: 'in', amount, kind: 'return', transferId });
    },
    /** Books a deposit that is also reported by a message. */
    bookDeposit(bankReference: string, amount: number): void {
      const fault = chooseFault(chance, ['fee', 'double', 'late'], 30);
      bookWith(fault, { direction: 'in', amount, kind: 'deposit', bankReference });
    },
    bookDepositReturn(bankReference: string, amount: number): void {
      account.book({ direction: 'out', amount, kind: 'return', bankReference });
    },
    expectMissing,
    /** Books a deposit without a message. */
    bookSilently(bankReference: string, amount: number, details: Partial<Expectation>): void {
      const entry = { direction: 'in', amount, kind: 'deposit', bankReference } as const;
      expectLine('MISSING_WITH_US', account.book(entry), details);
    },
    /** Books an entry that Railhead cannot match. */
    bookOther(): void {
      const amount = MIN_OTHER_AMOUNT + otherEntryCount++;
      const direction = chance.pick(['in', 'out'] as const);
      const kind = chance.pick(['fee', 'funding', 'adjustment', 'other']);
      expectLine('MISSING_WITH_US', account.book({ direction, amount, kind }));
    },
    /** Changes the balance of today without an entry. No entry of today may follow. */
    shiftBalance(): void {
      const day = account.today();
      add('BALANCE_DIFFERS');
      expected.set(lineKey('BALANCE_DIFFERS', day), { day, decisions: fundDecisions });
      account.shift(day, chance.pick([-1, 1]) * (11 + chance.integerBelow(9)));
    },
    /** Adds an entry to a closed day. Returns false if a later day has begun. */
    correct(day: string): boolean {
      if ([...account.days.keys()].some((bookedDay) => bookedDay > day)) return false;
      const amount = MIN_OTHER_AMOUNT + otherEntryCount++;
      const at = `${day}T12:00:00Z`;
      const entry = { id: `C${amount}`, direction: 'in', amount, kind: 'adjustment', at } as const;
      account.correct(day, (entries) => [...entries, entry]);
      add('LATE_CORRECTION');
      expected.set(lineKey('LATE_CORRECTION', String(amount)), { day, decisions: fundDecisions });
      return true;
    },
    /** Books the entries that were late on the day before. */
    startDay(): void {
      for (const book of lateEntries.splice(0)) book();
    },
  };
}

const nextDay = (day: string) => iso(Date.parse(day) + DAY).slice(0, 10);

export type Bookkeeping = ReturnType<typeof bookkeeping>;
