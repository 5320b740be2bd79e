// The expected transfers and state of a card payment, computed from the amounts in its row. Written
// from the specification and the tables of posting rules. The funding account, the debt of its
// owner, and amounts in suspense or paid out manually for the account count as one.
import { add, type Sums } from './effects.ts';
import type { RecordedRow, Transfer } from './model.ts';

export interface Facts {
  cardId: string;
  token: string;
  direction: string;
  authorized: bigint;
  closed: boolean;
  settlements: string[];
  returns: string[];
  reversed: number;
  /** Sums of all clearings, returns, and debits by outcome. */
  settled: bigint;
  refunded: bigint;
  confirmed: bigint;
  pending: bigint;
  stuck: bigint;
  failed: bigint;
  released: bigint;
  writtenOff: bigint;
  recovered: bigint;
  debits: { amount: string; status: string }[];
}

const sum = (amounts: readonly string[]) =>
  amounts.reduce((total, amount) => total + BigInt(amount), 0n);

/** Parses an array in PostgreSQL's text format. */
const listOf = (text: string | null | undefined): string[] =>
  (text ?? '{}').slice(1, -1).split(',').filter(Boolean);

export const hasPendingFundingDebit = ({
  card_funding_debit_statuses: statuses,
}: RecordedRow): boolean => listOf(statuses).includes('PENDING');

export function factsOf(row: RecordedRow): Facts {
  const { cardId, token } = JSON.parse(row.card ?? '{}');
  const statuses = listOf(row.card_funding_debit_statuses);
  const debits = listOf(row.card_funding_debits).map((amount, index) => ({
    amount,
    status: statuses[index] ?? '',
  }));
  const sumOfDebits = (status: string) =>
    sum(debits.flatMap((debit) => (debit.status === status ? debit.amount : [])));
  const [settlements, returns] = [listOf(row.card_clearings), listOf(row.card_refunds)];
  return {
    ...{ cardId, token, settlements, returns, debits },
    direction: row.direction as string,
    authorized: BigInt(row.card_authorized ?? 0),
    closed: row.card_closed === 'true',
    reversed: Number(row.card_reversed_refunds),
    settled: sum(settlements),
    refunded: sum(returns),
    confirmed: sumOfDebits('CONFIRMED'),
    pending: sumOfDebits('PENDING'),
    stuck: sumOfDebits('STUCK'),
    failed: sumOfDebits('FAILED'),
    released: BigInt(row.card_released ?? 0),
    writtenOff: BigInt(row.card_written_off ?? 0),
    recovered: BigInt(row.card_recovered ?? 0),
  };
}

/** A cent of the card in the smallest unit of the funding account. */
const UNITS: Readonly<Record<string, bigint>> = { USD: 1n, USDB: 10_000n };

export const unitsIn = (row: RecordedRow): bigint => UNITS[row.sent_currency ?? ''] ?? 0n;

export const accountOf = (row: RecordedRow): string =>
  (row.source_account ?? row.destination_account) as string;

/**
 * Uncleared amount of a payment in the card settlement account, in units of its funding account.
 */
export function unclearedOf(row: RecordedRow): bigint {
  const { direction, confirmed, released, writtenOff, settled } = factsOf(row);
  return direction === 'CREDIT' ? 0n : (confirmed - released + writtenOff - settled) * unitsIn(row);
}

/** Net cost of a payment to its funding account or to the accounts that replace it. */
export function chargeOf(row: RecordedRow): bigint {
  const { direction, confirmed, released, settled, refunded, recovered } = factsOf(row);
  const cents = direction === 'CREDIT' ? -settled : confirmed - released - (refunded - recovered);
  return cents * unitsIn(row);
}

/** The expected sum of all transfers of a payment. */
export function cardEffect(row: RecordedRow, environment: string): Sums {
  const expected: Sums = new Map();
  const { direction, pending, stuck, writtenOff, settled, refunded, recovered } = factsOf(row);
  const units = unitsIn(row);
  const systemAccount = (purpose: string) =>
    `system:${environment}:${purpose}:${row.sent_currency}`;
  const account = accountOf(row);
  add(expected, account, -chargeOf(row));
  add(expected, `${account} held`, (pending + stuck) * units);
  add(expected, systemAccount('cards'), unclearedOf(row));
  const cleared = direction === 'CREDIT' ? -settled : settled - refunded;
  add(expected, systemAccount('external_settlement'), cleared * units);
  add(expected, systemAccount('losses'), (recovered - writtenOff) * units);
  return expected;
}

const STAND_INS = /^system:\w+:(suspense|receivable|rail_in_transit):/;

/** The transfers with the funding account in place of the system accounts that acted for it. */
export function attributeToAccount(row: RecordedRow, transfers: readonly Transfer[]): Transfer[] {
  const paymentAccount = (id: string) => (STAND_INS.test(id) ? accountOf(row) : id);
  return transfers.map((transfer) => ({
    ...transfer,
    debit: paymentAccount(transfer.debit),
    credit: paymentAccount(transfer.credit),
  }));
}

/** Amount in suspense. Negative if the debits exceed the credits. */
export function amountInSuspense(transfers: readonly Transfer[]): bigint {
  const isSuspense = (id: string) => id.includes(':suspense:');
  return transfers.reduce((net, { debit, credit, amount }) => {
    const received = isSuspense(credit) ? amount : 0n;
    return net + received - (isSuspense(debit) ? amount : 0n);
  }, 0n);
}

/** Amounts of the account in suspense or paid out manually. */
export function amountOutsideAccount(transfers: readonly Transfer[]): bigint {
  const isOutsideAccount = (id: string) =>
    id.includes(':suspense:') || id.includes(':rail_in_transit:');
  return transfers.reduce((net, { debit, credit, amount }) => {
    const received = isOutsideAccount(credit) ? amount : 0n;
    return net + received - (isOutsideAccount(debit) ? amount : 0n);
  }, 0n);
}

/** Expected status. `excepted` is true for an open exception. */
export function expectedStatus({ closed, settled, refunded }: Facts, excepted: boolean): string {
  if (excepted) return 'EXCEPTION';
  if (!closed) return settled > 0n ? 'PARTIALLY_SETTLED' : 'AUTHORIZED';
  return settled > 0n && settled === refunded ? 'REFUNDED' : 'SETTLED';
}

/** Expected state of the funds. */
export function expectedFunds({ pending, closed }: Facts, excepted: boolean): string {
  if (excepted) return 'SUSPENSE';
  return !closed || pending > 0n ? 'HELD' : 'SETTLED';
}

/** A wrong debited amount, compared with the cleared and still authorized amounts. */
export function conflictProblem(facts: Facts, excepted: boolean): string | undefined {
  const {
    direction,
    confirmed,
    pending,
    stuck,
    released,
    writtenOff,
    settled,
    authorized,
    closed,
  } = facts;
  const { refunded, recovered } = facts;
  if (refunded > settled) return `refunded ${refunded} of ${settled}`;
  if (direction === 'CREDIT') return undefined;
  const refundedToAccount = refunded - recovered;
  if (refundedToAccount > confirmed + pending + stuck - released)
    return 'refunded more than its account had paid';
  if (excepted || pending > 0n) return undefined;
  const debited = confirmed - released + writtenOff;
  if (debited < settled) return `debited ${debited} for ${settled} cleared`;
  if (closed && debited !== settled) return `is closed and keeps ${debited - settled}`;
  if (debited <= authorized || debited <= settled) return undefined;
  return `debited ${debited} of ${authorized} authorized`;
}
