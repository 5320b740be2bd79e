// The built-in custodian of embedded wallets: the only module that holds seeds, session keys, keys
// of one-time codes and delegated keys in clear text. Stateless: seeds and keys are returned sealed
// for the caller to store, and the two signing keys are derived from the installation's master key.
// Buffers with secrets are wiped after use, while strings and copies of the cryptographic library
// are freed by the garbage collector. An HSM or a remote signer can replace this custodian by
// implementing `CustodyPort`, after all seeds have been exported.
import { createPublicKey, sign } from 'node:crypto';
import { entropyToMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import { CompactSign, calculateJwkThumbprint } from 'jose';
import {
  compressedPoint,
  generateP256,
  type P256Pair,
  p256PrivateKey,
  uncompressedPoint,
} from '../../kernel/crypto/p256.ts';
import { type Effects, iso } from '../../kernel/effects.ts';
import { type CustodyKeys, type CustodyPort, stampOf } from '../ports/wallets.ts';
import {
  bundleOf,
  readOtpBundle,
  readOtpPlaintext,
  type Signer,
  sealedFields,
  sealedKeyText,
} from './bundles.ts';
import { openWith, sealTo } from './hpke.ts';
import { sealedPair, signerOf } from './keys.ts';

/** A signer of tokens, with its key ID: the thumbprint of RFC 7638. */
interface TokenSigner extends Signer {
  kid: string;
}

const tokenSigner = async (signer: Signer): Promise<TokenSigner> => ({
  ...signer,
  kid: await calculateJwkThumbprint(createPublicKey(signer.privateKey).export({ format: 'jwk' })),
});

/**
 * A token for the owner of a verified one-time code, as a compact JWT (ES256). Claims are written
 * unchanged. Clients of embedded wallets expect `exp` as a string of milliseconds, unlike the
 * seconds of other tokens.
 */
const tokenOf = (
  claims: Readonly<Record<string, unknown>>,
  { privateKey, kid }: TokenSigner,
): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg: 'ES256', typ: 'JWT', kid })
    .sign(privateKey);

export const signerContext = (id: string) => `signer of ${id}`;

const publicKeyOf = ({ point }: P256Pair) => compressedPoint(point.toString('hex')) as string;

function stampBy(pair: P256Pair, payload: string): string {
  const key = p256PrivateKey(pair);
  const signature = sign('sha256', Buffer.from(payload), { key, dsaEncoding: 'der' });
  return stampOf(publicKeyOf(pair), signature.toString('hex'));
}

/**
 * Keys that sign for a wallet. Their stamps have the same members in the same order as the stamps
 * of the client libraries, so verification is the same for both.
 */
const delegatedKeys = (
  generatePair: () => P256Pair,
  keys: Pick<CustodyKeys, 'seal' | 'open'>,
): Pick<CustodyPort, 'newSigner' | 'stampWith'> => ({
  async newSigner({ id }) {
    const pair = generatePair();
    try {
      return { publicKey: publicKeyOf(pair), signer: keys.seal(pair.scalar, signerContext(id)) };
    } finally {
      pair.scalar.fill(0);
    }
  },

  async stampWith({ id, signer, payload }) {
    const pair = sealedPair(keys, signer, signerContext(id));
    try {
      return stampBy(pair, payload);
    } finally {
      pair.scalar.fill(0);
    }
  },
});

/**
 * Entropy of a seed, a mnemonic of twelve English words (BIP-39). The bytes are stored sealed and
 * bound to the wallet. The words exist only while they are encrypted for their owner.
 */
const ENTROPY_BYTES = 16;

export const seedContextOf = (walletId: string) => `seed of wallet ${walletId}`;

function newSeed(
  effects: Effects,
  keys: Pick<CustodyKeys, 'seal'>,
  { walletId }: { walletId: string },
): string {
  const entropy = effects.random(ENTROPY_BYTES);
  try {
    return keys.seal(entropy, seedContextOf(walletId));
  } finally {
    entropy.fill(0);
  }
}

