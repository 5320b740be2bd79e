// What other features may use of wallets.

export { WalletOperationProcessing } from './contract.ts';
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
export { type Activity, activityText } from './payload.ts';
export {
  type Ask,
  type Asked,
  challenge,
  deliver,
  isUnsigned,
  liveRequest,
  openRequest,
  type Retry,
  readRetry,
  requestIdOf,
  stampOf,
} from './requests.ts';
export {
  type Act,
  type Headers,
  isSigned,
  type SignedOperation,
  type Steps,
  settleJobs,
  signedOperation,
} from './signed.ts';
export type { Signed } from './signer.ts';
export { credentialStates, requestStates, sessionStates } from './states.ts';
export {
  CREDENTIAL_TYPES,
  type CredentialRow,
  type CredentialType,
  credentials,
  otpTargets,
  type SessionRow,
  type Signer,
  walletAuthorizations,
  walletRequests,
  walletSessions,
  wallets,
} from './store.ts';
export {
  custodyOf,
  findWallet,
  openFor,
  sealFor,
  type Wallet,
  type WalletParts,
  walletOf,
} from './wallet.ts';
