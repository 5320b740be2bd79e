// An erasure removes the codes that prove a contact: the keyed hash of a code covers where it was sent.
import { changedRows, type PersonalData } from '../../../runtime/operation/personal-data.ts';

const CODES = `delete from codes
  where id in ('contact email ' || $1::text, 'contact phone ' || $1::text) returning id`;

export const contactPersonalData: PersonalData = {
  tables: {},
  empty: async ({ db }, { id }) => ({ codes: await changedRows(db, CODES, [id]) }),
};
