// Migration of customers that were stored before encryption per customer: also interrupted,
// concurrent, and with a different master key.
import { afterEach, expect, it } from 'vitest';
import { createCustomer, ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { seal } from '../../../runtime/security/crypto.ts';
import { createVault } from '../../../runtime/security/vault.ts';
import { digestOf } from '../digests/index.ts';
import { type CustomerRow, customers } from './store.ts';
import { hasUnsealedCustomers, sealOldCustomers } from './upgrade.ts';

const MASTER_KEY = Buffer.alloc(32, 7);
const DETAILS = { fullName: 'Ada Lovelace', birthDate: '1950-02-03', idType: 'SSN' };

const app = testApp();
afterEach(async () => {
  await app.runtime.db.query('update customers set details = null where details is not null');
});

/** Converts a customer to the row format of the previous version. */
async function createOldRow(
  identifier: string | null,
  details: object = DETAILS,
  overrides: object = {},
) {
  const { id } = await createCustomer(app, {}, overrides);
  const sealedIdentifier =
    identifier && seal(app.effects, MASTER_KEY, identifier, `customers ${id}`);
  await app.runtime.db.query(
    `update customers set data_key = null, personal = null, email_digest = null,
      phone_digest = null, identifier_digest = null, details = $2, identifier = $3 where id = $1`,
    [id, JSON.stringify(details), sealedIdentifier],
  );
  return id as string;
}

const readColumns = async (id: string) => {
  const sql =
    'select details, identifier, data_key, personal, version from customers where id = $1';
  return (await app.runtime.db.query(sql, [id]))[0] as Record<string, unknown>;
};
const rowOf = async (id: string) => (await app.runtime.db.read(customers, id)) as CustomerRow;
const upgrade = () => sealOldCustomers(app.runtime.db, app.runtime.vault);

it('sealOldCustomers encrypts plain-text data and preserves all values', async () => {
  const id = await createOldRow('123-45-6789', DETAILS, { email: 'ada@lovelace.example' });
  const idWithoutIdentifier = await createOldRow(null);
  const versionBefore = (await readColumns(id)).version as number;
  expect(await hasUnsealedCustomers(app.runtime.db)).toBe(true);
  expect(await upgrade()).toBe(2);
  expect(await hasUnsealedCustomers(app.runtime.db)).toBe(false);
  const columnsAfter = await readColumns(id);
  expect(columnsAfter).toMatchObject({
    details: null,
    identifier: null,
    version: versionBefore + 1,
  });
  expect(JSON.stringify(columnsAfter)).not.toContain('Lovelace');
  const fetchedCustomer = ok(await app.call('GET', `/customers/${id}`), 200);
  expect(fetchedCustomer).toMatchObject({ ...DETAILS, email: 'ada@lovelace.example' });
  expect(ok(await app.call('GET', `/customers/${idWithoutIdentifier}`), 200)).toMatchObject(
    DETAILS,
  );
  const { vault } = app.runtime;
  expect(await rowOf(id)).toMatchObject({
    email_digest: digestOf(vault, 'email', 'ADA@lovelace.example'),
    identifier_digest: digestOf(vault, 'identifier', '123456789'),
  });
  // The identifier is retained, so an unrelated update does not require it again.
  const change = { customerType: 'INDIVIDUAL', nationality: 'DE' };
  ok(await app.call('PATCH', `/customers/${id}`, change), 200);
});

it('sealOldCustomers shares the work between two runs and resumes an interrupted run', async () => {
  const ids: string[] = [];
  for (let n = 0; n < 12; n++) ids.push(await createOldRow(`10-${n}`));
  // An interrupted run has already migrated some rows.
  await app.runtime.db.query(
    `update customers set data_key = 'x', details = null where id = any($1::text[])`,
    [ids.slice(0, 3)],
  );
  const [firstCount, secondCount] = await Promise.all([upgrade(), upgrade()]);
  expect(firstCount + secondCount).toBe(9);
  for (const id of ids.slice(3)) {
    expect(ok(await app.call('GET', `/customers/${id}`), 200)).toMatchObject(DETAILS);
  }
});

it('sealOldCustomers leaves all rows unchanged with a wrong master key', async () => {
  const id = await createOldRow('55');
  const vault = createVault(app.effects, () => Buffer.alloc(32, 8));
  await expect(sealOldCustomers(app.runtime.db, vault)).rejects.toThrow('cannot decrypt');
  expect(await readColumns(id)).toMatchObject({ details: DETAILS, data_key: null });
  expect(await upgrade()).toBe(1);
});
