// Where transactions get their type: new rows of each type, and the checks by which a row read by its id
// becomes one of them.
import type { Money } from '../../../kernel/money.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { NewRow } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type CardPaymentRow,
  type IncomingRow,
  type OutgoingRow,
  type PaymentRow,
  type TransactionRow,
  transactions,
} from './store.ts';

/** Stages a new transaction. */
export function insertTransaction(ctx: Ctx, row: NewRow<OutgoingRow>): OutgoingRow;
export function insertTransaction(ctx: Ctx, row: NewRow<IncomingRow>): IncomingRow;
export function insertTransaction(ctx: Ctx, row: NewRow<CardPaymentRow>): CardPaymentRow;
export function insertTransaction(ctx: Ctx, row: NewRow<TransactionRow>): TransactionRow {
  return ctx.insert(transactions, row);
}

/** The transaction with this id, which is known to be there. */
export async function transactionAt(
  from: Pick<Database, 'read'>,
  id: string,
): Promise<TransactionRow> {
  const row = await from.read(transactions, id);
  if (!row) throw new Error(`${id} not found`);
  return row;
}

const mistyped = ({ id, type }: TransactionRow, expected: TransactionRow['type']) =>
  new Error(`${id} is ${type}, not ${expected}`);

/** Throws for a transaction of another type. */
export function asOutgoing(row: TransactionRow): OutgoingRow {
  if (row.type === 'OUTGOING') return row;
  throw mistyped(row, 'OUTGOING');
}

/** Throws for a transaction of another type. */
export function asIncoming(row: TransactionRow): IncomingRow {
  if (row.type === 'INCOMING') return row;
  throw mistyped(row, 'INCOMING');
}

/** Throws for a card payment. */
export function asPayment(row: TransactionRow): PaymentRow {
  if (row.type !== 'CARD') return row;
  throw new Error(`${row.id} is a card payment`);
}

/** Throws for funds that came from no account and no address. */
export function sourceAccountOf({ id, source_account: account }: TransactionRow): string {
  if (account === null) throw new Error(`${id} has no source account`);
  return account;
}

/** What it takes from its source: of incoming funds the same as is received, as only pulls take any. */
export const debitedOf = (row: PaymentRow): Money =>
  row.type === 'OUTGOING'
    ? { currency: row.sent_currency, amount: row.sent_amount }
    : receivedOf(row);

/** What arrives at its destination. */
export const receivedOf = (row: PaymentRow): Money => ({
  currency: row.received_currency,
  amount: row.received_amount,
});
