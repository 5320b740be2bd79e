// What other features may use of customers.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { customerWebhooks } from './contract.ts';
import { customerOperations } from './operations.ts';
import { ownerOperations } from './owners/owner-operations.ts';
import { customerPersonalData } from './personal-data.ts';
import { checkStates } from './states.ts';

export {
  CustomerSummary,
  createCustomer,
  SignedRequestChallenge,
  updateCustomerById,
} from './contract.ts';
export { awaitsTerms, checkReady, isReady } from './customer.ts';
export { CLOSE_CARDS, END_AGENTS } from './customer-jobs.ts';
export { digestOf, SOUGHT, type Sought } from './digests.ts';
export { eraseCustomer, tombstoneOf } from './erase.ts';
export { type Facts, factsOfCustomer } from './facts.ts';
export {
  BeneficialOwnerCreateRequest,
  createBeneficialOwner,
  updateBeneficialOwner,
} from './owners/owner-contract.ts';
export { addOwner, changeOwner, ownerOf } from './owners/owner-operations.ts';
export {
  moveOwner,
  type OwnerRow,
  ownerPersonal,
  presentOwner,
  readOwner,
  requireOwner,
} from './owners/owners.ts';
export type { ContactChange, CustomerParts, TiedCredentials } from './parts.ts';
export { dataKeyOf, personalOf } from './personal.ts';
export { customerOf, customersAfter } from './reads.ts';
export { type Complaint, isUnderSca, refuse } from './registration/admission.ts';
export { firmDetails, individualFields, PERSONAL_ID_TYPES } from './registration/fields.ts';
export { type CreateBody, registerCustomer, registrationErrors } from './registration/register.ts';
export { isAddress } from './registration/terms.ts';
export { changeCustomer, setProvenPhone } from './registration/update.ts';
export { awaitSealing, sealOldCustomers } from './registration/upgrade.ts';
export { type CheckMove, isFinal } from './states.ts';
export {
  type CustomerRow,
  findCustomers,
  readCustomer,
  requireCustomer,
  setContactVerification,
  touchCustomer,
} from './store.ts';
export { customerView, moveCheck, ownersOf } from './views.ts';

/** What this feature adds to a server. */
export const customerFeature = {
  operations: customerOperations,
  webhooks: customerWebhooks,
  personalData: customerPersonalData,
  states: { check: checkStates },
} satisfies Feature;

/** What beneficial owners add. */
export const ownerFeature = { operations: () => ownerOperations } satisfies Feature;
