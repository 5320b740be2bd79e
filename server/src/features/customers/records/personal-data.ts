// What an export shows of a customer. It is emptied by `eraseCustomer`, the last step of the change set that
// forgets the data key.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
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
  },
};
