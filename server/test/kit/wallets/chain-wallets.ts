// Test wallets that sign messages like real wallets, for every kind of blockchain. ECDSA is
// implemented here on top of OpenSSL's point multiplication, because Node.js cannot sign a
// precomputed digest.
import { createECDH, createHash, sign } from 'node:crypto';
import { ripemd160 } from '@noble/hashes/legacy.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { base58, bech32, bech32m, createBase58check } from '@scure/base';
import { bitcoinDigest } from '../../../src/features/payees/ownership/signatures/bitcoin.ts';
import { evmDigest } from '../../../src/features/payees/ownership/signatures/personal.ts';
import {
  compressKey,
  ORDER,
  toBigInt,
} from '../../../src/features/payees/ownership/signatures/secp256k1.ts';
import { ed25519KeyOf } from '../../../src/runtime/security/crypto.ts';

const base58check = createBase58check(sha256);
const bytes32 = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');
const mod = (value: bigint) => ((value % ORDER) + ORDER) % ORDER;

function power(base: bigint, exponent: bigint): bigint {
  let [result, square] = [1n, base];
  for (let remainingExponent = exponent; remainingExponent > 0n; remainingExponent >>= 1n) {
    if (remainingExponent & 1n) result = (result * square) % ORDER;
    square = (square * square) % ORDER;
  }
  return result;
}

function pointOf(secret: bigint): Buffer {
  const curve = createECDH('secp256k1');
  curve.setPrivateKey(bytes32(secret));
  return curve.getPublicKey();
}

/**
 * Signs a digest by ECDSA with a deterministic nonce. `high` selects the higher of the two values
 * of `s`.
 */
export function signDigest(secret: bigint, digest: Uint8Array, { high = false } = {}) {
  const seed = createHash('sha256').update(bytes32(secret)).update(digest).digest();
  const nonce = mod(toBigInt(seed));
  const point = pointOf(nonce);
  const r = mod(toBigInt(point.subarray(1, 33)));
  const s = mod(power(nonce, ORDER - 2n) * (toBigInt(digest) + r * secret));
  const isHigh = s > ORDER >> 1n;
  const parity = point[64]! & 1;
  const isFlipped = isHigh !== high;
  return {
    /** `r` and `s`, 32 bytes each. */
    signature: Buffer.concat([bytes32(r), bytes32(isFlipped ? ORDER - s : s)]),
    recovery: isFlipped ? parity ^ 1 : parity,
  };
}

const hash160 = (bytes: Uint8Array) => ripemd160(sha256(bytes));

/** A wallet on an EVM chain. */
export function evmWallet(secret: bigint) {
  const hash = keccak_256(pointOf(secret).subarray(1)).subarray(12);
  const address = `0x${Buffer.from(hash).toString('hex')}`;
  return {
    address,
    sign(message: string, { v = 27, high = false } = {}): string {
      const { signature, recovery } = signDigest(secret, evmDigest(message), { high });
      return `0x${signature.toString('hex')}${(v + recovery).toString(16).padStart(2, '0')}`;
    },
  };
}

export function tronWallet(secret: bigint) {
  const hash = keccak_256(pointOf(secret).subarray(1)).subarray(12);
  return {
    address: base58check.encode(Buffer.concat([Buffer.of(0x41), hash])),
    sign(message: string): string {
      const head = `\x19TRON Signed Message:\n${Buffer.byteLength(message)}`;
      const { signature, recovery } = signDigest(secret, keccak_256(Buffer.from(head + message)));
      return `0x${signature.toString('hex')}${(27 + recovery).toString(16)}`;
    },
  };
}

export function solanaWallet(seed: Uint8Array) {
  const key = ed25519KeyOf(seed);
  return {
    address: base58.encode(rawPublicKeyOf(key)),
    sign: (message: string) => base58.encode(sign(null, Buffer.from(message), key)),
  };
}

/** Returns the 32 bytes of the public key. */
function rawPublicKeyOf(key: ReturnType<typeof ed25519KeyOf>): Buffer {
  const jwk = key.export({ format: 'jwk' });
  return Buffer.from(jwk.x as string, 'base64url');
}

/** A Spark wallet. `prefix` names its network. */
export function sparkWallet(secret: bigint, prefix: 'spark' | 'sparkrt' = 'sparkrt') {
  const key = compressKey(pointOf(secret));
  const bech32Words = bech32m.toWords(Buffer.concat([Buffer.from([0x0a, 0x21]), key]));
  return {
    address: bech32m.encode(prefix, bech32Words, 1000),
    /** Returns a signature of 64 bytes, in hexadecimal. */
    sign: (message: string, { high = false } = {}): string =>
      signDigest(secret, sha256(Buffer.from(message)), { high }).signature.toString('hex'),
  };
}

const FIRST_HEADER = { uncompressed: 27, p2pkh: 31, p2sh: 35, segwit: 39 };

/** A Bitcoin key with its mainnet addresses. `header` is the address type in the signature. */
export function bitcoinWallet(secret: bigint) {
  const point = pointOf(secret);
  const keyHash = hash160(compressKey(point));
  const legacyAddress = (version: number, hash: Uint8Array) =>
    base58check.encode(Buffer.concat([Buffer.of(version), hash]));
  return {
    uncompressed: legacyAddress(0, hash160(point)),
    p2pkh: legacyAddress(0, keyHash),
    p2sh: legacyAddress(5, hash160(Buffer.concat([Buffer.from([0, 20]), keyHash]))),
    segwit: bech32.encode('bc', [0, ...bech32.toWords(keyHash)]),
    sign(message: string, header: keyof typeof FIRST_HEADER): string {
      const { signature, recovery } = signDigest(secret, bitcoinDigest(message));
      return Buffer.concat([Buffer.of(FIRST_HEADER[header] + recovery), signature]).toString(
        'base64',
      );
    },
  };
}
