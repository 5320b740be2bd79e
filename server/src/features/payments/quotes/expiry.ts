// A sweep expires the payments of quotes that were not executed in time. A job retries a failed
// expiry, so that other payments are not delayed. On a platform with its own clock, the job expires
// the payment.

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
const BATCH_SIZE = 500;

interface DueQuote {
  transaction_id: string;
  platform_id: string;
  expires_at: Time;
}

const DUE_QUOTES_SQL = `select q.transaction_id, t.platform_id, q.expires_at
  from quotes q join transactions t on t.id = q.transaction_id
  where q.expires_at >= $1 and (q.expires_at, q.transaction_id) > ($1, $2)
    and q.expires_at <= $3 and t.status = 'PENDING'
  order by q.expires_at, q.transaction_id limit ${BATCH_SIZE}`;

const LATEST_EXPIRY_SQL = 'select max(expires_at) as latest from quotes where expires_at <= $1';

/** Period before the latest expired quote that the first sweep after a start covers. */
const FIRST_SWEEP_MS = 7 * 24 * 3_600_000;

/**
 * The first position is relative to the latest expired quote, so that pending payments are also
 * found after a long outage.
 */
async function readFirstPosition(runtime: Runtime, now: Time): Promise<Time> {
  const [row] = await runtime.db.query<{ latest: Time | null }>(LATEST_EXPIRY_SQL, [new Date(now)]);
  return (row?.latest ?? now) - FIRST_SWEEP_MS;
}

async function readCaller(runtime: Runtime, platformId: string) {
  const platform = await readPlatform(runtime.db, platformId);
  if (!platform) throw new Error(`${platformId} not found`);
  return systemCaller(platform.id, platform.environment);
}

/** Expires a payment that is still pending. */
async function expire(ctx: Ctx, id: string): Promise<void> {
  const payment = await readTransaction(ctx, id);
  if (payment?.type === 'OUTGOING' && payment.status === 'PENDING') expirePayment(ctx, payment);
}

/**
 * Adds an expiry job for a quote of a platform with its own clock. The sweep uses the clock of the
 * server.
 */
export function expireOnClock(
  ctx: Ctx,
  { transaction_id: transactionId, expires_at }: Pick<DueQuote, 'transaction_id' | 'expires_at'>,
): void {
  if (ctx.ownClock) ctx.later(EXPIRE, { transactionId }, expires_at);
}

const PENDING_QUOTES_SQL = `select q.transaction_id, q.expires_at
  from quotes q join transactions t on t.id = q.transaction_id
  where t.platform_id = $1 and t.type = 'OUTGOING' and t.status = 'PENDING'`;

/** Adds expiry jobs for all pending quotes of a platform that changes to its own clock. */
export async function expireAllOnClock(ctx: Ctx): Promise<void> {
  const pendingRows = await ctx.db.query<Omit<DueQuote, 'platform_id'>>(PENDING_QUOTES_SQL, [
    ctx.caller.platformId,
  ]);
  for (const each of pendingRows) expireOnClock(ctx, each);
}

async function expireOne(
  runtime: Runtime,
  { transaction_id: id, platform_id, expires_at }: DueQuote,
) {
  await operate(runtime, await readCaller(runtime, platform_id), async (ctx) => {
    if (!ctx.ownClock || ctx.now >= expires_at) await expire(ctx, id);
  });
}

/** Adds a job for a payment that could not be expired. */
async function retryLater(runtime: Runtime, { transaction_id: id, platform_id }: DueQuote) {
  if (await hasJobFor(runtime.db, EXPIRE, id)) return;
  await operate(runtime, await readCaller(runtime, platform_id), async (ctx) => {
    ctx.later(EXPIRE, { transactionId: id });
  });
}

/** Expires pending payments of expired quotes. A run continues at the position of the previous run. */
export function expirySweep(log: Log): Sweep {
  let position: { at: Time; id: string } | undefined;

  async function expireOrRetry(runtime: Runtime, dueQuote: DueQuote): Promise<void> {
    try {
      await expireOne(runtime, dueQuote);
    } catch (error) {
      log.error({ err: error, transactionId: dueQuote.transaction_id }, 'quote expiry failed');
      await retryLater(runtime, dueQuote);
    }
  }

  return {
    name: EXPIRE.kind,
    async run(runtime) {
      const now = runtime.effects.now();
      position ??= { at: await readFirstPosition(runtime, now), id: '' };
      const values = [new Date(position.at), position.id, new Date(now)];
      const rows = await runtime.db.query<DueQuote>(DUE_QUOTES_SQL, values);
      await Promise.all(rows.map((row) => expireOrRetry(runtime, row)));
      const lastRow = rows.length < BATCH_SIZE ? undefined : rows.at(-1);
      position = lastRow
        ? { at: lastRow.expires_at, id: lastRow.transaction_id }
        : { at: now, id: '' };
      return rows.length;
    },
  };
}

/**
 * The job that expires a payment on a platform with its own clock, or retries after a failed sweep.
 */
export const expiryJobs = (): JobHandler[] => [
  jobHandler(EXPIRE, {
    run: async (runtime, { input }) => {
      const id = input.transactionId;
      const row = await readTransaction(runtime.db, id);
      if (!row) throw new Error(`${id} not found`);
      return {
        caller: await readCaller(runtime, row.platform_id),
        stage: (ctx) => expire(ctx, id),
      };
    },
  }),
];
