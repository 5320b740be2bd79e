// Parses the fields of BOLT 11 invoices that are needed before a payment: network, amount, expiry
// and payment hash. The checksum is verified; signature and features are left to the node that
// pays, which rejects what it does not support.
import { bytesToHex } from '@noble/hashes/utils.js';
import { bech32 } from '@scure/base';
import type { Time } from '../../kernel/effects.ts';

/** `lnbc` is the main network; the others are test networks. */
type LightningNetwork = 'lnbc' | 'lnbcrt' | 'lntb' | 'lntbs';

export interface Invoice {
  network: LightningNetwork;
  /** Undefined if the payer chooses the amount. */
  amountMsat: bigint | undefined;
  /** Time from which it must not be paid. */
  expiresAt: Time;
  /** 32 bytes as hexadecimal digits. */
  paymentHash: string;
}

/** Maximum length; the specification defines none, so this is what an account field can hold. */
const MAX_LENGTH = 4_096;
const TIMESTAMP_GROUPS = 7;
const SIGNATURE_GROUPS = 104;
const HASH_GROUPS = 52;
/** Default expiry. */
const USUAL_EXPIRY_S = 3_600;
/** The maximum of a date; an invoice can have a later expiry. */
const LAST_MOMENT = 8.64e15;

const PREFIX = /^(lnbcrt|lnbc|lntbs|lntb)(?:([1-9]\d{0,20})([munp]?))?$/;

/** Millisatoshis per unit; `p` is a tenth of one. */
const MSAT_IN = {
  '': 100_000_000_000n,
  m: 100_000_000n,
  u: 100_000n,
  n: 100n,
} as const;

/** Null for an invalid amount: fractions of a millisatoshi cannot be paid. */
function amountOf(digits: string, unit: string): bigint | null {
  const count = BigInt(digits);
  if (unit !== 'p') return count * MSAT_IN[unit as keyof typeof MSAT_IN];
  return count % 10n === 0n ? count / 10n : null;
}

const numberOf = (groups: readonly number[]): number =>
  groups.reduce((sum, group) => sum * 32 + group, 0);

/** Tags in groups of five bits: the payment hash and the seconds until expiry. */
const [HASH_TAG, EXPIRY_TAG] = [1, 6];

/** The first of each tag with its required length; undefined for an incomplete field. */
function fieldsOf(data: readonly number[]): Map<number, readonly number[]> | undefined {
  const fields = new Map<number, readonly number[]>();
  let at = 0;
  while (at < data.length) {
    const [tag, high, low] = data.slice(at, at + 3) as [number, number?, number?];
    if (high === undefined || low === undefined) return undefined;
    const end = at + 3 + high * 32 + low;
    if (end > data.length) return undefined;
    const groups = data.slice(at + 3, end);
    const skipped = tag === HASH_TAG && groups.length !== HASH_GROUPS;
    if (!skipped && !fields.has(tag)) fields.set(tag, groups);
    at = end;
  }
  return fields;
}

/** Undefined for an invalid invoice: other form, wrong checksum, or no payment hash. */
export function readBolt11(text: string): Invoice | undefined {
  const decoded = bech32.decodeUnsafe(text, MAX_LENGTH);
  const [, network, digits, unit = ''] = PREFIX.exec(decoded?.prefix ?? '') ?? [];
  if (!decoded || network === undefined) return undefined;
  const { words } = decoded;
  if (words.length < TIMESTAMP_GROUPS + SIGNATURE_GROUPS) return undefined;
  const amountMsat = digits === undefined ? undefined : amountOf(digits, unit);
  const fields = fieldsOf(words.slice(TIMESTAMP_GROUPS, -SIGNATURE_GROUPS));
  const hash = fields?.get(HASH_TAG);
  const paymentHash = hash && bech32.fromWordsUnsafe([...hash]);
  if (amountMsat === null || !paymentHash) return undefined;
  const expiry = fields?.get(EXPIRY_TAG);
  const endS =
    numberOf(words.slice(0, TIMESTAMP_GROUPS)) + (expiry ? numberOf(expiry) : USUAL_EXPIRY_S);
  return {
    network: network as LightningNetwork,
    amountMsat,
    expiresAt: Math.min(endS * 1_000, LAST_MOMENT),
    paymentHash: bytesToHex(paymentHash),
  };
}
