// Export and erasure of the customer row. `eraseCustomer` empties the row in the change set that
// deletes the data key.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
import { DIGEST_COLUMNS } from '../digests/index.ts';
import { personalOf } from './personal.ts';
import type { CustomerRow } from './store.ts';

export const customerPersonalData: PersonalData<CustomerRow> = {
  tables: {
    customers: {
      rows: 't.id = $1',
      without: [...DIGEST_COLUMNS, 'data_key', 'details', 'identifier'],
      open: ({ vault, customer }) => ({ personal: personalOf(vault, customer) }),
      erasure: 'emptied',
      atOnce: true,
    },
  },
};
