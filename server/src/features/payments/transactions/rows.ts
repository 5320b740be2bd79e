// Typed transactions: inserts by type, and the checks that narrow a row that was read by its ID.
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

export function insertTransaction(ctx: Ctx, row: NewRow<OutgoingRow>): OutgoingRow;
export function insertTransaction(ctx: Ctx, row: NewRow<IncomingRow>): IncomingRow;
export function insertTransaction(ctx: Ctx, row: NewRow<CardPaymentRow>): CardPaymentRow;
export function insertTransaction(ctx: Ctx, row: NewRow<TransactionRow>): TransactionRow {
  return ctx.insert(transactions, row);
}

/** The transaction with this ID. Throws if there is none. */
export async function loadTransaction(
  from: Pick<Database, 'read'>,
  id: string,
): Promise<TransactionRow> {
  const row = await from.read(transactions, id);
  if (!row) throw new Error(`${id} not found`);
  return row;
}

const unexpectedTypeError = ({ id, type }: TransactionRow, expectedType: TransactionRow['type']) =>
  new Error(`${id} is ${type}, not ${expectedType}`);

/** Throws for a transaction of another type. */
export function asOutgoing(row: TransactionRow): OutgoingRow {
  if (row.type === 'OUTGOING') return row;
  throw unexpectedTypeError(row, 'OUTGOING');
}

/** Throws for a transaction of another type. */
export function asIncoming(row: TransactionRow): IncomingRow {
  if (row.type === 'INCOMING') return row;
  throw unexpectedTypeError(row, 'INCOMING');
}

/** Throws for a card payment. */
export function asPayment(row: TransactionRow): PaymentRow {
  if (row.type !== 'CARD') return row;
  throw new Error(`${row.id} is a card payment`);
}

/** The account or UMA address that sent the funds. Throws for funds without either. */
export function sourceAccountOf({ id, source_account: account }: TransactionRow): string {
  if (account === null) throw new Error(`${id} has no source account`);
  return account;
}

/**
 * Amount debited from the source. For an incoming payment this is the received amount, because
 * debits have no conversion.
 */
export const debitedOf = (row: PaymentRow): Money =>
  row.type === 'OUTGOING'
    ? { currency: row.sent_currency, amount: row.sent_amount }
    : receivedOf(row);

/** Amount credited to the destination. */
export const receivedOf = (row: PaymentRow): Money => ({
  currency: row.received_currency,
  amount: row.received_amount,
});
