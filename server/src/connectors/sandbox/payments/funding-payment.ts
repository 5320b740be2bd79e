// Payment instructions of one payment in the sandbox, valid until the quote expires. Each pay-in
// type has one entry in the format of its banks or wallets, with the exact amount if the format
// includes one. The instructions are derived from the ID and reference of the payment. They are
// therefore the same for each repetition and unique for each payment.

import { secp256k1 } from '@noble/curves/secp256k1.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { currencyOf } from '../../../catalog/currencies/currencies.ts';
import type { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { REALTIME_FIAT, realtimeFundingOf } from '../../../catalog/rails/realtime.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { formatUnits } from '../../../kernel/money.ts';
import type { PaymentFunding } from '../../ports/index.ts';
import {
  bytesOf,
  cvuOf,
  digitsOf,
  lettersOf,
  pixCharge,
  sparkText,
  withoutScriptedSuffix,
} from './account-details.ts';
import { bolt11 } from './bolt11.ts';
import { accountDetailsOf } from './funding.ts';

// Spark addresses and invoices in the format of wallets, a small protobuf message in bech32m. The
// message contains the receiver's key and, in an invoice, amount and expiry. A protobuf library
// would be excessive for so few fields. Invoices are unsigned, which the network allows.

interface SparkInvoice {
  /** The receiver's private key, 32 bytes. */
  privateKey: Uint8Array;
  /** Sixteen unique bytes. */
  id: Uint8Array;
  amount: bigint;
  /** 32 bytes that identify a token. Absent: the amount is in satoshis. */
  token?: Uint8Array;
  memo: string;
  /** Seconds since the epoch. */
  expiresAt: number;
}

function varint(value: bigint): number[] {
  const lastByte = Number(value & 0x7fn);
  return value > 0x7fn ? [lastByte | 0x80, ...varint(value >> 7n)] : [lastByte];
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

const identityField = (privateKey: Uint8Array) =>
  bytesField(1, secp256k1.getPublicKey(privateKey, true));

/** The address of a key on regtest. */
const sparkAddress = (privateKey: Uint8Array): string =>
  sparkText(Uint8Array.from(identityField(privateKey)));

function sparkInvoice(invoice: SparkInvoice): string {
  const amountFields = invoice.token
    ? bytesField(3, [...bytesField(1, invoice.token), ...bytesField(2, bigEndian(invoice.amount))])
    : bytesField(4, numberField(1, invoice.amount));
  const fields = [
    ...numberField(1, 1n),
    ...bytesField(2, invoice.id),
    ...amountFields,
    ...bytesField(5, Buffer.from(invoice.memo)),
    ...bytesField(7, numberField(1, BigInt(invoice.expiresAt))),
  ];
  return sparkText(
    Uint8Array.from([...identityField(invoice.privateKey), ...bytesField(2, fields)]),
  );
}

const seconds = (time: Time) => Math.floor(time / 1000);
const decimalAmount = ({ amount, currency }: PaymentFunding) =>
  formatUnits(amount, currencyOf(currency).decimals).replaceAll(',', '');
const memo = ({ reference }: PaymentFunding) => `Payment ${reference}`;

const MAX_PIX_REFERENCE_LENGTH = 25;

/** The reference if it fits into a PIX code, or else 25 characters derived from it. */
function pixReference(reference: string): string {
  const isShort = /^[A-Za-z0-9]+$/.test(reference) && reference.length <= MAX_PIX_REFERENCE_LENGTH;
  return isShort ? reference : lettersOf(reference, 'pix', MAX_PIX_REFERENCE_LENGTH);
}

function sparkDetails(payment: PaymentFunding): object {
  const { transactionId: seed, currency, amount, expiresAt } = payment;
  const keyOf = (attemptSeed: string) => bytesOf(attemptSeed, 'spark key');
  let privateKey = keyOf(seed);
  const address = withoutScriptedSuffix(seed, (attemptSeed) => {
    privateKey = keyOf(attemptSeed);
    return sparkAddress(privateKey);
  });
  const invoiceOf = (attemptSeed: string) =>
    sparkInvoice({
      privateKey,
      id: bytesOf(attemptSeed, 'spark invoice').subarray(0, 16),
      amount,
      ...(currency === 'BTC' ? {} : { token: bytesOf(currency, 'spark token') }),
      memo: memo(payment),
      expiresAt: seconds(expiresAt),
    });
  return { address, assetType: currency, invoice: withoutScriptedSuffix(seed, invoiceOf) };
}

function lightningInvoice(payment: PaymentFunding): object {
  const { transactionId: seed, amount, at, expiresAt } = payment;
  const invoiceOf = (attemptSeed: string) =>
    bolt11({
      prefix: 'lnbcrt',
      amountMsat: amount * 1000n,
      timestamp: seconds(at),
      expirySeconds: seconds(expiresAt) - seconds(at),
      paymentHash: sha256(bytesOf(seed, 'preimage')),
      paymentSecret: bytesOf(attemptSeed, 'payment secret'),
      description: memo(payment),
      privateKey: bytesOf(seed, 'node key'),
    });
  return { invoice: withoutScriptedSuffix(seed, invoiceOf) };
}

/** Pay-in types whose details differ from the details of an internal account. */
const DETAILS_BY_TYPE: Readonly<Record<string, (payment: PaymentFunding) => object>> = {
  BRL_ACCOUNT: (payment) => ({
    qrCode: pixCharge({
      location: `pix.railhead.example/v2/${bytesOf(payment.transactionId, 'pix').toString('hex', 0, 16)}`,
      amount: decimalAmount(payment),
      name: 'RAILHEAD SANDBOX',
      city: 'SAO PAULO',
      reference: pixReference(payment.reference),
    }),
  }),
  COP_ACCOUNT: ({ reference }) => ({
    paymentUrl: `https://pay.railhead.example/cop/${encodeURIComponent(reference)}`,
  }),
  ARS_ACCOUNT: ({ transactionId }) => ({
    accountNumber: withoutScriptedSuffix(transactionId, (seed) =>
      cvuOf('9999', digitsOf(seed, 'ars', 12)),
    ),
  }),
  INR_ACCOUNT: ({ reference }) => ({ vpa: `${reference.toLowerCase()}.pay@railhead` }),
  SGD_ACCOUNT: ({ transactionId, reference }) => ({
    bankName: 'Railhead Sandbox Bank',
    accountNumber: withoutScriptedSuffix(transactionId, (seed) => digitsOf(seed, 'sgd', 12)),
    swiftCode: 'RLHDSGSG',
    reference,
  }),
  SPARK_WALLET: sparkDetails,
  LIGHTNING: lightningInvoice,
};

function details(payInType: string, payment: PaymentFunding): object {
  const detailsOfType = DETAILS_BY_TYPE[payInType];
  if (detailsOfType) return detailsOfType(payment);
  const accountDetails = accountDetailsOf(payment.currency, payment.transactionId);
  const typeDetails = accountDetails.find(({ accountType }) => accountType === payInType);
  return {
    ...typeDetails,
    ...('reference' in (typeDetails ?? {}) ? { reference: payment.reference } : {}),
  };
}

/** Pay-in types without a field for rails. */
const TYPES_WITHOUT_RAIL: ReadonlySet<string> = new Set([
  'BRL_ACCOUNT',
  'COP_ACCOUNT',
  'ARS_ACCOUNT',
]);

function instruction(payInType: string, payment: PaymentFunding): PaymentInstructions {
  const rails = TYPES_WITHOUT_RAIL.has(payInType)
    ? undefined
    : REALTIME_FIAT[payment.currency]?.rails;
  const info = {
    accountType: payInType,
    ...details(payInType, payment),
    ...(rails ? { paymentRails: [...rails] } : {}),
  };
  const networkText = payment.network ? ` over ${payment.network}` : '';
  const referenceText = 'reference' in info ? `, with the reference ${payment.reference}` : '';
  const amountText = `${decimalAmount(payment)} ${payment.currency}${networkText}`;
  return {
    accountOrWalletInfo: info,
    instructionsNotes:
      `Send exactly ${amountText} by ${iso(payment.expiresAt)}${referenceText}, in one payment. ` +
      'Any other amount fails. In the sandbox, POST /sandbox/send simulates the payer.',
    isPlatformAccount: payment.owner === 'platform',
  };
}

/** `FundingPort.forPayment` of the sandbox. */
export const sandboxPaymentFunding = (payment: PaymentFunding): PaymentInstructions[] =>
  (realtimeFundingOf(payment.currency, payment.network)?.payInTypes ?? []).map((payInType) =>
    instruction(payInType, payment),
  );
