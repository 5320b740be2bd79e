// Customers as versions before sealing wrote them: the fields of their type in clear, the identity number
// sealed under the master key itself. They are sealed when the new version first starts, a batch at a time:
// one that is cut short is taken up where it stopped, and two processes that start together share the work,
// since a row is written only as it was read.
import type { Database } from '../../../runtime/db/database.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import { customerDigests, type Personal, sealPersonal } from './personal.ts';

const AT_ONCE = 500;

interface OldRow {
  id: string;
  email: string | null;
  phone: string | null;
  identifier: string | null;
  details: CustomerDetails;
  version: number;
}

const ANY = 'select id from customers where details is not null limit 1';

const OLD = `select id, email, phone, identifier, details, version from customers
  where details is not null order by id limit ${AT_ONCE}`;

const NEW = ['data_key', 'personal', 'email_digest', 'phone_digest', 'identifier_digest'] as const;

const ARRAYS = NEW.map((_, at) => `$${at + 3}::text[]`).join(', ');

const SEAL = `update customers c set version = c.version + 1, details = null, identifier = null,
    ${NEW.map((name) => `${name} = x.${name}`).join(', ')}
  from (select * from unnest($1::text[], $2::int[], ${ARRAYS})
    as x(id, version, ${NEW.join(', ')}) order by id) x
  where c.id = x.id and c.version = x.version and c.details is not null
  returning c.id`;

const identifierOf = (vault: Vault, { id, identifier }: OldRow): string | null =>
  identifier === null ? null : vault.openOwn(identifier, `customers ${id}`).toString();

function sealed(vault: Vault, row: OldRow) {
  const data_key = vault.newKey(row.id);
  const personal: Personal = { details: row.details, identifier: identifierOf(vault, row) };
  return {
    data_key,
    personal: sealPersonal(vault, { owner: row.id, sealed: data_key }, personal),
    ...customerDigests(vault, { ...row, personal }),
  };
}

/** Whether there are customers that wait to be sealed. */
export const awaitSealing = async (db: Database): Promise<boolean> =>
  (await db.query(ANY)).length > 0;

/**
 * Seals every customer that an older version wrote; answers how many this call sealed. `before` runs first
 * where there are any.
 */
export async function sealOldCustomers(
  db: Database,
  vault: Vault,
  before?: () => Promise<unknown>,
): Promise<number> {
  if (!(await awaitSealing(db))) return 0;
  await before?.();
  for (let count = 0; ; ) {
    const rows = await db.query<OldRow>(OLD);
    if (rows.length === 0) return count;
    const after = rows.map((row) => sealed(vault, row));
    const columns = NEW.map((name) => after.map((each) => each[name]));
    const ids = rows.map((row) => row.id);
    const versions = rows.map((row) => row.version);
    count += (await db.query(SEAL, [ids, versions, ...columns])).length;
  }
}
