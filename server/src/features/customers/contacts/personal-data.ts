// An erasure deletes the verification codes, because the keyed hash of a code includes the contact.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
import { eraseCodes } from '../../notifications/codes/index.ts';

export const contactPersonalData: PersonalData = {
  tables: {},
  empty: async (runtime, { id }) => ({
    codes: await eraseCodes(runtime, [`contact email ${id}`, `contact phone ${id}`]),
  }),
};
