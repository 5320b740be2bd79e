// Personal data of a customer: the fields of its type and the identity number. The personal data is
// encrypted as one text with the data key of the customer. Owners, documents and events of the
// customer use the same key, so that deleting it erases all of them.
import type { DataKey, Vault } from '../../../runtime/security/vault.ts';
import { digestsOf } from '../digests/index.ts';
import type { CustomerDetails } from '../profiles/index.ts';
import type { CustomerRow } from './store.ts';

export interface Personal {
  /** Fields of the customer type, named as in the API. */
  details: CustomerDetails;
  /** Number of type `idType`, for individuals. */
  identifier: string | null;
}

const contextOf = (id: string) => `customers ${id} personal`;

/** Data key of a customer, or undefined if it was erased. */
export const dataKeyOf = (row: Pick<CustomerRow, 'id' | 'data_key'>): DataKey | undefined =>
  row.data_key === null ? undefined : { owner: row.id, sealed: row.data_key };

export const sealPersonal = (vault: Vault, key: DataKey, personal: Personal): string =>
  vault.seal(key, JSON.stringify(personal), contextOf(key.owner));

/** Personal data of a customer, empty if it was erased. */
export function personalOf(
  vault: Vault,
  row: Pick<CustomerRow, 'id' | 'data_key' | 'personal'>,
): Personal {
  const key = dataKeyOf(row);
  if (!key || row.personal === null) return { details: {}, identifier: null };
  return JSON.parse(vault.open(key, row.personal, contextOf(row.id)).toString()) as Personal;
}

/** Search digests of a customer. The identity number of a business is its tax number. */
export const customerDigests = (
  vault: Vault,
  { email, phone, personal }: { email: string | null; phone: string | null; personal: Personal },
) => {
  const { identifier, details } = personal;
  const { businessInfo } = details;
  return digestsOf(vault, {
    email,
    phone,
    identifier: identifier ?? businessInfo?.taxId,
    names: [details.fullName, businessInfo?.legalName, businessInfo?.doingBusinessAs],
  });
};
