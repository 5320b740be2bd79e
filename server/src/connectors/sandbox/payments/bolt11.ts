// Lightning invoices (BOLT 11), signed as by a node. Wallets pay by the text alone, so amount,
// expiry and signature must be exact. Invoices contain only the fields that all wallets need:
// payment secret, hash, description, expiry, and the two features that the secret requires.
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { bech32 } from '@scure/base';

export interface Bolt11 {
  /** `lnbc` for the main network, `lnbcrt` for regtest. */
  prefix: string;
  amountMsat: bigint;
  /** Seconds since the epoch. */
  timestamp: number;
  expirySeconds: number;
  /** 32 bytes each. */
  paymentHash: Uint8Array;
  paymentSecret: Uint8Array;
  description: string;
  /** The node's private key, 32 bytes. */
  privateKey: Uint8Array;
}

/** Pico-bitcoin per unit, the largest first, for the shortest form of an amount. */
const UNITS = [
  ['', 1_000_000_000_000n],
  ['m', 1_000_000_000n],
  ['u', 1_000_000n],
  ['n', 1_000n],
  ['p', 1n],
] as const;

function amountText(amountMsat: bigint): string {
  const pico = amountMsat * 10n;
  const [letter, size] = UNITS.find(([, each]) => pico % each === 0n) ?? ['p', 1n];
  return `${pico / size}${letter}`;
}

/** A number in groups of five bits, at least `count`. */
function words(value: number, count = 1): number[] {
  const groups: number[] = [];
  for (
    let remainingValue = value;
    remainingValue > 0 || groups.length < count;
    remainingValue = Math.floor(remainingValue / 32)
  ) {
    groups.unshift(remainingValue % 32);
  }
  return groups;
}

const ALPHABET = 'qpzry9x8gf2tvdw0s3jn54khce6mua7l';

/** A tagged field: letter, length in groups, groups. */
const taggedField = (letter: string, data: number[]): number[] => [
  ALPHABET.indexOf(letter),
  ...words(data.length, 2),
  ...data,
];

/** Groups of five bits as bytes, padded with zero bits. */
function paddedBytes(groups: readonly number[]): Uint8Array {
  const bits = groups.map((group) => group.toString(2).padStart(5, '0')).join('');
  const octets = bits.match(/.{1,8}/g) ?? [];
  return Uint8Array.from(octets, (octet) => Number.parseInt(octet.padEnd(8, '0'), 2));
}

/** Required features: payment secret (bit 14) and variable onion (bit 8). */
const FEATURES = words(2 ** 14 + 2 ** 8);

/** The invoice as text. The text is deterministic, because its signature is (RFC 6979). */
export function bolt11(invoice: Bolt11): string {
  const humanReadablePart = `${invoice.prefix}${amountText(invoice.amountMsat)}`;
  const data = [
    ...words(invoice.timestamp, 7),
    ...taggedField('s', bech32.toWords(invoice.paymentSecret)),
    ...taggedField('p', bech32.toWords(invoice.paymentHash)),
    ...taggedField('d', bech32.toWords(Buffer.from(invoice.description))),
    ...taggedField('x', words(invoice.expirySeconds)),
    ...taggedField('9', FEATURES),
  ];
  const hash = sha256(Uint8Array.from([...Buffer.from(humanReadablePart), ...paddedBytes(data)]));
  const recoverableSignature = secp256k1.sign(hash, invoice.privateKey, {
    prehash: false,
    format: 'recovered',
  });
  // The recovery number is first in the format of the library, and last in BOLT 11.
  const signature = Uint8Array.from([
    ...recoverableSignature.subarray(1),
    recoverableSignature[0] as number,
  ]);
  return bech32.encode(humanReadablePart, [...data, ...bech32.toWords(signature)], 2_000);
}
