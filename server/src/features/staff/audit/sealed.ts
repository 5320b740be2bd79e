// Seals texts about changes. A text about a customer is sealed under the customer's key, so that an
// erasure makes it unreadable. Other texts are sealed under the key of the operator.
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { dataKeyOf, readCustomer } from '../../customers/records/index.ts';

type Parts = Pick<Runtime, 'db' | 'vault'>;

/** The first character of a sealed text names the owner of its key. */
const CUSTOMER_KEY = 'C';
const OPERATOR_KEY = 'O';

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
    ? CUSTOMER_KEY + vault.seal(key, text, context)
    : OPERATOR_KEY + vault.sealOwn(text, context);
}

/** Opens a text; undefined if the customer was erased. */
export async function openFor(
  { db, vault }: Parts,
  customerId: string | null,
  sealed: string,
  context: string,
): Promise<string | undefined> {
  const text = sealed.slice(1);
  if (sealed.startsWith(OPERATOR_KEY)) return vault.openOwn(text, context).toString();
  const customer = customerId === null ? undefined : await readCustomer(db, customerId);
  const key = customer && dataKeyOf(customer);
  return key && vault.open(key, text, context).toString();
}
