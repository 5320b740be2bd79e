// Addresses on chains and on Lightning. The form is always validated, the checksum in production
// only. The form permits the sandbox's magic suffixes 002 to 007, which base58 could not contain
// because it has no zero.
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base58, bech32m, createBase58check } from '@scure/base';
import { bitcoinAddress } from './bitcoin-address.ts';
import { readBolt11 } from './bolt11.ts';

export type AddressKind = 'evm' | 'solana' | 'tron' | 'spark' | 'bitcoin';

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '[02-9ac-hj-np-z]';
const MAGIC = '(?:00[2-7])';

const LOOKS: Record<AddressKind, RegExp> = {
  evm: /^0x[0-9a-fA-F]{40}$/,
  solana: new RegExp(`^${BASE58}{29,41}(?:${BASE58}{3}|${MAGIC})$`),
  tron: new RegExp(`^T${BASE58}{30}(?:${BASE58}{3}|${MAGIC})$`),
  spark: new RegExp(`^spark(?:rt)?1${BECH32}{20,}$`, 'i'),
  bitcoin: new RegExp(
    `^(?:(?:bc|tb|bcrt)1${BECH32}{8,87}|(?:BC|TB|BCRT)1[02-9AC-HJ-NP-Z]{8,87}|` +
      `[123mn]${BASE58}{22,31}(?:${BASE58}{3}|${MAGIC}))$`,
  ),
};

/** Whether a text has the form of an address of this kind. */
export const looksLikeAddress = (kind: AddressKind, text: string): boolean =>
  LOOKS[kind].test(text);

const base58check = createBase58check(sha256);

function decoded(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

/** The address with the mixed case of EIP-55. `text` must have the form of an EVM address. */
export function evmChecksummed(text: string): string {
  const plain = text.slice(2).toLowerCase();
  const hash = keccak_256(utf8ToBytes(plain));
  const chars = [...plain].map((char, at) => {
    const nibble = ((hash[at >> 1] as number) >> (at % 2 ? 0 : 4)) & 15;
    return nibble > 7 ? char.toUpperCase() : char;
  });
  return `0x${chars.join('')}`;
}

/** EVM: forty hexadecimal digits; mixed case must match EIP-55. */
export function isEvmAddress(text: string): boolean {
  if (!looksLikeAddress('evm', text)) return false;
  const digits = text.slice(2);
  const oneCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return oneCase || text === evmChecksummed(text);
}

/** Solana: base58 of exactly 32 bytes. */
export const isSolanaAddress = (text: string): boolean =>
  decoded(() => base58.decode(text))?.length === 32;

/** Tron: base58check of 21 bytes, the first 0x41. */
export function isTronAddress(text: string): boolean {
  const bytes = decoded(() => base58check.decode(text));
  return bytes?.length === 21 && bytes[0] === 0x41;
}

/**
 * Spark: bech32m, `spark` on the main network and `sparkrt` on regtest; the bytes start with a
 * protobuf field 1 that holds a compressed public key.
 */
export function isSparkAddress(text: string, network: 'main' | 'regtest' = 'main'): boolean {
  const wanted = network === 'main' ? 'spark1' : 'sparkrt1';
  return text.toLowerCase().startsWith(wanted) && sparkIdentityKey(text) !== undefined;
}

/** The compressed public key of the wallet behind a Spark address of either network. */
export function sparkIdentityKey(text: string): Uint8Array | undefined {
  const bytes = decoded(() => {
    const { prefix, words } = bech32m.decode(text as `${string}1${string}`, 1000);
    if (prefix !== 'spark' && prefix !== 'sparkrt') throw new Error('another network');
    return bech32m.fromWords(words);
  });
  if (!bytes || bytes.length < 35) return undefined;
  const isKey = bytes[0] === 0x0a && bytes[1] === 0x21 && (bytes[2] === 2 || bytes[2] === 3);
  return isKey ? bytes.subarray(2, 35) : undefined;
}

/** Bitcoin, main network: the hash of a key or script in base58, or a SegWit program. */
const isBitcoinAddress = (text: string): boolean => bitcoinAddress(text)?.network === 'main';

const EXACT: Record<AddressKind, (text: string) => boolean> = {
  evm: isEvmAddress,
  solana: isSolanaAddress,
  tron: isTronAddress,
  spark: isSparkAddress,
  bitcoin: isBitcoinAddress,
};

/** Whether the checksum of an address of this kind holds (main network). */
export const isAddress = (kind: AddressKind, text: string): boolean => EXACT[kind](text);

/**
 * The form of a Lightning invoice: the prefix `lnbc`, or that of a test network, and its alphabet.
 */
export const looksLikeBolt11 = (text: string): boolean =>
  new RegExp(`^ln(?:bcrt|bc|tbs|tb)(?:[0-9]+[munp]?)?1${BECH32}{10,}$`, 'i').test(text);

/** A Lightning invoice of the main network with a valid checksum. */
export const isBolt11 = (text: string): boolean => readBolt11(text)?.network === 'lnbc';

/** A reusable Lightning offer: `lno1` and the bech32 alphabet; offers have no checksum. */
export const isBolt12 = (text: string): boolean =>
  new RegExp(`^lno1${BECH32}(?:${BECH32}|\\+\\s*${BECH32}){9,}$`, 'i').test(text);

/** A Lightning address: `user@domain` with the characters of LUD-16 and an optional `+tag`. */
export const isLightningAddress = (text: string): boolean =>
  /^[a-z0-9._+-]+@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::[0-9]{1,5})?$/i.test(text);
