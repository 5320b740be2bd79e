// What other features may use of customers.
export { Customer, customerWebhooks, SignedRequestChallenge } from './contract.ts';
export { awaitsTerms, isReady, presentCustomer } from './customer.ts';
export { type Facts, factsOfCustomer } from './facts.ts';
export { customerOperations } from './operations.ts';
export type { ContactChange, CustomerParts, TiedCredentials } from './parts.ts';
export { customerOf } from './reads.ts';
export { type CustomerRow, type CustomerStatus, type CustomerType, customers } from './store.ts';
