// What other features may use of customers.

export { type Complaint, isUnderSca, refuse } from './admission.ts';
export {
  Customer,
  CustomerSummary,
  createCustomer,
  customerWebhooks,
  SignedRequestChallenge,
  updateCustomerById,
} from './contract.ts';
export { awaitsTerms, checkReady, isReady } from './customer.ts';
export {
  digestOf,
  SOUGHT,
  type Sought,
} from './digests.ts';
export { eraseCustomer, tombstoneOf } from './erase.ts';
export { type Facts, factsOfCustomer } from './facts.ts';
export { firmDetails, individualFields, PERSONAL_ID_TYPES } from './fields.ts';
export { customerOperations } from './operations.ts';
export {
  BeneficialOwnerCreateRequest,
  createBeneficialOwner,
  updateBeneficialOwner,
} from './owner-contract.ts';
export {
  addOwner,
  changeOwner,
  ownerOf,
  ownerOperations,
} from './owner-operations.ts';
export {
  beneficialOwners,
  type OwnerRow,
  ownerPersonal,
  presentOwner,
} from './owners.ts';
export type { ContactChange, CustomerParts, TiedCredentials } from './parts.ts';
export { dataKeyOf, personalOf } from './personal.ts';
export { customerOf, platformOf } from './reads.ts';
export { type CreateBody, registerCustomer, registrationErrors } from './register.ts';
export { type CheckMove, type CheckStatus, checkStates, isFinal } from './states.ts';
export { type CustomerRow, type CustomerType, customers } from './store.ts';
export { isAddress } from './terms.ts';
export { changeCustomer, setProvenPhone } from './update.ts';
export { awaitSealing, sealOldCustomers } from './upgrade.ts';
export { customerView, moveCheck, ownersOf } from './views.ts';
