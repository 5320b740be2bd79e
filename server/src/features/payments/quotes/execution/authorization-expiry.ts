// Fails a payment that was not authorized before its challenge expired. Proof and expiry both change the
// row of the challenge, so exactly one of the two has an effect.
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
import { AUTHORIZATION_EXPIRY } from './sca.ts';

async function expire(ctx: Ctx, quote: QuoteRow, challengeId: string): Promise<void> {
  const payment = await paymentOf(ctx, quote);
  const challenge = await expireChallenge(ctx, challengeId);
  if (challenge.state === 'WAITING') {
    // With clock drift the job can run early.
    ctx.later(AUTHORIZATION_EXPIRY, { quoteId: quote.id, challengeId }, challenge.until);
    return;
  }
  if (challenge.state === 'EXPIRED') {
    await failUnauthorized(ctx, payment);
    return;
  }
  // The payment was authorized shortly before the quote expired, and the expiry sweep has skipped the quote.
  if (payment.status === 'PENDING' && ctx.now >= quote.expires_at) expirePayment(ctx, payment);
}

async function run(
  runtime: Runtime,
  { input }: JobOf<typeof AUTHORIZATION_EXPIRY>,
): Promise<Result> {
  const { quoteId, challengeId } = input;
  const quote = await runtime.db.read(quotes, quoteId);
  const platform = quote && (await readPlatform(runtime.db, quote.platform_id));
  if (!platform) throw new Error(`${quoteId} not found`);
  const caller = systemCaller(platform.id, platform.environment);
  return { caller, stage: (ctx) => expire(ctx, quote, challengeId) };
}

export const authorizationExpiryJobs = (): JobHandler[] => [
  jobHandler(AUTHORIZATION_EXPIRY, { run }),
];
