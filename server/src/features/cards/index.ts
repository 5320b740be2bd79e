// What other features, the operator and whoever puts the server together may use of cards.

export { decide } from './authorization/decide.ts';
export { issuerDesk } from './authorization/desk.ts';
export { takeNotice } from './authorization/messages.ts';
export { lossOf, paidOf, unpaidOf } from './clearing/arithmetic.ts';
export { resolveException } from './clearing/exceptions.ts';
export { cardFundingOf } from './clearing/funding.ts';
export {
  cardPaymentOf,
  netOf,
  PULL,
  unitsOf,
} from './clearing/payment.ts';
export { endPullByHand, pullJobs } from './clearing/pulls.ts';
export { cardWebhooks } from './contract.ts';
export { presentCard } from './issuing/card.ts';
export { cardJobs } from './issuing/issue-jobs.ts';
export { closeCard } from './issuing/life.ts';
export { cardStates, delegatedKeyStates } from './issuing/states.ts';
export { cardOperations } from './operations.ts';
export { type CardParts, cardOf } from './parts.ts';
export { cardPersonalData } from './personal-data.ts';
export { presentReveal } from './reveal/reveal.ts';
export { revealPage } from './reveal/reveal-page.ts';
export {
  type CardMessageRow,
  type CardRevealRow,
  type CardRow,
  cardMessages,
  cardReveals,
  cards,
} from './store.ts';
export { cardSweep } from './sweep.ts';