/** The mnemonic in ASCII, for the caller to wipe. The string is freed by the garbage collector. */
function textOf(
  keys: Pick<CustodyKeys, 'open'>,
  { walletId, seed }: { walletId: string; seed: string },
): Buffer {
  const entropy = keys.open(seed, seedContextOf(walletId));
  try {
    return Buffer.from(entropyToMnemonic(new Uint8Array(entropy), wordlist), 'ascii');
  } finally {
    entropy.fill(0);
  }
}

const SCALAR_BYTES = 32;

const hexOf = (point: Buffer) => point.toString('hex');
export const targetContext = (id: string) => `one-time code key of ${id}`;

/** Creates the value on first use, because most operator commands do not need the master key. */
function memoize<T extends object>(create: () => T): () => T {
  let value: T | undefined;
  return () => {
    value ??= create();
    return value;
  };
}

function pointOf(clientPublicKey: string): Buffer {
  const point = uncompressedPoint(clientPublicKey);
  if (!point) throw new RangeError('the client public key is not a point of P-256');
  return Buffer.from(point, 'hex');
}

/** `attests`: whether export bundles are signed. Export bundles of the sandbox are unsigned. */
export function localCustody(
  effects: Effects,
  keys: CustodyKeys,
  { attests }: { attests: boolean },
): CustodyPort {
  const bundleSigner = memoize(() => signerOf(keys, 'wallet bundles'));
  const tokenKey = memoize(() => signerOf(keys, 'wallet tokens'));
  const namedTokenKey = memoize(() => tokenSigner(tokenKey()));
  const generatePair = () => generateP256(() => effects.random(SCALAR_BYTES));

  async function sealToClient(clientPublicKey: string, plaintext: Buffer) {
    const ephemeral = generatePair();
    try {
      return await sealTo(pointOf(clientPublicKey), plaintext, ephemeral);
    } finally {
      ephemeral.scalar.fill(0);
      plaintext.fill(0);
    }
  }

  return {
    newSeed: async (context) => ({ seed: newSeed(effects, keys, context) }),

    async exportSeed({ organizationId, walletId, seed, clientPublicKey }) {
      const sealedMnemonic = await sealToClient(clientPublicKey, textOf(keys, { walletId, seed }));
      const data = { ...sealedFields(sealedMnemonic), organizationId };
      return bundleOf(data, attests ? bundleSigner() : undefined);
    },

    async newSessionKey(clientPublicKey) {
      const { scalar, point } = generatePair();
      const sealedKey = sealedKeyText(await sealToClient(clientPublicKey, scalar));
      return { publicKey: compressedPoint(hexOf(point)) as string, sealedKey };
    },

    async newOtpTarget({ id, organizationId, expiresAt }) {
      const { scalar, point } = generatePair();
      const target = keys.seal(scalar, targetContext(id));
      scalar.fill(0);
      const targetPublic = hexOf(point);
      const data = { targetPublic, organizationId, otpId: id, expiresAt: iso(expiresAt) };
      return { target, bundle: bundleOf(data, bundleSigner()) };
    },

    async openOtp({ id, target, encryptedBundle }) {
      const message = readOtpBundle(encryptedBundle);
      if (!message) return undefined;
      const pair = sealedPair(keys, target, targetContext(id));
      try {
        const plaintext = await openWith(pair, message);
        const codeAndKey = plaintext && readOtpPlaintext(plaintext);
        plaintext?.fill(0);
        return codeAndKey;
      } finally {
        pair.scalar.fill(0);
      }
    },

    signToken: async (claims) => tokenOf(claims, await namedTokenKey()),

    ...delegatedKeys(generatePair, keys),

    publicKeys: () => ({
      bundles: bundleSigner().publicKey,
      tokens: tokenKey().publicKey,
    }),
  };
}
