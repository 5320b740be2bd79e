// Parser of BOLT 11 Lightning invoices: network, amount, expiry and payment hash. The checksum is
// validated. The paying node validates the signature and the feature bits.
import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
import type { Time } from '../../kernel/effects.ts';

/** Prefix of the network: `lnbc` for the main network, and three test networks. */
type LightningNetwork = 'lnbc' | 'lnbcrt' | 'lntb' | 'lntbs';

export interface Invoice {
  network: LightningNetwork;
  /** Undefined if the payer selects the amount. */
  amountMsat: bigint | undefined;
  /** Expiry. The invoice must not be paid at or after this time. */
  expiresAt: Time;
  /** 32 bytes as hexadecimal digits. */
  paymentHash: string;
}

/** Maximum length of an invoice in account details. BOLT 11 has no maximum. */
const MAX_LENGTH = 4_096;
const TIMESTAMP_GROUPS = 7;
const SIGNATURE_GROUPS = 104;
const HASH_GROUPS = 52;
/** Expiry of an invoice without an expiry field. */
const DEFAULT_EXPIRY_S = 3_600;
/** Maximum time value of a date, in milliseconds. The expiry of an invoice can be later. */
const MAX_TIME = 8.64e15;

const PREFIX = /^(lnbcrt|lnbc|lntbs|lntb)(?:([1-9]\d{0,20})([munp]?))?$/;

/** Millisatoshis per unit of the amount. The unit `p` is a tenth of a millisatoshi. */
const MSAT_PER_UNIT = {
  '': 100_000_000_000n,
  m: 100_000_000n,
  u: 100_000n,
  n: 100n,
} as const;

/** Amount in millisatoshis. Null for a fraction of a millisatoshi. */
function parseAmount(digits: string, unit: string): bigint | null {
  const count = BigInt(digits);
  if (unit !== 'p') return count * MSAT_PER_UNIT[unit as keyof typeof MSAT_PER_UNIT];
  return count % 10n === 0n ? count / 10n : null;
}

const numberOf = (groups: readonly number[]): number =>
  groups.reduce((sum, group) => sum * 32 + group, 0);

/** Tags of the payment hash and of the seconds until expiry. */
const [HASH_TAG, EXPIRY_TAG] = [1, 6];

/**
 * Tagged fields as groups of five bits. The first field of each tag is used. A payment hash of the
 * wrong length is skipped. Undefined if a field is incomplete.
 */
function parseFields(data: readonly number[]): Map<number, readonly number[]> | undefined {
  const fields = new Map<number, readonly number[]>();
  let position = 0;
  while (position < data.length) {
    const [tag, highDigit, lowDigit] = data.slice(position, position + 3) as [
      number,
      number?,
      number?,
    ];
    if (highDigit === undefined || lowDigit === undefined) return undefined;
    const end = position + 3 + highDigit * 32 + lowDigit;
    if (end > data.length) return undefined;
    const groups = data.slice(position + 3, end);
    const isSkipped = tag === HASH_TAG && groups.length !== HASH_GROUPS;
    if (!isSkipped && !fields.has(tag)) fields.set(tag, groups);
    position = end;
  }
  return fields;
}

/**
 * Undefined for a string that is not an invoice, and for an invalid checksum. Also undefined for an
 * amount with a fraction of a millisatoshi, and without a payment hash.
 */
export function parseBolt11(text: string): Invoice | undefined {
  const bech32Data = bech32.decodeUnsafe(text, MAX_LENGTH);
  const [, network, digits, unit = ''] = PREFIX.exec(bech32Data?.prefix ?? '') ?? [];
  if (!bech32Data || network === undefined) return undefined;
  const { words } = bech32Data;
  if (words.length < TIMESTAMP_GROUPS + SIGNATURE_GROUPS) return undefined;
  const amountMsat = digits === undefined ? undefined : parseAmount(digits, unit);
  const fields = parseFields(words.slice(TIMESTAMP_GROUPS, -SIGNATURE_GROUPS));
  const hash = fields?.get(HASH_TAG);
  const paymentHash = hash && bech32.fromWordsUnsafe([...hash]);
  if (amountMsat === null || !paymentHash) return undefined;
  const expiry = fields?.get(EXPIRY_TAG);
  const expiryS =
    numberOf(words.slice(0, TIMESTAMP_GROUPS)) + (expiry ? numberOf(expiry) : DEFAULT_EXPIRY_S);
  return {
    network: network as LightningNetwork,
    amountMsat,
    expiresAt: Math.min(expiryS * 1_000, MAX_TIME),
    paymentHash: bytesToHex(paymentHash),
  };
}
