// Public interface of customer registration: create, update, read and delete customers.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { customerWebhooks } from './contract.ts';
import { customerOperations } from './operations.ts';

export { rejectViolations, type Violation } from './admission.ts';
export { deleteCustomer } from './close.ts';
export { createCustomer, SignedRequestChallenge, updateCustomerById } from './contract.ts';
export { CLOSE_CARDS, END_AGENTS } from './customer-jobs.ts';
export type { AuthorizeContactChange, ContactChange, CustomerDeps } from './deps.ts';
export { type CreateBody, registerCustomer, registrationErrors } from './register.ts';
export { changeCustomer, setVerifiedPhone } from './update.ts';
export { customerView, transitionCheck } from './views.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const registrationFeature = {
  operations: customerOperations,
  webhooks: customerWebhooks,
} satisfies Feature;
