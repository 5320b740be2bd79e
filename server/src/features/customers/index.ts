// What other features may use of customers.
export { Customer, customerWebhooks, SignedRequestChallenge } from './contract.ts';
export { awaitsTerms, isReady } from './customer.ts';
export { type Facts, factsOfCustomer } from './facts.ts';
export { customerOperations } from './operations.ts';
export {
  beneficialOwners,
  type OwnerPersonal,
  type OwnerRow,
  ownerPersonal,
  presentOwner,
  sealOwner,
} from './owners.ts';
export type { ContactChange, CustomerParts, TiedCredentials } from './parts.ts';
export { dataKeyOf, type Personal, personalOf, sealPersonal } from './personal.ts';
export { customerOf, platformOf } from './reads.ts';
export { type CheckMove, type CheckStatus, checkStates, isFinal } from './states.ts';
export { type CustomerRow, type CustomerType, customers } from './store.ts';
export { customerView, moveCheck, ownersOf } from './views.ts';
