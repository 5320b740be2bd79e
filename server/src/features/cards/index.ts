// Public interface of cards for other features, the operator and `compose.ts`.
import type { Feature } from '../../runtime/operation/feature.ts';
import { fundingDebitJobs } from './clearing/funding-debits.ts';
import { cardWebhooks } from './contract.ts';
import type { CardDeps } from './deps.ts';
import { closeAllOnClock } from './expiry.ts';
import { cardJobs } from './issuing/issue-jobs.ts';
import { cardStates, delegatedKeyStates } from './issuing/states.ts';
import { cardOperations } from './operations.ts';
import { cardPersonalData } from './personal-data.ts';
import { revealPage } from './reveal/reveal-page.ts';
import { cardExpiryJobs, cardSweep } from './sweep.ts';

export { decide } from './authorization/decide.ts';
export { applyNotice, listCardMessages } from './authorization/messages.ts';
export { cardNetworkHandler } from './authorization/network-handler.ts';
export {
  listCardExceptions,
  resolveCardException,
} from './clearing/exceptions.ts';
export { endFundingDebit, listFundingDebits } from './clearing/funding-debits.ts';
export { cardPaymentOf, netOf, postedAmountOf } from './clearing/payment.ts';
export { Card } from './contract.ts';
export { type CardDeps, cardOf } from './deps.ts';
export {
  type CardDetails,
  closeCardByOperator,
  readCardDetails,
  searchCards,
} from './issuing/by-operator.ts';
export { listCardReveals } from './reveal/reveal.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const cardFeature = {
  operations: cardOperations,
  jobs: (deps: CardDeps) => [...cardJobs(deps), ...fundingDebitJobs(deps), ...cardExpiryJobs()],
  sweeps: () => [cardSweep()],
  onOwnClock: closeAllOnClock,
  webhooks: cardWebhooks,
  personalData: cardPersonalData,
  page: revealPage,
  states: { card: cardStates, delegatedKey: delegatedKeyStates },
} satisfies Feature;
