// An erasure removes the codes that prove a contact: the keyed hash of a code covers where it was sent.
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';
import { eraseCodes } from '../../notifications/codes/index.ts';

export const contactPersonalData: PersonalData = {
  tables: {},
  empty: async (runtime, { id }) => ({
    codes: await eraseCodes(runtime, [`contact email ${id}`, `contact phone ${id}`]),
  }),
};
