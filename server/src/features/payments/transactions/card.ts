// A payment with a card as it lies in its transaction's row: what was authorised, each piece that was cleared
// or came back, each taking from the account that pays, as texts of smallest units of the card's currency.
// Everything else about it is summed from these, so nothing can disagree. Pure.
import type { CardMerchant } from '../../../connectors/ports/cards.ts';

/** Money taken from the account that pays. FAILED: it could not be taken, and nothing of it is set aside. */
export interface PullFact {
  amount: string;
  /** STUCK: set aside and not taken, because whoever takes it could not; a person decides. */
  status: 'PENDING' | 'CONFIRMED' | 'STUCK' | 'FAILED';
}

export interface CardFacts {
  cardId: string;
  /** The issuer's name for it. */
  token: string;
  merchant: CardMerchant;
  currency: string;
  authorized: string;
  /** Nothing more will be cleared. */
  closed: boolean;
  settlements: string[];
  returns: string[];
  pulls: PullFact[];
  /** Given back to the account of what was taken, beside returns. */
  back: string;
  /** What was paid to the network and is taken from nobody. */
  lost: string;
  /** Where a late approval was undone: how many clearings with it, which are no longer in `settlements`. */
  undone?: number;
  /** How many returns were taken back again, and are no longer in `returns`. */
  reversed?: number;
  /** What of the returns is ours, because the account had not paid it; nothing unless said. */
  recouped?: string;
  lastEventAt: string;
}

export const sumOf = (amounts: readonly string[]): bigint =>
  amounts.reduce((sum, each) => sum + BigInt(each), 0n);

export const settledOf = ({ settlements }: CardFacts): bigint => sumOf(settlements);
export const refundedOf = ({ returns }: CardFacts): bigint => sumOf(returns);

/** What was pulled with one of these outcomes. */
export const pulledOf = ({ pulls }: CardFacts, ...statuses: PullFact['status'][]): bigint =>
  sumOf(pulls.filter((each) => statuses.includes(each.status)).map((each) => each.amount));

export const isPulling = ({ pulls }: CardFacts): boolean =>
  pulls.some((each) => each.status === 'PENDING');
