// Schedules the closure of card payments that are still open 30 days after their approval. Networks
// drop uncleared authorizations after days or weeks, and some do not report the expiry. A sweep
// (`sweep.ts`) finds such payments by real time. On a platform with a separate clock a job closes
// each payment.
import { defineJob } from '../../kernel/contract/job.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { PaymentInput } from '../payments/refunds/index.ts';
import type { openPayments } from './store.ts';

/** Time from the approval after which an open payment is closed. */
export const CARD_AUTHORIZATION_MS = 30 * 24 * 3_600_000;

export const CLOSE_PAYMENT = defineJob('cards.expire', PaymentInput);

type OpenPayment = Pick<RowOf<typeof openPayments>, 'id' | 'opened_at'>;

/** Stages the closure of an open payment on the clock of its platform. */
export function closeOnClock(ctx: Ctx, { id: transactionId, opened_at }: OpenPayment): void {
  if (ctx.ownClock) ctx.later(CLOSE_PAYMENT, { transactionId }, opened_at + CARD_AUTHORIZATION_MS);
}

const OPEN_PAYMENTS = 'select id, opened_at from card_open_payments where platform_id = $1';

/** Stages the closure of all open payments of a platform that receives a separate clock. */
export async function closeAllOnClock(ctx: Ctx): Promise<void> {
  const openPayments = await ctx.db.query<OpenPayment>(OPEN_PAYMENTS, [ctx.caller.platformId]);
  for (const each of openPayments) closeOnClock(ctx, each);
}
