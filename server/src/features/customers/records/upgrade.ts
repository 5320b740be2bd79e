// Encrypts the personal data of customers that a version without data keys stored. That version
// encrypted only the identity number, with the master key. The migration runs in batches at the
// first start of a new version and resumes after an interruption. Concurrent processes share the
// work, because a row is updated only in the version that was read.
import type { Database } from '../../../runtime/db/database.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import { customerDigests, type Personal, sealPersonal } from './personal.ts';

const BATCH_SIZE = 500;

interface OldRow {
  id: string;
  email: string | null;
  phone: string | null;
  identifier: string | null;
  details: CustomerDetails;
  version: number;
}

const UNSEALED_EXISTS_SQL = 'select id from customers where details is not null limit 1';

const UNSEALED_BATCH_SQL = `select id, email, phone, identifier, details, version from customers
  where details is not null order by id limit ${BATCH_SIZE}`;

const SEALED_COLUMNS = [
  'data_key',
  'personal',
  'email_digest',
  'phone_digest',
  'identifier_digest',
] as const;

const COLUMN_PARAMETERS = SEALED_COLUMNS.map((_, index) => `$${index + 3}::text[]`).join(', ');

const SEAL_SQL = `update customers c set version = c.version + 1, details = null, identifier = null,
    ${SEALED_COLUMNS.map((name) => `${name} = x.${name}`).join(', ')}
  from (select * from unnest($1::text[], $2::int[], ${COLUMN_PARAMETERS})
    as x(id, version, ${SEALED_COLUMNS.join(', ')}) order by id) x
  where c.id = x.id and c.version = x.version and c.details is not null
  returning c.id`;

const identifierOf = (vault: Vault, { id, identifier }: OldRow): string | null =>
  identifier === null ? null : vault.openOwn(identifier, `customers ${id}`).toString();

function sealRow(vault: Vault, row: OldRow) {
  const data_key = vault.newKey(row.id);
  const personal: Personal = { details: row.details, identifier: identifierOf(vault, row) };
  return {
    data_key,
    personal: sealPersonal(vault, { owner: row.id, sealed: data_key }, personal),
    ...customerDigests(vault, { ...row, personal }),
  };
}

/** Whether any customer is still stored in the old format. */
export const hasUnsealedCustomers = async (db: Database): Promise<boolean> =>
  (await db.query(UNSEALED_EXISTS_SQL)).length > 0;

/**
 * Encrypts all customers in the old format. Returns the number that this call migrated.
 * `beforeUpgrade` runs first if such customers exist.
 */
export async function sealOldCustomers(
  db: Database,
  vault: Vault,
  beforeUpgrade?: () => Promise<unknown>,
): Promise<number> {
  if (!(await hasUnsealedCustomers(db))) return 0;
  await beforeUpgrade?.();
  for (let count = 0; ; ) {
    const rows = await db.query<OldRow>(UNSEALED_BATCH_SQL);
    if (rows.length === 0) return count;
    const sealedRows = rows.map((row) => sealRow(vault, row));
    const columns = SEALED_COLUMNS.map((name) => sealedRows.map((each) => each[name]));
    const ids = rows.map((row) => row.id);
    const versions = rows.map((row) => row.version);
    count += (await db.query(SEAL_SQL, [ids, versions, ...columns])).length;
  }
}
