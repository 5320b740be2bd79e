// An erasure removes the codes of a customer's credentials: the keyed hash of a code covers where it was
// sent.
import { changedRows, type PersonalData } from '../../../runtime/operation/personal-data.ts';

const CODES = `delete from codes
  where id in (select 'otp ' || id from credentials where customer_id = $1) returning id`;

export const credentialPersonalData: PersonalData = {
  tables: {},
  empty: async ({ db }, { id }) => ({ codes: await changedRows(db, CODES, [id]) }),
};
