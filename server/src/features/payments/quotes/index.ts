// What other features may use of quotes: the parties and pricing of a payment, its start, and the door for
// money that arrives.

import type { Log } from '../../../runtime/observability/log.ts';
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { ConnectorsOf } from '../payouts/index.ts';
import { fundingJobs } from './execution/funding.ts';
import { lapseJobs } from './execution/lapse.ts';
import { expiryJobs, expirySweep } from './expiry.ts';
import { quoteOperations } from './operations.ts';
import { paymentPersonalData } from './personal-data.ts';

export { createQuote, executeQuote, getQuoteById, Quote, QuoteRequest } from './contract.ts';
export { checkExecutable, startPayment } from './execution/execute.ts';
export {
  applyFundingStatus,
  type Notice,
  reverseFunding,
  takeDeposit,
} from './execution/funding.ts';
export { paymentOf, quoteOf, quoteView, signQuote, startQuote } from './quote.ts';
export { type QuoteRow, readQuote } from './store.ts';

/** What this feature adds to a server. */
export const quoteFeature = {
  operations: quoteOperations,
  jobs: ({ connectors }: { connectors: ConnectorsOf }) => [
    ...fundingJobs(connectors),
    ...expiryJobs(),
    ...lapseJobs(),
  ],
  sweeps: ({ log }: { log: Log }) => [expirySweep(log)],
  personalData: paymentPersonalData,
} satisfies Feature;
