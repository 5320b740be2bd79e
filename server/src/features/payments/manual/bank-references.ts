// Payments by the reference that a bank assigned: to a deposit, or to a result over a manual rail.
import { CURRENCIES } from '../../../catalog/currencies/currencies.ts';
import { MODES } from '../../../kernel/mode.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { depositIdOf } from './deposits.ts';

/** Exported to test their plans. */
export const BY_DEPOSIT = 'select transaction_id as id from deposits where id = any($1::text[])';
export const BY_RESULT = `select transaction_id as id from rail_results
  where reference = $1 order by created_at desc limit $2::int`;

/** A reference is unique among the deposits of an environment and currency. */
export const depositIdsOf = (reference: string): string[] =>
  MODES.flatMap((mode) =>
    CURRENCIES.map(({ code: currency }) =>
      depositIdOf(mode, { currency, bankReference: reference }),
    ),
  );

/** IDs of the payments with this reference of a bank, deposits first. */
export async function paymentsOfBankReference(
  db: Pick<Database, 'query'>,
  reference: string,
  limit: number,
): Promise<string[]> {
  const found = await Promise.all([
    db.query<{ id: string }>(BY_DEPOSIT, [depositIdsOf(reference)]),
    db.query<{ id: string }>(BY_RESULT, [reference, limit]),
  ]);
  return [...new Set(found.flat().map(({ id }) => id))].slice(0, limit);
}
