// What other features may use of wallets.

export { walletAccountOperations } from './account-operations.ts';
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
export { type AuthorizationRow, authorizationPersonal, walletPersonalData } from './personal.ts';
export { openWallets, openWalletsOf } from './provision.ts';
export { stopRecovery } from './recovery/recovery.ts';
export { type RecoveryType, recoveryJobs, startRecovery } from './recovery/recovery-jobs.ts';
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
export { type Act, type Headers, isSigned, settleJobs, signedOperation } from './signing/signed.ts';
export { parseStamp, signs } from './signing/stamp.ts';
export {
  credentialStates,
  recoveryStates,
  requestStates,
  sessionStates,
} from './states.ts';
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
export { walletSweep } from './sweep.ts';
export {
  custodyOf,
  findWallet,
  readyWallet,
  type Wallet,
  type WalletParts,
  walletOf,
} from './wallet.ts';
