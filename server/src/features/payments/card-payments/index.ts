// The facts and the lifecycle of a card payment.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { cardPaymentStates } from './states.ts';

export {
  type CardColumns,
  type CardDetails,
  type CardFactColumns,
  type CardFacts,
  cardAccountOf,
  columnsOf,
  type FundingDebit,
  type FundingDebitStatus,
  factsOf,
  fundingDebitAmountOf,
  hasPendingFundingDebit,
  newFacts,
  refundedOf,
  settledOf,
  sumOf,
} from './facts.ts';
export { CARD_STATUSES, type CardEvent, type CardStatus } from './states.ts';

/** Parts that this feature adds to a server. */
export const cardPaymentFeature = {
  states: { cardPayment: cardPaymentStates },
} satisfies Feature;
