// Export of verification links. An erasure deletes them.
import { OF_CUSTOMER, type PersonalData } from '../../../runtime/operation/personal-data.ts';

export const linkPersonalData: PersonalData = {
  tables: { kyc_links: { rows: OF_CUSTOMER, without: ['secret_hash'], erasure: 'removed' } },
};
