// Export of verification links. An erasure deletes them.
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';

export const linkPersonalData: PersonalData = {
  tables: { kyc_links: { rows: CUSTOMER_ROWS_SQL, without: ['secret_hash'], erasure: 'removed' } },
};
