// What features ask of the transfers of a transaction. Statements that write are in `ledger-statements.ts`.
import type { Time } from '../../kernel/world.ts';
import { pgArray } from '../db/arrays.ts';
import type { Database } from '../db/database.ts';

/** Whether money of the transaction moved in one of these steps. */
export async function hasMoved(
  db: Pick<Database, 'query'>,
  transactionId: string,
  ...steps: readonly string[]
): Promise<boolean> {
  const moved = await db.query(
    'select 1 from ledger_transfers where transaction_id = $1 and step = any($2::text[]) limit 1',
    [transactionId, pgArray('text', steps)],
  );
  return moved.length > 0;
}

const NET = `select transaction_id as id,
    sum(case when credit like $2 then amount else -amount end)::int8 as net
  from ledger_transfers
  where transaction_id = any($1::text[]) and phase = 'posted' and (credit like $2 or debit like $2)
  group by transaction_id`;

/** What each of the transactions put into accounts whose ids match; below zero where it took out more. */
export async function netIn(
  db: Pick<Database, 'query'>,
  accounts: string,
  ids: readonly string[],
): Promise<ReadonlyMap<string, bigint>> {
  const rows = await db.query<{ id: string; net: bigint }>(NET, [
    pgArray('text', [...ids]),
    accounts,
  ]);
  return new Map(rows.map(({ id, net }) => [id, net]));
}

interface TransferRow {
  step: string;
  phase: string;
  debit: string;
  credit: string;
  currency: string;
  amount: bigint;
  created_at: Time;
}

// Transfers are only ever appended, so rows of one moment lie in the order in which they were staged.
const OF_TRANSACTION = `select step, phase, debit, credit, currency, amount, created_at
  from ledger_transfers where transaction_id = $1
  order by created_at, phase <> 'pending', ctid`;

/** The transfers of a transaction, in their order. */
export const transfersOf = (
  db: Pick<Database, 'query'>,
  transactionId: string,
): Promise<TransferRow[]> => db.query(OF_TRANSACTION, [transactionId]);

const IN_STEP = `select step, phase, debit, credit, currency, amount, created_at
  from ledger_transfers where transaction_id = $1 and (step = $2 or starts_with(step, $2 || '.'))`;

/** The transfers of a transaction in this step and in those that are named after it with a period. */
export const transfersInStep = (
  db: Pick<Database, 'query'>,
  transactionId: string,
  step: string,
): Promise<TransferRow[]> => db.query(IN_STEP, [transactionId, step]);
