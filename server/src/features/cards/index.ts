// What other features, the operator and whoever puts the server together may use of cards.
export { lossOf, paidOf, unpaidOf } from './arithmetic.ts';
export { presentCard } from './card.ts';
export { cardWebhooks } from './contract.ts';
export { decide } from './decide.ts';
export { delegatedKeyPersonal } from './delegated-keys.ts';
export { issuerDesk } from './desk.ts';
export { resolveException } from './exceptions.ts';
export { cardFundingOf } from './funding.ts';
export { cardJobs, closeOneCard } from './issue-jobs.ts';
export { closeCard } from './life.ts';
export { takeNotice } from './messages.ts';
export { cardOperations } from './operations.ts';
export { type CardParts, cardOf } from './parts.ts';
export {
  asCardPayment,
  type CardPaymentRow,
  cardPaymentOf,
  netOf,
  PULL,
  unitsOf,
} from './payment.ts';
export { endPullByHand, pullJobs } from './pulls.ts';
export { presentReveal } from './reveal.ts';
export { revealPage } from './reveal-page.ts';
export { cardStates, delegatedKeyStates } from './states.ts';
export {
  type CardMessageRow,
  type CardRevealRow,
  type CardRow,
  cardMessages,
  cardReveals,
  cards,
  type DelegatedKeyRow,
} from './store.ts';
export { cardSweep } from './sweep.ts';
