// Export of the documents of a customer. An erasure deletes them with their files.
import {
  CUSTOMER_ROWS_SQL,
  type PersonalData,
  rowAs,
} from '../../../runtime/operation/personal-data.ts';
import type { CustomerRow } from '../records/index.ts';
import { documentPersonal, eraseDocuments } from './document.ts';
import type { DocumentRow } from './store.ts';

export const documentPersonalData: PersonalData<CustomerRow> = {
  tables: {
    documents: {
      rows: CUSTOMER_ROWS_SQL,
      without: ['file_key'],
      open: ({ vault, key }, row) => ({
        personal: key ? documentPersonal(vault, key, rowAs<DocumentRow>(row)) : null,
      }),
      erasure: 'removed',
      atOnce: true,
    },
  },
  subjects: { documents: 'customer_id = $1' },
  erase: eraseDocuments,
};
