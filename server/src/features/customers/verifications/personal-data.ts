// Export of the identity checks of a customer. An erasure removes their findings.
import {
  CUSTOMER_ROWS_SQL,
  changedRows,
  type PersonalData,
  rowAs,
} from '../../../runtime/operation/personal-data.ts';
import type { CustomerRow } from '../records/index.ts';
import { findingsOf } from './record.ts';
import type { VerificationRow } from './store.ts';

const ERASE_FINDINGS_SQL = `update verifications set findings = null, version = version + 1
  where customer_id = $1 and findings is not null returning id`;

export const verificationPersonalData: PersonalData<CustomerRow> = {
  tables: {
    verifications: {
      rows: CUSTOMER_ROWS_SQL,
      open: ({ vault, customer }, row) => ({
        findings: findingsOf(vault, customer, rowAs<VerificationRow>(row)),
      }),
      erasure: 'emptied',
    },
  },
  subjects: { verifications: 'customer_id = $1' },
  empty: async ({ db }, { id }) => ({
    verifications: await changedRows(db, ERASE_FINDINGS_SQL, [id]),
  }),
};
