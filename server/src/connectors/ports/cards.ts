// The port of a card issuer, in both directions. The server orders and changes cards, requests
// funding debits and reads card numbers. The issuer requests authorizations and sends the notices
// of the network. Amounts are in minor units of the card's currency.

import type { Time } from '../../kernel/effects.ts';
import type { Money } from '../../kernel/money.ts';

export interface CardOrder {
  /** ID of the card. A repeated order must be idempotent. */
  id: string;
  platformId: string;
  cardholderId: string;
  /** Null if the ID was generated. */
  platformCardId: string | null;
  currency: string;
  /** Maximum amount of one payment. Null or absent: no limit. */
  maxSpend?: bigint | null;
  orderedAt: Time;
}

/** A card for which a funding account is proposed. */
export interface FundedCard {
  /** Null if the ID was generated. */
  platformCardId: string | null;
  /** False for an existing card with new accounts. */
  isNew: boolean;
}

/** An issued card. Number and security code are not in clear text. */
export interface IssuedCard {
  brand: 'VISA' | 'MASTERCARD';
  last4: string;
  expMonth: number;
  expYear: number;
  issuerRef: string;
  processorRef: string;
  /** The sealed number and code, or the reference of the issuer to them. */
  secret: string;
}

/** `pending` without `checkAfterMs` is not polled again. */
export type IssueProgress =
  | { state: 'issued'; card: IssuedCard }
  | { state: 'pending'; checkAfterMs?: number }
  | { state: 'rejected' };

export interface CardDetails {
  number: string;
  code: string;
  expMonth: number;
  expYear: number;
}

export interface CardMerchant {
  descriptor: string;
  mcc?: string;
  country?: string;
}

/** Kinds of requests: debit, credit, or a check whether the card is valid. */
export const CARD_REQUESTS = [
  'AUTHORIZATION',
  'FINANCIAL_AUTHORIZATION',
  'CREDIT_AUTHORIZATION',
  'FINANCIAL_CREDIT_AUTHORIZATION',
  'CREDIT_AUTHORIZATION_ADVICE',
  'BALANCE_INQUIRY',
] as const;
export type CardRequestKind = (typeof CARD_REQUESTS)[number];

/**
 * A request of the network. The amount is zero for a balance inquiry. An AUTHORIZATION of zero is
 * treated as a balance inquiry. No other kind may have the amount zero.
 */
export interface CardRequest extends Money {
  /** Unique for the message. A repetition has no further effect, and its response is the same. */
  id: string;
  /** The issuer's token of the transaction that the request would open. */
  token: string;
  cardId: string;
  kind: CardRequestKind;
  merchant: CardMerchant;
  /** The provider that sent the request. Absent for the built-in issuer. */
  providerId?: string;
}

/** A notice of the network about an approved payment. */
export type CardNotice = { id: string; token: string } & (
  | { kind: 'CLEARING'; amount: bigint }
  /** The remaining authorization has expired. */
  | { kind: 'AUTHORIZATION_EXPIRY' }
  /**
   * New total of the payment, higher or lower. On a closed payment the notice is recorded without
   * effect. Only clearings, refunds and reversals of refunds change a closed payment.
   */
  | { kind: 'AUTHORIZATION_ADVICE'; amount: bigint }
  /** A part of the authorized amount that is not cleared is released. */
  | { kind: 'AUTHORIZATION_REVERSAL'; amount: bigint }
  | { kind: 'RETURN'; amount: bigint }
  /** The last refund is reversed completely. An amount above zero must equal that of the refund. */
  | { kind: 'RETURN_REVERSAL'; amount?: bigint }
);

