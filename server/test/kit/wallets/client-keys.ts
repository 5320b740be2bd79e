// Client-side cryptography of embedded wallets: key generation, signatures, encryption of codes and
// decryption of session keys, with the published client libraries. Independent of the test runner.
import { createECDH } from 'node:crypto';
import { ApiKeyStamper, walletCrypto } from './client-libraries.ts';

/** A P-256 key pair in client format. */
export interface Keys {
  /** The scalar: 64 hex digits. */
  privateKey: string;
  /** Compressed: 66 hex digits. */
  publicKey: string;
  /** Uncompressed: 130 hex digits. */
  uncompressedKey: string;
}

/** The one-time code of the sandbox. */
export const CODE = '000000';

const hexOf = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');

export function keyPairOf(privateKey: string): Keys {
  const fullPublicKey = walletCrypto.getPublicKey(privateKey, false);
  return {
    privateKey,
    publicKey: hexOf(walletCrypto.compressRawPublicKey(fullPublicKey)),
    uncompressedKey: hexOf(fullPublicKey),
  };
}

export function generateKeys(): Keys {
  const curve = createECDH('prime256v1');
  curve.generateKeys();
  // Node.js omits leading zeros.
  return keyPairOf(curve.getPrivateKey('hex').padStart(64, '0'));
}

/** The value of the signature header: `text` signed with a scalar. */
export async function stampWith(privateKey: string, text: string): Promise<string> {
  const { publicKey } = keyPairOf(privateKey);
  const stamper = new ApiKeyStamper({ apiPublicKey: publicKey, apiPrivateKey: privateKey });
  return (await stamper.stamp(text)).stampHeaderValue;
}

/** `encryptedOtpBundle`: a code and a key, encrypted to the key of a bundle. */
export function encryptOtp(code: string, bundle: string, publicKey: string): Promise<string> {
  const { enclaveQuorumPublic } = JSON.parse(bundle) as { enclaveQuorumPublic: string };
  return walletCrypto.encryptOtpCodeToBundle(code, bundle, publicKey, enclaveQuorumPublic);
}

/** The key pair in an `encryptedSessionSigningKey`. */
export const openSessionKey = (sealedKey: string, privateKey: string): Keys =>
  keyPairOf(walletCrypto.decryptCredentialBundle(sealedKey, privateKey));

/** The signing key: a scalar or its holder. */
export type SigningKey = string | Pick<Keys, 'privateKey'>;

const scalarOf = (holder: SigningKey) => (typeof holder === 'string' ? holder : holder.privateKey);

/** The two headers of a signed retry. */
export async function signedHeaders(
  { payloadToSign, requestId }: { payloadToSign: string; requestId: string },
  holder: SigningKey,
): Promise<Record<string, string>> {
  const stamp = await stampWith(scalarOf(holder), payloadToSign);
  return { 'service-wallet-signature': stamp, 'request-id': requestId };
}
