// Validation of blockchain addresses and Lightning destinations. The format is validated in every
// mode, the checksum in production only. The format of base58 addresses allows the sandbox suffixes
// 002 to 007, because base58 has no zero.
import { sha256 } from '@noble/hashes/sha2.js';
import { keccak_256 } from '@noble/hashes/sha3.js';
import { utf8ToBytes } from '@noble/hashes/utils.js';
import { base58, bech32m, createBase58check } from '@scure/base';
import { parseBitcoinAddress } from './bitcoin-address.ts';
import { parseBolt11 } from './bolt11.ts';

export type AddressKind = 'evm' | 'solana' | 'tron' | 'spark' | 'bitcoin';

const BASE58 = '[1-9A-HJ-NP-Za-km-z]';
const BECH32 = '[02-9ac-hj-np-z]';
const SANDBOX_SUFFIX = '(?:00[2-7])';

const FORMATS: Record<AddressKind, RegExp> = {
  evm: /^0x[0-9a-fA-F]{40}$/,
  solana: new RegExp(`^${BASE58}{29,41}(?:${BASE58}{3}|${SANDBOX_SUFFIX})$`),
  tron: new RegExp(`^T${BASE58}{30}(?:${BASE58}{3}|${SANDBOX_SUFFIX})$`),
  spark: new RegExp(`^spark(?:rt)?1${BECH32}{20,}$`, 'i'),
  bitcoin: new RegExp(
    `^(?:(?:bc|tb|bcrt)1${BECH32}{8,87}|(?:BC|TB|BCRT)1[02-9AC-HJ-NP-Z]{8,87}|` +
      `[123mn]${BASE58}{22,31}(?:${BASE58}{3}|${SANDBOX_SUFFIX}))$`,
  ),
};

/** Whether a string has the format of an address of this kind. The checksum is not validated. */
export const hasAddressFormat = (kind: AddressKind, text: string): boolean =>
  FORMATS[kind].test(text);

const base58check = createBase58check(sha256);

function tryDecode(decode: () => Uint8Array): Uint8Array | undefined {
  try {
    return decode();
  } catch {
    return undefined;
  }
}

/** The address with the checksum of EIP-55. `text` must have the format of an EVM address. */
export function evmChecksumAddress(text: string): string {
  const lowerCaseDigits = text.slice(2).toLowerCase();
  const hash = keccak_256(utf8ToBytes(lowerCaseDigits));
  const chars = [...lowerCaseDigits].map((char, index) => {
    const nibble = ((hash[index >> 1] as number) >> (index % 2 ? 0 : 4)) & 15;
    return nibble > 7 ? char.toUpperCase() : char;
  });
  return `0x${chars.join('')}`;
}

/** EVM: 40 hexadecimal digits. Mixed case must be the checksum of EIP-55. */
export function isEvmAddress(text: string): boolean {
  if (!hasAddressFormat('evm', text)) return false;
  const digits = text.slice(2);
  const isSingleCase = digits === digits.toLowerCase() || digits === digits.toUpperCase();
  return isSingleCase || text === evmChecksumAddress(text);
}

/** Solana: base58 of exactly 32 bytes. */
export const isSolanaAddress = (text: string): boolean =>
  tryDecode(() => base58.decode(text))?.length === 32;

/** Tron: base58check of 21 bytes, of which the first is 0x41. */
export function isTronAddress(text: string): boolean {
  const bytes = tryDecode(() => base58check.decode(text));
  return bytes?.length === 21 && bytes[0] === 0x41;
}

/**
 * Spark: bech32m with the prefix `spark` (main network) or `sparkrt` (regtest). The payload starts
 * with protobuf field 1, a compressed public key.
 */
export function isSparkAddress(text: string, network: 'main' | 'regtest' = 'main'): boolean {
  const prefix = network === 'main' ? 'spark1' : 'sparkrt1';
  return text.toLowerCase().startsWith(prefix) && sparkIdentityKey(text) !== undefined;
}

/** Compressed public key of a Spark address of either network. Undefined for an invalid address. */
export function sparkIdentityKey(text: string): Uint8Array | undefined {
  const bytes = tryDecode(() => {
    const { prefix, words } = bech32m.decode(text as `${string}1${string}`, 1000);
    if (prefix !== 'spark' && prefix !== 'sparkrt') throw new Error('another network');
    return bech32m.fromWords(words);
  });
  if (!bytes || bytes.length < 35) return undefined;
  const isKey = bytes[0] === 0x0a && bytes[1] === 0x21 && (bytes[2] === 2 || bytes[2] === 3);
  return isKey ? bytes.subarray(2, 35) : undefined;
}

/** Bitcoin, main network: base58check or SegWit. */
const isBitcoinAddress = (text: string): boolean => parseBitcoinAddress(text)?.network === 'main';

const VALIDATORS: Record<AddressKind, (text: string) => boolean> = {
  evm: isEvmAddress,
  solana: isSolanaAddress,
  tron: isTronAddress,
  spark: isSparkAddress,
  bitcoin: isBitcoinAddress,
};

/**
 * Whether a string is a main-network address of this kind. A checksum, if present, must be valid.
 */
export const isAddress = (kind: AddressKind, text: string): boolean => VALIDATORS[kind](text);

/** Whether a string has the prefix and alphabet of a Lightning invoice of any network. */
export const hasBolt11Format = (text: string): boolean =>
  new RegExp(`^ln(?:bcrt|bc|tbs|tb)(?:[0-9]+[munp]?)?1${BECH32}{10,}$`, 'i').test(text);

/** Whether a string is a main-network Lightning invoice with a valid checksum. */
export const isBolt11 = (text: string): boolean => parseBolt11(text)?.network === 'lnbc';

/** BOLT 12 offer: `lno1` and the bech32 alphabet. Offers have no checksum. */
export const isBolt12 = (text: string): boolean =>
  new RegExp(`^lno1${BECH32}(?:${BECH32}|\\+\\s*${BECH32}){9,}$`, 'i').test(text);

/**
 * Lightning address: `user@domain` with the characters of LUD-16, with an optional `+tag` and port.
 */
export const isLightningAddress = (text: string): boolean =>
  /^[a-z0-9._+-]+@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}(?::[0-9]{1,5})?$/i.test(text);
