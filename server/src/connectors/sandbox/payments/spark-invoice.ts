// Spark addresses and invoices, as wallets of that network read them: a small protobuf message in bech32m,
// with the receiver's key and, in an invoice, what is asked for and until when. The message is written by
// hand, because nine fields do not need a library. Invoices are not signed; the network allows that.
import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sparkText } from './coordinates.ts';

interface SparkInvoice {
  /** The receiver's private key, 32 bytes. */
  privateKey: Uint8Array;
  /** Sixteen bytes that nobody else has. */
  id: Uint8Array;
  amount: bigint;
  /** 32 bytes that name a token; without it the amount is in satoshis. */
  token?: Uint8Array;
  memo: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

function varint(value: bigint): number[] {
  const last = Number(value & 0x7fn);
  return value > 0x7fn ? [last | 0x80, ...varint(value >> 7n)] : [last];
}

const numberField = (field: number, value: bigint) => [field << 3, ...varint(value)];
const bytesField = (field: number, bytes: Iterable<number>) => {
  const list = [...bytes];
  return [(field << 3) | 2, ...varint(BigInt(list.length)), ...list];
};

function bigEndian(value: bigint): Uint8Array {
  const hex = value.toString(16);
  return Buffer.from(hex.padStart(hex.length + (hex.length % 2), '0'), 'hex');
}

const identity = (privateKey: Uint8Array) =>
  bytesField(1, secp256k1.getPublicKey(privateKey, true));

/** The address of a key on regtest. */
export const sparkAddress = (privateKey: Uint8Array): string =>
  sparkText(Uint8Array.from(identity(privateKey)));

export function sparkInvoice(invoice: SparkInvoice): string {
  const asked = invoice.token
    ? bytesField(3, [...bytesField(1, invoice.token), ...bytesField(2, bigEndian(invoice.amount))])
    : bytesField(4, numberField(1, invoice.amount));
  const fields = [
    ...numberField(1, 1n),
    ...bytesField(2, invoice.id),
    ...asked,
    ...bytesField(5, Buffer.from(invoice.memo)),
    ...bytesField(7, numberField(1, BigInt(invoice.expiresAt))),
  ];
  return sparkText(Uint8Array.from([...identity(invoice.privateKey), ...bytesField(2, fields)]));
}
