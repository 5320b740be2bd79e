// Public interface of beneficial owners.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { ownerNameSweep } from './name-sweep.ts';
import { ownerOperations } from './operations.ts';
import { ownerPersonalData } from './personal-data.ts';

export { createBeneficialOwner, updateBeneficialOwner } from './contract.ts';
export { addOwner, changeOwner } from './operations.ts';
export { type OwnerRow, ownerPersonal, presentOwner, transitionOwner } from './owners.ts';
export {
  ownerOf,
  ownersByBusiness,
  ownersOf,
  readOwner,
  requireOwner,
} from './reads.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const ownerFeature = {
  sweeps: () => [ownerNameSweep()],
  operations: () => ownerOperations,
  personalData: ownerPersonalData,
} satisfies Feature;
