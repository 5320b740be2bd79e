// The port of a card issuer, in both directions. The server orders and changes cards, requests
// funding debits and shows numbers; the issuer requests authorizations and sends the notices of the
// network. Amounts are in minor units of the card's currency.

import type { Time } from '../../kernel/effects.ts';
import type { Money } from '../../kernel/money.ts';

/** A card that is to be issued. */
export interface CardOrder {
  /** Id of the card; a second order of it must be taken as the first. */
  id: string;
  platformId: string;
  cardholderId: string;
  /** Null where the platform gave none, and one was made up for it. */
  platformCardId: string | null;
  currency: string;
  orderedAt: Time;
}

/** The card that an account is to pay for. */
export interface FundedCard {
  /** Null where the platform gave none. */
  platformCardId: string | null;
  /** False for a card that exists and gets other accounts. */
  isNew: boolean;
}

/** What a card that was issued shows of itself, and its number and code as the issuer sealed them. */
export interface IssuedCard {
  brand: 'VISA' | 'MASTERCARD';
  last4: string;
  expMonth: number;
  expYear: number;
  issuerRef: string;
  processorRef: string;
  /** Means something to the issuer alone. */
  secret: string;
}

/** `pending` without a time to ask again stays so until word comes by itself. */
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

/** What a card is asked for: money, money back, or nothing but whether it is good. */
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
 * What the network wants to know. The amount is zero for a balance inquiry; an AUTHORIZATION of
 * zero is taken for one, and nothing else may be zero.
 */
export interface CardRequest extends Money {
  /** Unique for the message; asked twice it has one effect, and the same answer. */
  id: string;
  /** The issuer's name for the transaction that it would open. */
  token: string;
  cardId: string;
  kind: CardRequestKind;
  merchant: CardMerchant;
}

/** A notice of the network about an approved payment. */
export type CardNotice = { id: string; token: string } & (
  | { kind: 'CLEARING'; amount: bigint }
  /** What is not cleared by now never will be. */
  | { kind: 'AUTHORIZATION_EXPIRY' }
  /**
   * The payment is for so much in all, more or less than before. Where nothing more is expected of
   * it, it is written down and changes nothing: only a clearing takes more then.
   */
  | { kind: 'AUTHORIZATION_ADVICE'; amount: bigint }
  | { kind: 'RETURN'; amount: bigint }
  /** The last return is taken back, be it of a part or of the rest. */
  | { kind: 'RETURN_REVERSAL' }
);

export const DECLINE_REASONS = [
  /** The card is not active yet, or no more. */
  'CARD_NOT_ACTIVE',
  'CARD_PAUSED',
  'SPEND_LIMIT_EXCEEDED',
  /** Nothing may pay: an account that is shut, or a wallet without a key that may sign. */
  'NO_FUNDING_SOURCE',
  'INSUFFICIENT_FUNDS',
  /** The cardholder is gone, or no longer approved. */
  'CARDHOLDER_NOT_READY',
  'CURRENCY_NOT_SUPPORTED',
  /** The decision was not in the books in time. */
  'TOO_LATE',
] as const;
export type DeclineReason = (typeof DECLINE_REASONS)[number];

/** `transactionId` is absent where nothing is to be paid. */
export type CardDecision =
  | { approved: true; transactionId?: string }
  | { approved: false; reason: DeclineReason };

/** What is taken from an account for a payment. The same `id` is the same pull. */
export interface CardFundingDebit extends Money {
  id: string;
  cardId: string;
  accountId: string;
  merchant: CardMerchant;
  requestedAt: Time;
}

/** `failed`: the money was certainly not taken. */
export type FundingDebitProgress =
  | { state: 'confirmed' }
  | { state: 'pending'; checkAfterMs: number }
  | { state: 'failed' };

/**
 * Receives the messages of an issuer. A Fault with the code NOT_FOUND, TRANSACTION_NOT_FOUND,
 * CONFLICT (the id belongs to another message, or the token to another payment) or INVALID_INPUT
 * (an impossible notice) is final. After any other error, such as SERVICE_UNAVAILABLE or a lost
 * connection, the same message is sent again.
 */
export interface CardNetworkHandler {
  /**
   * Decides and commits the hold. A decision after `answerBy` is undone before it is answered:
   * nothing stays on hold, except for a pending debit until it has ended. If it rejects the network
   * gets no answer, and a repetition returns what is recorded. An issuer sends one message to one
   * process.
   */
  authorize(request: CardRequest, answerBy: Time): Promise<CardDecision>;
  /**
   * If it rejects, the notice was not applied as far as is known; repeat it unless the error is
   * final.
   */
  applyNotice(notice: CardNotice): Promise<void>;
}

export interface IssuerPort {
  /**
   * Called once at the start with the handler for this environment's network. Without it no
   * requests arrive.
   */
  connect?(handler: CardNetworkHandler): void;
  issue(order: CardOrder): Promise<IssueProgress>;
  /** Asked at the times that `checkAfterMs` named. */
  check(order: CardOrder, now: Time): Promise<IssueProgress>;
  /** Receives the state of a card that was frozen, unfrozen or closed. Optional. */
  change?(card: { cardId: string; issuerRef: string; state: string }): Promise<void>;
  /** Number and code, for the one page that shows them. */
  details(card: { cardId: string; secret: string }): Promise<CardDetails>;
  /** Decline reason of the issuer, before the books are read. */
  declineReason?(request: CardRequest): DeclineReason | undefined;
  /** Whether the card may be paid from an account of its holder. */
  accepts?(accountId: string, card: FundedCard): boolean;
  debitFunding(pull: CardFundingDebit): Promise<FundingDebitProgress>;
  checkFundingDebit(pull: CardFundingDebit, now: Time): Promise<FundingDebitProgress>;
}
