// Outcomes of sandbox cards, by the last three characters of a text of the platform. The text is
// `platformCardId` for the issue and for new funding sources, and the merchant's descriptor for
// payments. Generated IDs and other values succeed immediately. A timeline lists the states that
// the issuer reports and their times since the request.
import type { DeclineReason, FundingDebitProgress, IssueProgress } from '../../ports/cards.ts';

interface Step<State> {
  afterMs: number;
  state: State;
}

export type CardTimeline<State> = readonly [Step<State>, ...Step<State>[]];

const SECOND = 1_000;

export const ISSUED: CardTimeline<IssueProgress['state']> = [{ afterMs: 0, state: 'issued' }];

/** Issuing of a card, by `platformCardId`. */
export const ISSUE_OUTCOMES: Readonly<Record<string, CardTimeline<IssueProgress['state']>>> = {
  // The card remains PROCESSING.
  '001': [{ afterMs: 0, state: 'pending' }],
  // The card becomes CLOSED, with ISSUER_REJECTED.
  '002': [{ afterMs: 0, state: 'rejected' }],
  // The card becomes ACTIVE after a delay.
  '005': [
    { afterMs: 0, state: 'pending' },
    { afterMs: 30 * SECOND, state: 'issued' },
  ],
};

/** Operation in which accounts are rejected with FUNDING_SOURCE_INELIGIBLE, by `platformCardId`. */
export const FUNDING_REJECTIONS: Readonly<Record<string, 'create' | 'update'>> = {
  '003': 'create',
  '004': 'update',
};

/** Requests that the issuer declines, by descriptor. */
export const DESCRIPTOR_DECLINES: Readonly<Record<string, DeclineReason>> = {
  '002': 'INSUFFICIENT_FUNDS',
  '003': 'CARD_PAUSED',
};

export const CONFIRMED: CardTimeline<FundingDebitProgress['state']> = [
  { afterMs: 0, state: 'confirmed' },
];

/** Funding debits of a payment, by descriptor. */
export const FUNDING_DEBIT_OUTCOMES: Readonly<
  Record<string, CardTimeline<FundingDebitProgress['state']>>
> = {
  '005': [
    { afterMs: 0, state: 'pending' },
    { afterMs: 30 * SECOND, state: 'confirmed' },
  ],
  // The payment becomes an EXCEPTION for an operator to resolve.
  '006': [{ afterMs: 0, state: 'failed' }],
};
