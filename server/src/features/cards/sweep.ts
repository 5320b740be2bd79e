// Closes card payments that are still open 30 days after their approval. Such a payment can have
// held funds, or debited and uncleared funds, and blocks the deletion of its customer. A clearing
// after the closure is a late clearing.
import type { Time } from '../../kernel/effects.ts';
import { type JobHandler, jobHandler, type Sweep } from '../../runtime/jobs/jobs.ts';
import { operate, type Runtime } from '../../runtime/operation/operate.ts';
import { loadPayment } from '../payments/payouts/index.ts';
import { readPlatform, systemCaller } from '../tenancy/platform/index.ts';
import { asCardPayment, cardPaymentOf } from './clearing/payment.ts';
import { CARD_AUTHORIZATION_MS, CLOSE_PAYMENT } from './expiry.ts';
import { expireAuthorization } from './notices.ts';

const SWEEP_INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;

const DUE_PAYMENTS_SQL = `select id, platform_id from card_open_payments p where opened_at <= $1
    and not exists (select from sandbox_clocks c where c.id = p.platform_id)
  order by opened_at limit ${BATCH_SIZE}`;

async function expireOne(runtime: Runtime, id: string, platformId: string): Promise<void> {
  const platform = await readPlatform(runtime.db, platformId);
  if (!platform) return;
  await operate(runtime, systemCaller(platform.id, platform.environment), async (ctx) => {
    await expireAuthorization(ctx, await cardPaymentOf(ctx, id));
  });
}

/**
 * Closes the due payments of platforms without their own clock. A concurrent sweep finds them
 * already closed.
 */
export function cardSweep(): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: 'cards.giveUp',
    async run(runtime) {
      const now = runtime.effects.now();
      if (now < nextRunAt) return 0;
      nextRunAt = now + SWEEP_INTERVAL_MS;
      type Due = { id: string; platform_id: string };
      const duePayments = await runtime.db.query<Due>(DUE_PAYMENTS_SQL, [
        new Date(now - CARD_AUTHORIZATION_MS),
      ]);
      await Promise.all(duePayments.map((each) => expireOne(runtime, each.id, each.platform_id)));
      if (duePayments.length === BATCH_SIZE) nextRunAt = now;
      return duePayments.length;
    },
  };
}

/** The job that closes a payment on a platform with its own clock. */
export const cardExpiryJobs = (): JobHandler[] => [
  jobHandler(CLOSE_PAYMENT, {
    run: async (runtime, job) => {
      const { row, caller } = await loadPayment(runtime, job, asCardPayment);
      return {
        caller,
        stage: async (ctx) =>
          void (await expireAuthorization(ctx, await cardPaymentOf(ctx, row.id))),
      };
    },
  }),
];
