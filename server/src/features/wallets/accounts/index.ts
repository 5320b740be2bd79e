// What other features may use of wallets.
import type { Feature, Operation } from '../../../runtime/operation/feature.ts';
import { walletAccountOperations } from './account-operations.ts';
import { walletPersonalData } from './personal.ts';
import { recoveryJobs } from './recovery/recovery-jobs.ts';
import { isSigned, settleJobs } from './signing/signed.ts';
import { credentialStates, recoveryStates, requestStates, sessionStates } from './states.ts';
import { walletSweep } from './sweep.ts';

export { orProcessing, WalletOperationProcessing } from './contract.ts';
export {
  addCredential,
  clientKeyOf,
  contactOf,
  credentialsOf,
  endCredential,
  endSession,
  factsOf,
  type NewCredential,
  openSession,
  presentCredential,
  presentSession,
  refuseUsedKey,
  sessionsOf,
} from './credentials.ts';
export { type AuthorizationRow, authorizationPersonal } from './personal.ts';
export { openWallets, openWalletsOf } from './provision.ts';
export { stopRecovery } from './recovery/recovery.ts';
export { type RecoveryType, startRecovery } from './recovery/recovery-jobs.ts';
export { authorizePayment, paymentText, type SignedPayment } from './signing/authorize.ts';
export type { Activity } from './signing/payload.ts';
export { playProcessing } from './signing/processing.ts';
export {
  type Ask,
  type Asked,
  challenge,
  deliver,
  isKnown,
  isUnsigned,
  liveRequest,
  openRequest,
  readRetry,
  recordStamp,
  requestIdOf,
  stampOf,
  whileLive,
} from './signing/requests.ts';
export { type Act, type Headers, signedOperation } from './signing/signed.ts';
export { parseStamp, signs } from './signing/stamp.ts';
export {
  CREDENTIAL_TYPES,
  type CredentialRow,
  type CredentialType,
  credentials,
  otpTargets,
  type RecoveryRow,
  type RecoveryStop,
  type RequestRow,
  type SessionRow,
  walletAuthorizations,
  walletRecoveries,
  walletRequests,
  walletSessions,
  wallets,
} from './store.ts';
export {
  custodyOf,
  findWallet,
  readyWallet,
  type Wallet,
  type WalletParts,
  walletOf,
} from './wallet.ts';

/** What this feature adds to a server. */
export const walletFeature = {
  operations: walletAccountOperations,
  jobs: (parts: { walletRecoveryMs: number | undefined }, operations: readonly Operation[]) => [
    ...settleJobs(operations.filter(isSigned)),
    ...recoveryJobs({ delayMs: parts.walletRecoveryMs }),
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
