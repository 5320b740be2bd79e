// Embedded wallets: accounts that require a signature of the holder, with their credentials and sessions.
import type { Feature, Operation } from '../../runtime/operation/feature.ts';
import { walletAccountOperations } from './accounts/account-operations.ts';
import type { WalletDeps } from './accounts/wallet.ts';
import { credentialOperations } from './credentials/operations.ts';
import { sessionOperations } from './credentials/sessions.ts';
import { walletPersonalData } from './personal-data.ts';
import { recoveryJobs } from './recovery/recovery-jobs.ts';
import { isSigned, settleJobs } from './signing/signed.ts';
import { credentialStates, recoveryStates, requestStates, sessionStates } from './states.ts';
import { walletSweep } from './sweep.ts';

export {
  custodyOf,
  findWallet,
  type Wallet,
  walletOf,
} from './accounts/wallet.ts';
export { isPhoneUsedForOtp as isPhoneTied } from './credentials/contacts.ts';
export {
  searchWallets,
  signedAuthorizations,
  walletDetails,
} from './operator-views.ts';
export { walletPorts } from './ports.ts';
export {
  cancelWalletRecovery,
  requestWalletRecovery,
  searchWalletRecoveries,
} from './recovery/operator-actions.ts';
export { authorizePayment, paymentText, signWithKey } from './signing/authorize.ts';
export type { Activity } from './signing/payload.ts';
export { type SignableRequest, stampOf } from './signing/requests.ts';
export { signedOperation } from './signing/signed.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const walletFeature = {
  operations: (deps: WalletDeps) => [
    ...walletAccountOperations(deps),
    ...credentialOperations(deps),
    ...sessionOperations(deps),
  ],
  jobs: (deps: { walletRecoveryMs: number | undefined }, operations: readonly Operation[]) => [
    ...settleJobs(operations.filter(isSigned)),
    ...recoveryJobs({ delayMs: deps.walletRecoveryMs }),
  ],
  sweeps: () => [walletSweep()],
  personalData: walletPersonalData,
  states: {
    credential: credentialStates,
    session: sessionStates,
    request: requestStates,
    recovery: recoveryStates,
  },
} satisfies Feature;
