// The expected transfers and state of a card payment, computed from the amounts in its row. Written
// from the specification and the tables of posting rules. The funding account, the debt of its
// owner, and amounts in suspense or paid out manually for the account count as one account.
import { add, type Sums } from './effects.ts';
import type { RecordedRow, Transfer } from './model.ts';

export interface Facts {
  cardId: string;
  token: string;
  direction: string;
  authorizedAmount: bigint;
  isClosed: boolean;
  settlements: string[];
  returns: string[];
  reversedCount: number;
  /** Sums of all clearings, returns, and debits by outcome. */
  settledAmount: bigint;
  refundedAmount: bigint;
  confirmedAmount: bigint;
  pendingAmount: bigint;
  stuckAmount: bigint;
  failedAmount: bigint;
  releasedAmount: bigint;
  writtenOffAmount: bigint;
  recoveredAmount: bigint;
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
    authorizedAmount: BigInt(row.card_authorized ?? 0),
    isClosed: row.card_closed === 'true',
    reversedCount: Number(row.card_reversed_refunds),
    settledAmount: sum(settlements),
    refundedAmount: sum(returns),
    confirmedAmount: sumOfDebits('CONFIRMED'),
    pendingAmount: sumOfDebits('PENDING'),
    stuckAmount: sumOfDebits('STUCK'),
    failedAmount: sumOfDebits('FAILED'),
    releasedAmount: BigInt(row.card_released ?? 0),
    writtenOffAmount: BigInt(row.card_written_off ?? 0),
    recoveredAmount: BigInt(row.card_recovered ?? 0),
  };
}

/** A cent of the card in minor units of the funding account. */
const UNITS: Readonly<Record<string, bigint>> = { USD: 1n, USDB: 10_000n };

export const unitsIn = (row: RecordedRow): bigint => UNITS[row.sent_currency ?? ''] ?? 0n;

export const accountOf = (row: RecordedRow): string =>
  (row.source_account ?? row.destination_account) as string;

/**
 * Uncleared amount of a payment in the card settlement account, in units of its funding account.
 */
export function unclearedOf(row: RecordedRow): bigint {
  const { direction, confirmedAmount, releasedAmount, writtenOffAmount, settledAmount } =
    factsOf(row);
  return direction === 'CREDIT'
    ? 0n
    : (confirmedAmount - releasedAmount + writtenOffAmount - settledAmount) * unitsIn(row);
}

/** Net cost of a payment to its funding account or to the accounts that replace it. */
export function chargeOf(row: RecordedRow): bigint {
  const {
    direction,
    confirmedAmount,
    releasedAmount,
    settledAmount,
    refundedAmount,
    recoveredAmount,
  } = factsOf(row);
  const cents =
    direction === 'CREDIT'
      ? -settledAmount
      : confirmedAmount - releasedAmount - (refundedAmount - recoveredAmount);
  return cents * unitsIn(row);
}

/** The expected sum of all transfers of a payment. */
export function cardEffect(row: RecordedRow, environment: string): Sums {
  const expectedSums: Sums = new Map();
  const {
    direction,
    pendingAmount,
    stuckAmount,
    writtenOffAmount,
    settledAmount,
    refundedAmount,
    recoveredAmount,
  } = factsOf(row);
  const units = unitsIn(row);
  const systemAccount = (purpose: string) =>
    `system:${environment}:${purpose}:${row.sent_currency}`;
  const account = accountOf(row);
  add(expectedSums, account, -chargeOf(row));
  add(expectedSums, `${account} held`, (pendingAmount + stuckAmount) * units);
  add(expectedSums, systemAccount('cards'), unclearedOf(row));
  const clearedAmount = direction === 'CREDIT' ? -settledAmount : settledAmount - refundedAmount;
  add(expectedSums, systemAccount('external_settlement'), clearedAmount * units);
  add(expectedSums, systemAccount('losses'), (recoveredAmount - writtenOffAmount) * units);
  return expectedSums;
}

const REPLACEMENT_ACCOUNTS = /^system:\w+:(suspense|receivable|rail_in_transit):/;

/** The transfers, with the funding account instead of the system accounts that replace it. */
export function attributeToAccount(row: RecordedRow, transfers: readonly Transfer[]): Transfer[] {
  const paymentAccount = (id: string) => (REPLACEMENT_ACCOUNTS.test(id) ? accountOf(row) : id);
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
    const receivedAmount = isSuspense(credit) ? amount : 0n;
    return net + receivedAmount - (isSuspense(debit) ? amount : 0n);
  }, 0n);
}

/** Amounts of the account in suspense or paid out manually. */
export function amountOutsideAccount(transfers: readonly Transfer[]): bigint {
  const isOutsideAccount = (id: string) =>
    id.includes(':suspense:') || id.includes(':rail_in_transit:');
  return transfers.reduce((net, { debit, credit, amount }) => {
    const receivedAmount = isOutsideAccount(credit) ? amount : 0n;
    return net + receivedAmount - (isOutsideAccount(debit) ? amount : 0n);
  }, 0n);
}

/** Expected status. `hasException` is true for an open exception. */
export function expectedStatus(
  { isClosed, settledAmount, refundedAmount }: Facts,
  hasException: boolean,
): string {
  if (hasException) return 'EXCEPTION';
  if (!isClosed) return settledAmount > 0n ? 'PARTIALLY_SETTLED' : 'AUTHORIZED';
  return settledAmount > 0n && settledAmount === refundedAmount ? 'REFUNDED' : 'SETTLED';
}

/** Expected state of the funds. */
export function expectedFunds({ pendingAmount, isClosed }: Facts, hasException: boolean): string {
  if (hasException) return 'SUSPENSE';
  return !isClosed || pendingAmount > 0n ? 'HELD' : 'SETTLED';
}

/** The problem of a payment whose refunds exceed what its account has paid. */
export const EXCESS_REFUND = 'refunded more than its account had paid';

/** A wrong debited amount, compared with the cleared and still authorized amounts. */
export function conflictProblem(facts: Facts, hasException: boolean): string | undefined {
  const {
    direction,
    confirmedAmount,
    pendingAmount,
    stuckAmount,
    releasedAmount,
    writtenOffAmount,
    settledAmount,
    authorizedAmount,
    isClosed,
  } = facts;
  const { refundedAmount, recoveredAmount } = facts;
  if (refundedAmount > settledAmount)
    return `refunded ${refundedAmount} of ${settledAmount} cleared`;
  if (direction === 'CREDIT') return undefined;
  const refundedToAccount = refundedAmount - recoveredAmount;
  if (refundedToAccount > confirmedAmount + pendingAmount + stuckAmount - releasedAmount)
    return EXCESS_REFUND;
  if (hasException || pendingAmount > 0n) return undefined;
  const debitedAmount = confirmedAmount - releasedAmount + writtenOffAmount;
  if (debitedAmount < settledAmount) return `debited ${debitedAmount} for ${settledAmount} cleared`;
  if (isClosed && debitedAmount !== settledAmount)
    return `is closed, debited ${debitedAmount} and cleared ${settledAmount}`;
  if (debitedAmount <= authorizedAmount || debitedAmount <= settledAmount) return undefined;
  return `debited ${debitedAmount} of ${authorizedAmount} authorized`;
}
