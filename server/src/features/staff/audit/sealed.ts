// Texts about changes, sealed under the key of the customer they are about, so that an erasure makes
// them unreadable, or under the operator's own key.
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { dataKeyOf, readCustomer } from '../../customers/records/index.ts';

type Parts = Pick<Runtime, 'db' | 'vault'>;

/** The first character of a sealed text: whose key seals it. */
const OF_CUSTOMER = 'C';
const OF_OPERATOR = 'O';

/** Seals a text; `context` describes its location. */
export async function sealFor(
  { db, vault }: Parts,
  customerId: string | undefined,
  text: string,
  context: string,
): Promise<string> {
  const customer = customerId === undefined ? undefined : await readCustomer(db, customerId);
  const key = customer && dataKeyOf(customer);
  return key
    ? OF_CUSTOMER + vault.seal(key, text, context)
    : OF_OPERATOR + vault.sealOwn(text, context);
}

/** Opens a text; undefined if the customer was erased. */
export async function openFor(
  { db, vault }: Parts,
  customerId: string | null,
  sealed: string,
  context: string,
): Promise<string | undefined> {
  const text = sealed.slice(1);
  if (sealed.startsWith(OF_OPERATOR)) return vault.openOwn(text, context).toString();
  const customer = customerId === null ? undefined : await readCustomer(db, customerId);
  const key = customer && dataKeyOf(customer);
  return key && vault.open(key, text, context).toString();
}
