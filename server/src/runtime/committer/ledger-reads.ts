// Reads of a transaction's transfers, for features.
import type { TransferRow } from '../../ledger/transfer.ts';
import { pgArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';
import {
  ANY_IN_STEPS,
  NET_BY_TRANSACTION,
  TRANSFERS_IN_STEP,
  TRANSFERS_OF_TRANSACTION,
} from './ledger-statements.ts';

/** Whether the transaction has transfers in one of these steps. */
export async function hasTransfersIn(
  db: Pick<Database, 'query'>,
  transactionId: string,
  ...steps: readonly string[]
): Promise<boolean> {
  const transfers = await db.query(ANY_IN_STEPS, [transactionId, pgArray('text', steps)]);
  return transfers.length > 0;
}

/**
 * Net credit of each transaction to accounts whose IDs match the `like` pattern `accountPattern`,
 * from transfers without a hold. Negative if debits exceed credits. A transaction without such
 * transfers is absent.
 */
export async function netIn(
  db: Pick<Database, 'query'>,
  accountPattern: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await db.query<{ id: string; net: bigint }>(NET_BY_TRANSACTION, [
    pgArray('text', [...ids]),
    accountPattern,
  ]);
  return new Map(rows.map(({ id, net }) => [id, net]));
}

/**
 * A transfer as stored. The step of a transfer that posts or voids a hold has the suffix `!`. `force`
 * is not stored.
 */
export type StoredTransfer = Omit<TransferRow, 'transaction_id' | 'force'>;

/** The transfers of a transaction, in their order. */
export const transfersOf = (
  db: Pick<Database, 'query'>,
  transactionId: string,
): Promise<StoredTransfer[]> => db.query(TRANSFERS_OF_TRANSACTION, [transactionId]);

/**
 * The transfers of a transaction in this step and in its substeps, whose names continue with a
 * period.
 */
export const transfersInStep = (
  db: Pick<Database, 'query'>,
  transactionId: string,
  step: string,
): Promise<StoredTransfer[]> => db.query(TRANSFERS_IN_STEP, [transactionId, step]);
