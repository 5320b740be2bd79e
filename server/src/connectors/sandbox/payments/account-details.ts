// Well-formed account details, derived from a string and equal for equal strings. Check digits and
// checksums are valid. Bank codes and prefixes are not assigned to an institution.
import { createHash } from 'node:crypto';
import { sha256 } from '@noble/hashes/sha2.js';
import { base58, bech32m, createBase58check } from '@scure/base';
import { evmChecksumAddress } from '../../../catalog/crypto/addresses.ts';

const base58check = createBase58check(sha256);

/** 32 bytes that depend on the seed and the purpose only. */
export const bytesOf = (seed: string, purpose: string): Buffer =>
  createHash('sha256').update(`railhead sandbox\n${purpose}\n${seed}`).digest();

/** `count` decimal digits. */
export function digitsOf(seed: string, purpose: string, count: number): string {
  const number = BigInt(`0x${bytesOf(seed, purpose).toString('hex')}`);
  return (number % 10n ** BigInt(count)).toString().padStart(count, '0');
}

// Without 0, 1, I and O, which are easily confused.
const LETTERS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** `count` letters and digits, at most 32. */
export const lettersOf = (seed: string, purpose: string, count: number): string =>
  [...bytesOf(seed, purpose).subarray(0, count)].map((byte) => LETTERS[byte % 32]).join('');

/** Suffixes with an outcome. `generated-ids.test.ts` compares them with all tables. */
export const SCRIPTED_SUFFIX = /[0-2]0\d$/;

/**
 * Returns the result of `derive` for the seed, without a suffix that scripts an outcome. A payment
 * to generated account details must succeed.
 */
export function withoutScriptedSuffix(seed: string, derive: (seed: string) => string): string {
  for (let attempt = 0; ; attempt++) {
    const text = derive(attempt === 0 ? seed : `${seed}\n${attempt}`);
    if (!SCRIPTED_SUFFIX.test(text)) return text;
  }
}

/** An IBAN from country and BBAN, with the check digits for the remainder 1 modulo 97. */
export function ibanOf(country: string, bban: string): string {
  const digits = `${bban}${country}00`.replace(/[A-Z]/g, (char) => `${Number.parseInt(char, 36)}`);
  const check = 98n - (BigInt(digits) % 97n);
  return `${country}${check.toString().padStart(2, '0')}${bban}`;
}

/** A CLABE from its first seventeen digits. */
export function clabeOf(prefix: string): string {
  const weights = [3, 7, 1];
  const sum = [...prefix].reduce(
    (total, digit, index) => total + ((Number(digit) * (weights[index % 3] as number)) % 10),
    0,
  );
  return `${prefix}${(10 - (sum % 10)) % 10}`;
}

/** The check digit for which the sum of weighted digits is divisible by ten. */
const cbuDigit = (digits: string, weights: readonly number[]): number => {
  const sum = [...digits].reduce((total, digit, index) => {
    return total + Number(digit) * (weights[index % weights.length] as number);
  }, 0);
  return (10 - (sum % 10)) % 10;
};

/**
 * An Argentine CVU: 000, four digits of the provider, a check digit, a zero, twelve digits of the
 * client, a check digit.
 */
export function cvuOf(provider: string, client: string): string {
  const [bank, account] = [`000${provider}`, `0${client}`];
  const [firstDigit, secondDigit] = [cbuDigit(bank, [7, 1, 3, 9]), cbuDigit(account, [3, 9, 7, 1])];
  return `${bank}${firstDigit}${account}${secondDigit}`;
}

/** CRC-16 of PIX payloads: polynomial 1021, initial value FFFF, not reflected. */
export function crc16(text: string): string {
  let crc = 0xffff;
  for (const byte of Buffer.from(text)) {
    crc ^= byte << 8;
    for (let bit = 0; bit < 8; bit++) crc = ((crc << 1) ^ (crc & 0x8000 ? 0x1021 : 0)) & 0xffff;
  }
  return crc.toString(16).toUpperCase().padStart(4, '0');
}

const field = (id: string, value: string) =>
  `${id}${value.length.toString().padStart(2, '0')}${value}`;

interface PixReceiver {
  name: string;
  city: string;
  /** At most 25 letters and digits, which the payer's bank repeats. */
  reference: string;
}

/** An EMV BR Code. `use` is 11 for a reusable code, and 12 for a code of one payment. */
function brCode(
  use: '11' | '12',
  accountField: string,
  receiver: PixReceiver,
  amount?: string,
): string {
  const payloadFields = [
    field('00', '01'),
    field('01', use),
    field('26', field('00', 'br.gov.bcb.pix') + accountField),
    field('52', '0000'),
    field('53', '986'),
    ...(amount === undefined ? [] : [field('54', amount)]),
    field('58', 'BR'),
    field('59', receiver.name),
    field('60', receiver.city),
    field('62', field('05', receiver.reference)),
  ];
  const body = `${payloadFields.join('')}6304`;
  return body + crc16(body);
}

/** A reusable PIX payload for a random key. */
export const pixPayload = (receiver: PixReceiver & { key: string }): string =>
  brCode('11', field('01', receiver.key), receiver);

/** A PIX payload for one payment of exactly `amount`. `location` is the URL of the charge. */
export const pixCharge = (receiver: PixReceiver & { location: string; amount: string }): string =>
  brCode('12', field('25', receiver.location), receiver, receiver.amount);

/** A random (EVP) PIX key: a version 4 uuid. */
export function pixKeyOf(seed: string): string {
  const bytes = bytesOf(seed, 'pix key');
  bytes[6] = ((bytes[6] as number) & 0x0f) | 0x40;
  bytes[8] = ((bytes[8] as number) & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return [8, 12, 16, 20, 32]
    .map((end, index) => hex.slice([0, 8, 12, 16, 20][index], end))
    .join('-');
}

/** An EVM address that starts with 7e57 ("test"), with the EIP-55 checksum. */
export const evmAddressOf = (text: string): string =>
  withoutScriptedSuffix(text, (seed) =>
    evmChecksumAddress(`0x7e57${bytesOf(seed, 'evm').toString('hex', 0, 18)}`),
  );

/** Base58 has no 0, so no outcome is scripted. The same applies to Solana. */
export const tronAddressOf = (seed: string): string =>
  base58check.encode(Uint8Array.from([0x41, ...bytesOf(seed, 'tron').subarray(0, 20)]));

export const solanaAddressOf = (seed: string): string => base58.encode(bytesOf(seed, 'solana'));

/** Spark's text format on regtest: protobuf in bech32m. */
export const sparkText = (bytes: Uint8Array): string =>
  bech32m.encode('sparkrt', bech32m.toWords(bytes), 1_000);

/** A Spark address on regtest: a compressed key with the tag of protobuf field 1. */
export const sparkAddressOf = (text: string): string =>
  withoutScriptedSuffix(text, (seed) =>
    sparkText(Uint8Array.from([0x0a, 0x21, 0x02, ...bytesOf(seed, 'spark')])),
  );

/** A taproot address of Bitcoin's regtest. */
export const bitcoinAddressOf = (text: string): string =>
  withoutScriptedSuffix(text, (seed) =>
    bech32m.encode('bcrt', [1, ...bech32m.toWords(bytesOf(seed, 'bitcoin'))]),
  );
