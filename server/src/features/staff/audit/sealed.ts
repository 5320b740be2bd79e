// Seals descriptions of changes. A description of a customer is sealed under the customer's key, so that an
// erasure makes it unreadable. Other descriptions are sealed under a key of the installation in approvals,
// and under the key of the audit in audit records. The key of the audit is stored sealed, so a rotation of
// the installation's keys seals this key again without a change of records.
import type { Runtime } from '../../../runtime/operation/operate.ts';
import type { SealedColumn } from '../../../runtime/security/sealed-columns.ts';
import { type DataKey, dataKeyContext } from '../../../runtime/security/vault.ts';
import { dataKeyOf, readCustomer } from '../../customers/records/index.ts';

type SealingDeps = Pick<Runtime, 'db' | 'vault'>;

/** The first character of a sealed value identifies the owner of its key. */
const CUSTOMER_KEY = 'C';
const OPERATOR_KEY = 'O';
const AUDIT_KEY = 'A';

const AUDIT = 'audit';

export const sealedOperatorKey: SealedColumn = {
  table: 'operator_data_keys',
  column: 'data_key',
  contexts: (id) => [dataKeyContext(id)],
};

async function readAuditKey({ db }: Pick<SealingDeps, 'db'>): Promise<DataKey | undefined> {
  const [row] = await db.query<{ data_key: string }>(
    'select data_key from operator_data_keys where id = $1',
    [AUDIT],
  );
  return row && { owner: AUDIT, sealed: row.data_key };
}

async function ensureAuditKey(deps: SealingDeps): Promise<DataKey> {
  const existingKey = await readAuditKey(deps);
  if (existingKey) return existingKey;
  await deps.db.query(
    'insert into operator_data_keys (id, data_key) values ($1, $2) on conflict do nothing',
    [AUDIT, deps.vault.newKey(AUDIT)],
  );
  return (await readAuditKey(deps)) as DataKey;
}

/** Seals a value. `context` describes its location. */
export async function sealFor(
  { db, vault }: SealingDeps,
  customerId: string | undefined,
  text: string,
  context: string,
): Promise<string> {
  const sealedText = await sealForCustomer({ db, vault }, customerId, text, context);
  return sealedText ?? OPERATOR_KEY + vault.sealOwn(text, context);
}

async function sealForCustomer(
  { db, vault }: SealingDeps,
  customerId: string | undefined,
  text: string,
  context: string,
): Promise<string | undefined> {
  const customer = customerId === undefined ? undefined : await readCustomer(db, customerId);
  const key = customer && dataKeyOf(customer);
  return key && CUSTOMER_KEY + vault.seal(key, text, context);
}

/** Seals a text of an audit record. */
export async function sealRecord(
  deps: SealingDeps,
  customerId: string | undefined,
  text: string,
  context: string,
): Promise<string> {
  const sealedText = await sealForCustomer(deps, customerId, text, context);
  return sealedText ?? AUDIT_KEY + deps.vault.seal(await ensureAuditKey(deps), text, context);
}

/** Opens a sealed value, or undefined if the customer was erased. */
export async function openFor(
  { db, vault }: SealingDeps,
  customerId: string | null,
  sealedText: string,
  context: string,
): Promise<string | undefined> {
  const text = sealedText.slice(1);
  // Audit records of earlier versions are also sealed under this key.
  if (sealedText.startsWith(OPERATOR_KEY)) return vault.openOwn(text, context).toString();
  if (sealedText.startsWith(AUDIT_KEY)) {
    const auditKey = await readAuditKey({ db });
    return auditKey && vault.open(auditKey, text, context).toString();
  }
  const customer = customerId === null ? undefined : await readCustomer(db, customerId);
  const key = customer && dataKeyOf(customer);
  return key && vault.open(key, text, context).toString();
}
