// External accounts: bank accounts, mobile wallets and blockchain wallets.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { externalAccountWebhooks } from './contract.ts';
import { nameJobs } from './names.ts';
import { externalAccountOperations } from './operations.ts';
import { externalAccountPersonalData } from './personal-data.ts';
import { externalAccountStates } from './states.ts';

export {
  createCustomerExternalAccount,
  deleteCustomerExternalAccountById,
  ExternalAccount,
  getCustomerExternalAccountById,
  listCustomerExternalAccounts,
} from './contract.ts';
export { isDeclared, proveOwnership, WALLET_DECLARED } from './declared.ts';
export {
  externalAccountReviews,
  listExternalAccounts,
  transitionExternalAccountByOperator,
} from './operator-actions.ts';
export {
  externalAccountOf,
  presentTo as presentExternalAccountTo,
  transitionExternalAccount,
} from './present.ts';
export {
  type ExternalAccountRow,
  findExternalAccounts,
  readExternalAccount,
  requireExternalAccount,
  setTrusted,
} from './store.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const externalAccountFeature = {
  operations: externalAccountOperations,
  jobs: nameJobs,
  webhooks: externalAccountWebhooks,
  personalData: externalAccountPersonalData,
  states: { externalAccount: externalAccountStates },
} satisfies Feature;
