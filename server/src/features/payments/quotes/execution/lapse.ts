// The end of a payment that nobody authorised, at the last moment of its challenge. It is decided on the row
// of the challenge, as a proof is, so that of the two exactly one counts.
import {
  type JobHandler,
  type JobOf,
  jobHandler,
  type Result,
} from '../../../../runtime/jobs/jobs.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import type { Runtime } from '../../../../runtime/operation/operate.ts';
import { expireChallenge } from '../../../sca/authentication/index.ts';
import { readPlatform, systemCaller } from '../../../tenancy/platform/index.ts';
import { expirePayment, failUnauthorized } from '../../lifecycle/index.ts';
import { paymentOf } from '../quote.ts';
import type { QuoteRow } from '../store.ts';
import { quotes } from '../store.ts';
import { LAPSE } from './sca.ts';

async function lapse(ctx: Ctx, quote: QuoteRow, challengeId: string): Promise<void> {
  const payment = await paymentOf(ctx, quote);
  const challenge = await expireChallenge(ctx, challengeId);
  if (challenge.state === 'WAITING') {
    // A clock that goes slow ran it too soon: the customer has its time.
    ctx.later(LAPSE, { quoteId: quote.id, challengeId }, challenge.until);
    return;
  }
  if (challenge.state === 'EXPIRED') {
    await failUnauthorized(ctx, payment);
    return;
  }
  // Authorised at the very end of its quote, when the sweep had looked already.
  if (payment.status === 'PENDING' && ctx.now >= quote.expires_at) expirePayment(ctx, payment);
}

async function runLapse(runtime: Runtime, { input }: JobOf<typeof LAPSE>): Promise<Result> {
  const { quoteId, challengeId } = input;
  const quote = await runtime.db.read(quotes, quoteId);
  const platform = quote && (await readPlatform(runtime.db, quote.platform_id));
  if (!platform) throw new Error(`${quoteId} not found`);
  const caller = systemCaller(platform.id, platform.environment);
  return { caller, stage: (ctx) => lapse(ctx, quote, challengeId) };
}

/** The job that ends what was not authorised in time. */
export const lapseJobs = (): JobHandler[] => [jobHandler(LAPSE, { run: runLapse })];
