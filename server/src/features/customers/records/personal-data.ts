// What an export shows of a customer and its beneficial owners. Both are emptied by `eraseCustomer`, the last
// step of the change set that forgets the data key.
import { OF_CUSTOMER, type PersonalData, rowAs } from '../../../runtime/operation/personal-data.ts';
import { type OwnerRow, ownerPersonal } from './owners/owners.ts';
import { personalOf } from './personal.ts';
import type { CustomerRow } from './store.ts';

const HASHES = ['email_digest', 'phone_digest', 'identifier_digest'];

export const customerPersonalData: PersonalData<CustomerRow> = {
  tables: {
    customers: {
      rows: 't.id = $1',
      without: [...HASHES, 'data_key', 'details', 'identifier'],
      open: ({ vault, customer }) => ({ personal: personalOf(vault, customer) }),
      erasure: 'emptied',
      atOnce: true,
    },
    beneficial_owners: {
      rows: OF_CUSTOMER,
      without: HASHES,
      open: ({ vault, customer }, row) => ({
        personal: ownerPersonal(vault, customer, rowAs<OwnerRow>(row)) ?? null,
      }),
      erasure: 'emptied',
      atOnce: true,
    },
  },
  subjects: { beneficial_owners: 'customer_id = $1' },
};
