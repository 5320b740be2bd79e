// Closes card payments that receive no further network messages. Networks drop uncleared
// authorizations after days or weeks, and not all of them report it. A sweep finds such payments by
// real time; on a platform with its own clock a job closes each.
import { defineJob } from '../../kernel/contract/job.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { PaymentInput } from '../payments/refunds/index.ts';
import type { openPayments } from './store.ts';

/** Waiting time for a message of the network. */
export const CARD_AUTHORIZATION_MS = 30 * 24 * 3_600_000;

export const GIVE_UP = defineJob('cards.expire', PaymentInput);

type OpenPayment = Pick<RowOf<typeof openPayments>, 'id' | 'opened_at'>;

/** Stages the closure of an open payment on the clock of its platform. */
export function closeOnClock(ctx: Ctx, { id: transactionId, opened_at }: OpenPayment): void {
  if (ctx.ownClock) ctx.later(GIVE_UP, { transactionId }, opened_at + CARD_AUTHORIZATION_MS);
}

const OPEN = 'select id, opened_at from card_open_payments where platform_id = $1';

/** Stages the closure of all open payments of a platform that gets a clock of its own. */
export async function closeAllOnClock(ctx: Ctx): Promise<void> {
  const openPayments = await ctx.db.query<OpenPayment>(OPEN, [ctx.caller.platformId]);
  for (const each of openPayments) closeOnClock(ctx, each);
}
