// What is personal about a customer: the fields of its type and its identity number, sealed as one text
// under the customer's own data key. Everything else that is sealed for a customer (owners, documents,
// events) uses the same key, so that forgetting it forgets all of them.
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { digestsOf } from '../digests/index.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import type { CustomerRow } from './store.ts';

export interface Personal {
  /** The fields of its type, named as the API names them. */
  details: CustomerDetails;
  /** The number of an individual's `idType`. */
  identifier: string | null;
}

const contextOf = (id: string) => `customers ${id} personal`;

/** The key that what belongs to this customer is sealed under; undefined once it was forgotten. */
export const dataKeyOf = (row: Pick<CustomerRow, 'id' | 'data_key'>): DataKey | undefined =>
  row.data_key === null ? undefined : { owner: row.id, sealed: row.data_key };

export const sealPersonal = (vault: Vault, key: DataKey, personal: Personal): string =>
  vault.seal(key, JSON.stringify(personal), contextOf(key.owner));

/** What is known of a customer; nothing once it was erased. */
export function personalOf(vault: Vault, row: CustomerRow): Personal {
  const key = dataKeyOf(row);
  if (!key || row.personal === null) return { details: {}, identifier: null };
  return JSON.parse(vault.open(key, row.personal, contextOf(row.id)).toString()) as Personal;
}

/** The columns that a customer is found by. The identity number of a business is its tax number. */
export const customerDigests = (
  vault: Vault,
  { email, phone, personal }: { email: string | null; phone: string | null; personal: Personal },
) => {
  const { identifier, details } = personal;
  return digestsOf(vault, {
    email,
    phone,
    identifier: identifier ?? details.businessInfo?.taxId,
  });
};
