// What happens to cards of the sandbox, as data. The last three characters of a text that the platform chose
// pick a row: of `platformCardId` when a card is issued or gets other accounts, of the merchant's descriptor
// when the card is used. Generated ids pick nothing. Everything not listed goes well at once. A row of a
// timeline is what the pretended issuer says, and how long after it was asked.
import type { DeclineReason, FundingDebitProgress, IssueProgress } from '../../ports/cards.ts';

interface Step<State> {
  afterMs: number;
  state: State;
}

export type CardTimeline<State> = readonly [Step<State>, ...Step<State>[]];

const SECOND = 1_000;

export const ISSUED: CardTimeline<IssueProgress['state']> = [{ afterMs: 0, state: 'issued' }];

/** A card that is ordered, by `platformCardId`. */
export const ISSUE_OUTCOMES: Readonly<Record<string, CardTimeline<IssueProgress['state']>>> = {
  // It stays PROCESSING.
  '001': [{ afterMs: 0, state: 'pending' }],
  // It ends CLOSED, with ISSUER_REJECTED.
  '002': [{ afterMs: 0, state: 'rejected' }],
  // It is ACTIVE after a while.
  '005': [
    { afterMs: 0, state: 'pending' },
    { afterMs: 30 * SECOND, state: 'issued' },
  ],
};

/** Cards whose accounts are rejected with FUNDING_SOURCE_INELIGIBLE, by `platformCardId`, and when. */
export const FUNDING_REJECTIONS: Readonly<Record<string, 'create' | 'update'>> = {
  '003': 'create',
  '004': 'update',
};

/** Requests that the issuer declines by itself, by the descriptor. */
export const DESCRIPTOR_DECLINES: Readonly<Record<string, DeclineReason>> = {
  '002': 'INSUFFICIENT_FUNDS',
  '003': 'CARD_PAUSED',
};

export const CONFIRMED: CardTimeline<FundingDebitProgress['state']> = [
  { afterMs: 0, state: 'confirmed' },
];

/** Money taken for a payment, now and whenever more is taken for it, by the descriptor. */
export const FUNDING_DEBIT_OUTCOMES: Readonly<
  Record<string, CardTimeline<FundingDebitProgress['state']>>
> = {
  '005': [
    { afterMs: 0, state: 'pending' },
    { afterMs: 30 * SECOND, state: 'confirmed' },
  ],
  // The payment ends EXCEPTION: a person decides.
  '006': [{ afterMs: 0, state: 'failed' }],
};
