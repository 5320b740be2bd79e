// Payments by the reference that a bank assigned: to a deposit, or to a result over a manual rail.
import { CURRENCIES } from '../../../catalog/currencies/currencies.ts';
import { MODES } from '../../../kernel/mode.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { providerModes } from '../../providers/index.ts';
import { depositIdOf } from './deposits.ts';

/** Statements, exported to test their plans. */
export const BY_DEPOSIT = 'select transaction_id as id from deposits where id = any($1::text[])';
export const BY_RESULT = `select transaction_id as id from rail_results
  where reference = $1 order by created_at desc limit $2::int`;

type Reporter = Awaited<ReturnType<typeof providerModes>>[number];

/**
 * IDs that a deposit with this reference can have. Each currency has one ID for the operators of
 * each environment and one ID for each reporter.
 */
export const depositIdsOf = (reference: string, reporters: readonly Reporter[] = []): string[] =>
  CURRENCIES.flatMap(({ code: currency }) => {
    const entry = { currency, bankReference: reference };
    return [
      ...MODES.map((mode) => depositIdOf(mode, entry)),
      ...reporters.map((each) => depositIdOf(each.environment, { ...entry, reportedBy: each })),
    ];
  });

/** IDs of the payments with this reference of a bank, deposits first. */
export async function paymentsOfBankReference(
  db: Pick<Database, 'query'>,
  reference: string,
  limit: number,
): Promise<string[]> {
  const reporters = await providerModes(db);
  const results = await Promise.all([
    db.query<{ id: string }>(BY_DEPOSIT, [depositIdsOf(reference, reporters)]),
    db.query<{ id: string }>(BY_RESULT, [reference, limit]),
  ]);
  return [...new Set(results.flat().map(({ id }) => id))].slice(0, limit);
}
