// Quotes: creation, execution, expiry, and the funding of payments.

import type { Log } from '../../../runtime/observability/log.ts';
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { ConnectorsOf } from '../payouts/index.ts';
import { authorizationExpiryJobs } from './execution/authorization-expiry.ts';
import { fundingJobs } from './execution/funding.ts';
import { expireAllOnClock, expiryJobs, expirySweep } from './expiry.ts';
import { firmQuoteJobs, firmQuoteStates } from './firm-quotes.ts';
import { quoteOperations } from './operations.ts';
import { paymentPersonalData } from './personal-data.ts';

export { createQuote, executeQuote, getQuoteById, Quote, QuoteRequest } from './contract.ts';
export { checkExecutable, startPayment } from './execution/execute.ts';
export {
  applyFundingStatus,
  fundingReversalTime,
  receiveFunds,
  reverseFunding,
} from './execution/funding.ts';
export { firmQuoteOf } from './firm-quotes.ts';
export { paymentOf, quoteOf, quoteView, signQuote, startQuote } from './quote.ts';
export { type QuoteRow, readQuote } from './store.ts';

const PLATFORM_CONDITION_SQL =
  't.transaction_id in (select id from transactions where platform_id = any($1::text[]))';

/** Operations, jobs and other parts that this feature adds to a server. */
export const quoteFeature = {
  operations: quoteOperations,
  jobs: ({ connectors, log }: { connectors: ConnectorsOf; log: Log }) => [
    ...firmQuoteJobs(connectors, log),
    ...fundingJobs(connectors),
    ...expiryJobs(),
    ...authorizationExpiryJobs(),
  ],
  sweeps: ({ log }: { log: Log }) => [expirySweep(log)],
  onOwnClock: expireAllOnClock,
  states: { firmQuote: firmQuoteStates },
  personalData: paymentPersonalData,
  reset: {
    belongs: { invoice_uses: PLATFORM_CONDITION_SQL, rail_results: PLATFORM_CONDITION_SQL },
  },
} satisfies Feature;
