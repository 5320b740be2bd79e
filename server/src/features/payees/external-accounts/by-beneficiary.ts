// Finds external accounts by the full or legal name of their beneficiary, ignoring case and
// repeated spaces. PostgreSQL normalizes the stored and the searched name, so that the index and
// the search agree.
import type { Database } from '../../../runtime/db/database.ts';

const normalizedSql = (text: string) =>
  `left(upper(regexp_replace(trim(${text}), '\\s+', ' ', 'g')), 255)`;

const FULL_NAME = "info #>> '{beneficiary,fullName}'";
const LEGAL_NAME = "info #>> '{beneficiary,legalName}'";

const MAX_MATCHES = 2_000;

/**
 * The latest accounts of a beneficiary, by the expression of the index. Exported to test its plan.
 */
export const BY_BENEFICIARY = `select id from external_accounts
  where ${normalizedSql(`coalesce(${FULL_NAME}, ${LEGAL_NAME})`)} = ${normalizedSql('$1')}
    and (${FULL_NAME} is not null or ${LEGAL_NAME} is not null)
  order by created_at desc, id desc limit ${MAX_MATCHES}`;

export const idsOfBeneficiary = async (db: Pick<Database, 'query'>, name: string) =>
  (await db.query<{ id: string }>(BY_BENEFICIARY, [name])).map(({ id }) => id);
