// Entry `railhead-sdk/wallets`: the owner's side of embedded wallets, on Web Crypto.
export {
  type BundleTrust,
  encryptCode,
  openRecoveryPhrase,
  openSessionKey,
} from './bundles.ts';
export { generateKeys, keysOf, stamp, type WalletKeys } from './keys.ts';
export {
  type CreatedPasskey,
  createPasskey,
  type NewPasskey,
  type PasskeyAssertion,
  signWithPasskey,
  type UsedPasskey,
} from './passkeys.ts';
export {
  isChallenge,
  type Signature,
  type SignatureChallenge,
  type Signed,
  type SignedOptions,
  type SignedResult,
  signed,
  untilDone,
} from './signed.ts';