export const DECLINE_REASONS = [
  'CARD_NOT_ACTIVE',
  'CARD_PAUSED',
  /** The last day of the expiry month of the card has passed, in UTC. */
  'CARD_EXPIRED',
  'SPEND_LIMIT_EXCEEDED',
  /**
   * No usable funding source, such as an inactive account, an account with a debt, or a wallet that
   * cannot sign.
   */
  'NO_FUNDING_SOURCE',
  'INSUFFICIENT_FUNDS',
  /** The cardholder was deleted, or is no longer approved. */
  'CARDHOLDER_NOT_READY',
  'CURRENCY_NOT_SUPPORTED',
  /** The deadline passed before the decision was committed. */
  'TOO_LATE',
] as const;
export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** `transactionId` is absent if there is no payment. */
export type CardDecision =
  | { approved: true; transactionId?: string }
  | { approved: false; reason: DeclineReason };

/** A funding debit of an account for a payment. Idempotent by `id`. */
export interface CardFundingDebit extends Money {
  id: string;
  cardId: string;
  accountId: string;
  merchant: CardMerchant;
  requestedAt: Time;
}

/** `failed`: the account was not debited. */
export type FundingDebitProgress =
  | { state: 'confirmed' }
  | { state: 'pending'; checkAfterMs: number }
  | { state: 'failed' };

/**
 * Receives the messages of an issuer. A Fault is final if its code is NOT_FOUND,
 * TRANSACTION_NOT_FOUND, CONFLICT or INVALID_INPUT. CONFLICT: the ID belongs to another message, or
 * the token to another payment. INVALID_INPUT: the notice is impossible. After any other error,
 * such as SERVICE_UNAVAILABLE or a lost connection, the same message is sent again.
 */
export interface CardNetworkHandler {
  /**
   * Decides and commits the hold. An approval after `deadline` is reversed before the response,
   * unless the payment is cleared. No funds remain held, except for a pending funding debit until
   * it is complete. If the promise rejects, the network receives no response. A repetition returns
   * the recorded decision. An issuer sends each message to one process only.
   */
  authorize(request: CardRequest, deadline: Time): Promise<CardDecision>;
  /**
   * If the promise rejects, the notice is probably not applied. Repeat the notice unless the error
   * is final.
   */
  applyNotice(notice: CardNotice): Promise<void>;
}

/** A card whose state or limit has changed. */
export interface ChangedCard {
  cardId: string;
  issuerRef: string;
  state: 'PROCESSING' | 'ACTIVE' | 'FROZEN' | 'CLOSED';
  currency: string;
  /** Maximum amount of one payment. Null: no limit. */
  maxSpend: bigint | null;
}

export interface IssuerPort {
  /**
   * Called once at the start with the handler for this environment's network. Without this call no
   * requests arrive.
   */
  connect?(handler: CardNetworkHandler): void;
  issue(order: CardOrder): Promise<IssueProgress>;
  /** Polled at the times of `checkAfterMs`. */
  check(order: CardOrder, now: Time): Promise<IssueProgress>;
  /** Whether the issuer issues such a card. Absent: every card. */
  serves?(card: Pick<CardOrder, 'platformId' | 'currency'>): boolean;
  /** Receives the state and limit of a card after a change. */
  change?(card: ChangedCard): Promise<void>;
  /** Number and security code, for the hosted card page. */
  details(card: { cardId: string; secret: string }): Promise<CardDetails>;
  /** Decline reason of the issuer, before the ledger is read. */
  declineReason?(request: CardRequest): DeclineReason | undefined;
  /** Whether an account of the holder may fund the card. */
  accepts?(accountId: string, card: FundedCard): boolean;
  debitFunding(debit: CardFundingDebit): Promise<FundingDebitProgress>;
  checkFundingDebit(debit: CardFundingDebit, now: Time): Promise<FundingDebitProgress>;
}

/**
 * The issuer of a provider. `standInMax` is the largest amount that it may approve without a
 * response of the server.
 */
export interface ProviderIssuerPort extends Pick<IssuerPort, 'check' | 'details'> {
  issue(order: CardOrder, standInMax: bigint): Promise<IssueProgress>;
  change(card: ChangedCard, standInMax: bigint): Promise<void>;
}
