// The expiry of quotes that were not executed in time. A sweep expires their payments; one that fails
// becomes a job, which has attempts of its own, so that it delays no other.

import { defineJob } from '../../../kernel/contract/job.ts';
import type { Time } from '../../../kernel/effects.ts';
import { type JobHandler, jobHandler, type Sweep } from '../../../runtime/jobs/jobs.ts';
import { hasJobFor } from '../../../runtime/jobs/jobs-table.ts';
import type { Log } from '../../../runtime/observability/log.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../runtime/operation/operate.ts';
import { readPlatform, systemCaller } from '../../tenancy/platform/index.ts';
import { expirePayment } from '../lifecycle/index.ts';
import { PaymentInput } from '../refunds/index.ts';
import { readTransaction } from '../transactions/index.ts';

const EXPIRE = defineJob('quotes.expire', PaymentInput);
const AT_ONCE = 500;

interface Due {
  transaction_id: string;
  platform_id: string;
  expires_at: Time;
}

const DUE = `select q.transaction_id, t.platform_id, q.expires_at
  from quotes q join transactions t on t.id = q.transaction_id
  where q.expires_at >= $1 and (q.expires_at, q.transaction_id) > ($1, $2)
    and q.expires_at <= $3 and t.status = 'PENDING'
  order by q.expires_at, q.transaction_id limit ${AT_ONCE}`;

const LATEST = 'select max(expires_at) as latest from quotes where expires_at <= $1';

/** How far before the latest quote that ran out the first look after a start begins. */
const FIRST_LOOK_MS = 7 * 24 * 3_600_000;

/** Where to begin: a server that was down for long still finds what was pending when it stopped. */
async function beginning(runtime: Runtime, now: Time): Promise<Time> {
  const [row] = await runtime.db.query<{ latest: Time | null }>(LATEST, [new Date(now)]);
  return (row?.latest ?? now) - FIRST_LOOK_MS;
}

async function callerFor(runtime: Runtime, platformId: string) {
  const platform = await readPlatform(runtime.db, platformId);
  if (!platform) throw new Error(`${platformId} not found`);
  return systemCaller(platform.id, platform.environment);
}

/** Stages the end of a payment that is still pending. */
async function expire(ctx: Ctx, id: string): Promise<void> {
  const payment = await readTransaction(ctx, id);
  if (payment?.type === 'OUTGOING' && payment.status === 'PENDING') expirePayment(ctx, payment);
}

async function expireOne(runtime: Runtime, { transaction_id: id, platform_id }: Due) {
  await operate(runtime, await callerFor(runtime, platform_id), (ctx) => expire(ctx, id));
}

/** Leaves a payment that failed to expire to a job. */
async function retryLater(runtime: Runtime, { transaction_id: id, platform_id }: Due) {
  if (await hasJobFor(runtime.db, EXPIRE, id)) return;
  await operate(runtime, await callerFor(runtime, platform_id), async (ctx) => {
    ctx.later(EXPIRE, { transactionId: id });
  });
}

/** Moves pending payments of expired quotes on. Remembers how far it came, so each look is short. */
export function expirySweep(log: Log): Sweep {
  let seen: { at: Time; id: string } | undefined;

  async function expireOrRetry(runtime: Runtime, due: Due): Promise<void> {
    try {
      await expireOne(runtime, due);
    } catch (error) {
      log.error({ err: error, transactionId: due.transaction_id }, 'quote expiry failed');
      await retryLater(runtime, due);
    }
  }

  return {
    name: EXPIRE.kind,
    async run(runtime) {
      const now = runtime.effects.now();
      seen ??= { at: await beginning(runtime, now), id: '' };
      const values = [new Date(seen.at), seen.id, new Date(now)];
      const rows = await runtime.db.query<Due>(DUE, values);
      await Promise.all(rows.map((row) => expireOrRetry(runtime, row)));
      const last = rows.length < AT_ONCE ? undefined : rows.at(-1);
      seen = last ? { at: last.expires_at, id: last.transaction_id } : { at: now, id: '' };
      return rows.length;
    },
  };
}

/** The job that expires a payment that the sweep could not. */
export const expiryJobs = (): JobHandler[] => [
  jobHandler(EXPIRE, {
    run: async (runtime, { input }) => {
      const id = input.transactionId;
      const row = await readTransaction(runtime.db, id);
      if (!row) throw new Error(`${id} not found`);
      return {
        caller: await callerFor(runtime, row.platform_id),
        stage: (ctx) => expire(ctx, id),
      };
    },
  }),
];
