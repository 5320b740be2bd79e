// What an export shows of the links to the hosted verification page. An erasure removes them.
import { OF_CUSTOMER, type PersonalData } from '../../../runtime/operation/personal-data.ts';

export const linkPersonalData: PersonalData = {
  tables: { kyc_links: { rows: OF_CUSTOMER, without: ['secret_hash'], erasure: 'removed' } },
};
