// Exchange rates: polled mid rates, and firm quotes, at which a provider exchanges an amount.

import type { Time } from '../../kernel/effects.ts';
import type { Rate } from '../../kernel/money.ts';

export interface RatePort {
  /** Mid rate from minor unit to minor unit, or undefined if there is none. */
  rate(from: string, to: string): Promise<{ rate: Rate; at: Time } | undefined>;
}

export interface FirmQuoteRequest {
  /** ID of the quote of the payment. */
  id: string;
  from: string;
  to: string;
  /** SELL: `amount` of `from` is sold. BUY: `amount` of `to` is bought. */
  side: 'SELL' | 'BUY';
  amount: bigint;
}

/** A rate that a provider holds until `expiresAt`. */
export interface FirmQuote {
  providerId: string;
  reference: string;
  /** From minor unit to minor unit. */
  rate: Rate;
  expiresAt: Time;
}

/** A held quote with the amounts of its payment. */
export interface HeldQuote {
  id: string;
  providerId: string;
  reference: string;
  from: string;
  to: string;
  sold: bigint;
  bought: bigint;
}

export const REDEMPTION_REJECTIONS = ['EXPIRED', 'LIMIT_EXCEEDED', 'OTHER'] as const;
type RedemptionRejection = (typeof REDEMPTION_REJECTIONS)[number];

/** `redeemed` with amounts other than the requested ones is recorded as DIFFERENT. */
export type Redemption =
  | { state: 'pending'; checkAfterMs: number }
  | { state: 'redeemed'; reference: string; sold: bigint; bought: bigint }
  | { state: 'rejected'; reason: RedemptionRejection };

export interface FirmQuotePort {
  /** Requests a quote. Undefined if the provider offers none. */
  request(request: FirmQuoteRequest): Promise<FirmQuote | undefined>;
  /** Exchanges the amounts of a held quote. Idempotent by its ID. */
  redeem(quote: HeldQuote): Promise<Redemption>;
}
