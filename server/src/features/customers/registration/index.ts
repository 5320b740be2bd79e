// Registering, changing, showing and deleting customers, as other features use it.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { customerWebhooks } from './contract.ts';
import { customerOperations } from './operations.ts';

export { type Complaint, refuse } from './admission.ts';
export { createCustomer, SignedRequestChallenge, updateCustomerById } from './contract.ts';
export { CLOSE_CARDS, END_AGENTS } from './customer-jobs.ts';
export type { ContactChange, CustomerParts, TiedCredentials } from './parts.ts';
export { type CreateBody, registerCustomer, registrationErrors } from './register.ts';
export { changeCustomer, setProvenPhone } from './update.ts';
export { customerView, moveCheck } from './views.ts';

/** What this feature adds to a server. */
export const registrationFeature = {
  operations: customerOperations,
  webhooks: customerWebhooks,
} satisfies Feature;
