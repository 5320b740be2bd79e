// Payment rails: name, estimated settlement time, relative cost, amount limit, and whether a
// payment can be canceled.
import { named, oneOf } from '../../kernel/schema.ts';

export const PAYMENT_RAILS = [
  'ACH',
  'ACH_COLOMBIA',
  'BANK_TRANSFER',
  'BRE_B',
  'CIPS',
  'FAST',
  'FASTER_PAYMENTS',
  'FEDNOW',
  'INSTAPAY',
  'MOBILE_MONEY',
  'NEFT',
  'PAYNOW',
  'PESONET',
  'PIX',
  'RTGS',
  'RTP',
  'SEPA',
  'SEPA_INSTANT',
  'SPEI',
  'SWIFT',
  'UNIONPAY',
  'UPI',
  'WIRE',
] as const;

export type PaymentRail = (typeof PAYMENT_RAILS)[number];

export const PaymentRail = named(
  'PaymentRail',
  oneOf(PAYMENT_RAILS, {
    description: 'Payment rail: the payment system that transfers the funds.',
  }),
);

interface RailProperties {
  readonly name: string;
  /** Estimated time from submission to settlement, in seconds. */
  readonly settlementSeconds: number;
  /** Whether payments settle within a minute at any time. */
  readonly instant: boolean;
  /** Rank by cost for the automatic selection. 1 is the cheapest. */
  readonly costRank: number;
  /** Whether a payment can be canceled before settlement. */
  readonly cancellable: boolean;
  /** Maximum amount of a payment in whole US dollars, converted at the reference rate. */
  readonly maxUsd: bigint;
}

const HOUR = 3600;
const DAY = 24 * HOUR;

const instantRail = (name: string, costRank: number, maxUsd = 10_000_000n): RailProperties => ({
  name,
  settlementSeconds: 10,
  instant: true,
  costRank,
  cancellable: false,
  maxUsd,
});

const slowRail = (name: string, settlementSeconds: number, costRank: number): RailProperties => ({
  name,
  settlementSeconds,
  instant: false,
  costRank,
  cancellable: false,
  maxUsd: 10_000_000n,
});

export const RAILS: Readonly<Record<PaymentRail, RailProperties>> = {
  ACH: { ...slowRail('ACH', DAY, 1), cancellable: true },
  ACH_COLOMBIA: slowRail('ACH Colombia', DAY, 2),
  BANK_TRANSFER: slowRail('Local bank transfer', DAY, 4),
  BRE_B: instantRail('Bre-B', 1),
  CIPS: slowRail('CIPS', 4 * HOUR, 6),
  FAST: instantRail('FAST', 2),
  FASTER_PAYMENTS: instantRail('Faster Payments', 1),
  FEDNOW: instantRail('FedNow', 3),
  INSTAPAY: instantRail('InstaPay', 1, 10_000n),
  MOBILE_MONEY: { ...instantRail('Mobile money', 5, 10_000n), settlementSeconds: 60 },
  NEFT: slowRail('NEFT', 2 * HOUR, 2),
  PAYNOW: instantRail('PayNow', 1),
  PESONET: slowRail('PESONet', DAY, 2),
  PIX: instantRail('PIX', 1),
  RTGS: slowRail('RTGS', HOUR, 3),
  RTP: instantRail('RTP', 2),
  SEPA: slowRail('SEPA Credit Transfer', DAY, 1),
  SEPA_INSTANT: instantRail('SEPA Instant', 2),
  SPEI: instantRail('SPEI', 1),
  SWIFT: { ...slowRail('SWIFT', 2 * DAY, 9), maxUsd: 100_000_000n },
  UNIONPAY: { ...instantRail('UnionPay', 4, 10_000n), settlementSeconds: 60 },
  UPI: instantRail('UPI', 1, 10_000n),
  WIRE: { ...slowRail('Fedwire', 4 * HOUR, 8), cancellable: true, maxUsd: 100_000_000n },
};

export const isRail = (text: string): text is PaymentRail => Object.hasOwn(RAILS, text);

/**
 * Rail of a payment without a requested rail: the cheapest instant rail, or else the cheapest one.
 * Rails that are not allowed are excluded. Undefined if none remains.
 */
export function chooseRail(
  rails: readonly PaymentRail[],
  isAllowed: (rail: PaymentRail) => boolean = () => true,
): PaymentRail | undefined {
  const allowedRails = rails.filter(isAllowed);
  const order = (rail: PaymentRail) => (RAILS[rail].instant ? 0 : 100) + RAILS[rail].costRank;
  return allowedRails.sort((a, b) => order(a) - order(b))[0];
}
