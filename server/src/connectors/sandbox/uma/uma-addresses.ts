// Receivers at the UMA providers of the sandbox, as data. The name before the @ selects a row with
// the accepted currency and the outcome of payments. The first rows are documented for clients.
// The other rows produce every error of another provider or of the connection to it.
import type { Code } from '../../../kernel/fault.ts';
import type { UmaCurrency } from '../../ports/index.ts';
import { SUCCESS, type Timeline } from '../payments/outcomes.ts';

/** The error code, by the request that is rejected: payee discovery or payment request. */
type UmaRejectionAt = { discovery: Code } | { payRequest: Code };

export interface UmaScript {
  /** With the `$`. */
  name: string;
  currency: string;
  rejectedAt?: UmaRejectionAt;
  /** Outcome of an accepted payment. */
  timeline: Timeline;
}

const MINUTE = 60_000;

const PENDING_LONG: Timeline = [
  { afterMs: 0, state: 'accepted' },
  { afterMs: 6 * MINUTE, state: 'settled' },
];

const COMPLIANCE_REJECTION: Timeline = [
  { afterMs: 0, state: 'accepted' },
  { afterMs: 2_000, state: 'failed', reason: 'COMPLIANCE_REJECTED' },
];

const DISCOVERY_REJECTIONS: readonly Code[] = [
  'UNSUPPORTED_UMA_VERSION',
  'NO_COMPATIBLE_UMA_VERSION',
  'COUNTERPARTY_PUBKEY_FETCH_ERROR',
  'LNURLP_REQUEST_FAILED',
  'LOOKUP_REQUEST_FAILED',
  'PARSE_LNURLP_RESPONSE_ERROR',
  'MISSING_REQUIRED_UMA_PARAMETERS',
  'CERT_CHAIN_INVALID',
  'CERT_CHAIN_EXPIRED',
  'INVALID_PUBKEY_FORMAT',
  'INVALID_TIMESTAMP',
  'INVALID_NONCE',
  'INVALID_SIGNATURE',
  'PLATFORM_NOT_FOUND',
  'PAYMENT_URL_NOT_FOUND',
  'COUNTERPARTY_NOT_ALLOWED',
];

const PAYMENT_REJECTIONS: readonly Code[] = [
  'PAYREQ_REQUEST_FAILED',
  'INVALID_PAYREQ_RESPONSE',
  'PARSE_PAYREQ_RESPONSE_ERROR',
  'SENDER_NOT_ACCEPTED',
  'INVALID_RECEIVER',
  'QUOTE_REQUEST_FAILED',
  'INVALID_REQUEST_FORMAT',
  'REQUEST_NOT_FOUND',
  'SERVICE_SWITCH_ERROR',
  'UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY',
];

/** Discovery errors that can also reject a payment request: `$error.payment.cert-chain-expired`. */
const LATE_DISCOVERY_REJECTIONS: readonly Code[] = [
  'UNSUPPORTED_UMA_VERSION',
  'NO_COMPATIBLE_UMA_VERSION',
  'COUNTERPARTY_PUBKEY_FETCH_ERROR',
  'CERT_CHAIN_INVALID',
  'CERT_CHAIN_EXPIRED',
  'INVALID_PUBKEY_FORMAT',
  'INVALID_TIMESTAMP',
  'INVALID_NONCE',
  'INVALID_SIGNATURE',
  'COUNTERPARTY_NOT_ALLOWED',
];

/** `CERT_CHAIN_EXPIRED` is the outcome of `$error.cert-chain-expired`. */
const rejectingScript = (code: Code, rejection: UmaRejectionAt, prefix = '$error.'): UmaScript => ({
  name: prefix + code.toLowerCase().replaceAll('_', '-'),
  currency: 'USD',
  rejectedAt: rejection,
  timeline: SUCCESS,
});

export const UMA_SCRIPTS: readonly UmaScript[] = [
  { name: '$success.usd', currency: 'USD', timeline: SUCCESS },
  { name: '$success.eur', currency: 'EUR', timeline: SUCCESS },
  { name: '$success.mxn', currency: 'MXN', timeline: SUCCESS },
  { name: '$pending.long.usd', currency: 'USD', timeline: PENDING_LONG },
  { name: '$fail.compliance.usd', currency: 'USD', timeline: COMPLIANCE_REJECTION },
  {
    name: '$non.existent.usd',
    currency: 'USD',
    rejectedAt: { discovery: 'UMA_NOT_FOUND' },
    timeline: SUCCESS,
  },
  ...DISCOVERY_REJECTIONS.map((code) => rejectingScript(code, { discovery: code })),
  ...PAYMENT_REJECTIONS.map((code) => rejectingScript(code, { payRequest: code })),
  ...LATE_DISCOVERY_REJECTIONS.map((code) =>
    rejectingScript(code, { payRequest: code }, '$error.payment.'),
  ),
];

const LIMITS: Readonly<Record<string, readonly [min: bigint, max: bigint]>> = {
  USD: [1_00n, 100_000_00n],
  EUR: [1_00n, 100_000_00n],
  MXN: [10_00n, 2_000_000_00n],
};

/** Limits of a receiver of this currency, in minor units. */
export function umaCurrency(code: string): UmaCurrency {
  const [min, max] = LIMITS[code] ?? [1n, 1_000_000_00n];
  return { code, min, max };
}

/** Payer data that a scripted provider requests. */
export const REQUIRED_PAYER_DATA = [
  { name: 'FULL_NAME', mandatory: true },
  { name: 'BIRTH_DATE', mandatory: false },
  { name: 'COUNTRY_OF_RESIDENCE', mandatory: false },
];

/** Guides of the sandbox use both forms of the host. */
export const DOCUMENTED_HOST = /^sandbox(?:\.[a-z0-9-]+)?\.uma\.money$/;
