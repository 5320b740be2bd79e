// Public interface of customer records: rows, their encrypted personal data and the states of the
// identity check.

import type { Feature } from '../../../runtime/operation/feature.ts';
import { dataKeyContext } from '../../../runtime/security/vault.ts';
import { customerNameSweep } from './name-sweep.ts';
import { customerPersonalData } from './personal-data.ts';
import { checkStates } from './states.ts';

export { addCustomer, updateCustomer } from './changes.ts';
export { eraseCustomer, tombstoneOf } from './erase.ts';
export { factsOfCustomer } from './facts.ts';
export { customerPages } from './pages.ts';
export { dataKeyOf, personalOf } from './personal.ts';
export { customerById, customerOf, customersAfter } from './reads.ts';
export { type CheckTransition, isFinal } from './states.ts';
export {
  type CustomerRow,
  findCustomers,
  readCustomer,
  requireCustomer,
  touchCustomer,
} from './store.ts';
export { sealOldCustomers } from './upgrade.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const customerFeature = {
  sealed: [{ table: 'customers', column: 'data_key', contexts: (id) => [dataKeyContext(id)] }],
  personalData: customerPersonalData,
  states: { check: checkStates },
  sweeps: () => [customerNameSweep()],
} satisfies Feature;
