// Encrypted messages between a wallet and its owner. One-time codes are encrypted to the server, session
// keys and recovery phrases to the owner. Bundles are JSON whose `data` is JSON in hexadecimal.
import { type Bytes, concat, fromHex, fromUtf8, toHex, utf8 } from '../crypto/bytes.ts';
import { verificationKey, verifyDer } from '../crypto/ecdsa.ts';
import { uncompress } from './curve.ts';
import { open, type Sealed, seal } from './hpke.ts';
import { keysOf, type WalletKeys } from './keys.ts';

interface Bundle {
  readonly data: string;
  readonly dataSignature: string;
  readonly enclaveQuorumPublic: string;
}

/** Required signer of a bundle. */
export interface BundleTrust {
  /**
   * The public key that verifies bundles, in hexadecimal. Pin it in production. In the sandbox, `sandbox`
   * accepts the key in the bundle, or an unsigned bundle.
   */
  readonly signer: string;
}

const SANDBOX = 'sandbox';

async function contentOf<Data>(text: string, { signer }: BundleTrust): Promise<Data> {
  const { data, dataSignature, enclaveQuorumPublic } = JSON.parse(text) as Bundle;
  const bytes = fromHex(data);
  const isUnsigned = signer === SANDBOX && !dataSignature;
  if (!isUnsigned) {
    const expectedSigner = signer === SANDBOX ? enclaveQuorumPublic : signer;
    const key = await verificationKey('raw', uncompress(fromHex(expectedSigner)));
    const isGenuine = await verifyDer(key, fromHex(dataSignature), bytes);
    if (!isGenuine)
      throw new Error('The bundle is not signed by the expected key. Check `signer`.');
  }
  return JSON.parse(fromUtf8(bytes)) as Data;
}

/** `encryptedOtpBundle`: a one-time code and the key of the new session, encrypted to the bundle's key. */
export async function encryptCode(
  {
    code,
    bundle,
    publicKey,
  }: {
    readonly code: string;
    /** `otpEncryptionTargetBundle` of the challenge. */
    readonly bundle: string;
    /** Key of the new session. */
    readonly publicKey: string;
  },
  trust: BundleTrust,
): Promise<string> {
  const { targetPublic } = await contentOf<{ targetPublic: string }>(bundle, trust);
  const message = JSON.stringify({ otp_code: code, public_key: publicKey });
  const { encapped, ciphertext } = await seal(uncompress(fromHex(targetPublic)), utf8(message));
  return JSON.stringify({ encappedPublic: toHex(encapped), ciphertext: toHex(ciphertext) });
}

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const CHECKSUM_BYTES = 4;
const COMPRESSED_KEY_BYTES = 33;

const invalidSessionKey = (problem: string) =>
  new TypeError(`The encrypted key ${problem}. Pass \`encryptedSessionSigningKey\` unchanged.`);

function fromBase58(text: string): Bytes {
  let number = 0n;
  for (const letter of text) {
    const digit = ALPHABET.indexOf(letter);
    if (digit < 0) throw invalidSessionKey('is not base58');
    number = number * 58n + BigInt(digit);
  }
  const hex = number ? number.toString(16) : '';
  const zeros = /^1*/.exec(text)?.[0].length ?? 0;
  return concat(new Uint8Array(zeros), fromHex(hex.padStart(hex.length + (hex.length % 2), '0')));
}

const sha256 = async (bytes: Bytes): Promise<Bytes> =>
  new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));

async function fromBase58Check(text: string): Promise<Bytes> {
  const bytes = fromBase58(text);
  const content = bytes.slice(0, -CHECKSUM_BYTES);
  const checksum = (await sha256(await sha256(content))).slice(0, CHECKSUM_BYTES);
  if (toHex(checksum) !== toHex(bytes.slice(-CHECKSUM_BYTES))) {
    throw invalidSessionKey('has an invalid checksum');
  }
  return content;
}

/** The key pair in `encryptedSessionSigningKey`, which was encrypted to `keys`. */
export async function openSessionKey(encrypted: string, keys: WalletKeys): Promise<WalletKeys> {
  const bytes = await fromBase58Check(encrypted);
  const sealedKey: Sealed = {
    encapped: uncompress(bytes.subarray(0, COMPRESSED_KEY_BYTES)),
    ciphertext: bytes.slice(COMPRESSED_KEY_BYTES),
  };
  return keysOf(toHex(await open(keys, sealedKey)));
}

/** The recovery phrase in `encryptedWalletCredentials`, which was encrypted to `keys`. */
export async function openRecoveryPhrase(
  {
    bundle,
    payloadToSign,
  }: {
    /** `encryptedWalletCredentials` of the reply. */
    readonly bundle: string;
    /** The signed payload of the export, which identifies the wallet of the expected bundle. */
    readonly payloadToSign: string;
  },
  keys: WalletKeys,
  trust: BundleTrust,
): Promise<string> {
  const content = await contentOf<{
    encappedPublic: string;
    ciphertext: string;
    organizationId?: string;
  }>(bundle, trust);
  const { organizationId } = JSON.parse(payloadToSign) as { organizationId?: string };
  if (content.organizationId !== organizationId) {
    throw new Error('The bundle belongs to another wallet. Pass the bundle of this export.');
  }
  const sealedPhrase: Sealed = {
    encapped: uncompress(fromHex(content.encappedPublic)),
    ciphertext: fromHex(content.ciphertext),
  };
  return fromUtf8(await open(keys, sealedPhrase));
}
