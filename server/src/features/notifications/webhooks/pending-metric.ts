// Number of pending deliveries, as a gauge. A read is bounded and shared by scrapes that follow
// each other.
import type { Time } from '../../../kernel/effects.ts';
import type { Metrics } from '../../../runtime/observability/metrics.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';

/** Maximum rows counted; a larger count shows as this. */
const MAX_COUNTED = 10_000;
/** Maximum rows read, including rows of pulled deliveries. */
const MAX_READ = 100_000;
const KEPT_MS = 5_000;

const COUNT = `select count(*)::int4 as pending from (
  select from (select position from webhook_queue limit ${MAX_READ}) queued
  where position is null limit ${MAX_COUNTED}) bounded`;

const OLDEST = `select min(due_at) as due_at from (
  select position, due_at from webhook_queue limit ${MAX_READ}) queued where position is null`;

/** Seconds since the due time of the oldest due delivery, among the deliveries that are read. */
export async function longestOverdueSeconds({
  db,
  effects,
}: Pick<Runtime, 'db' | 'effects'>): Promise<number> {
  const [row] = await db.query<{ due_at: Time | null }>(OLDEST);
  const dueAt = row?.due_at ?? effects.now();
  return Math.max(0, effects.now() - dueAt) / 1_000;
}

/** Watches the queue of deliveries of all processes, test events included. */
export function watchPending(
  metrics: Pick<Metrics, 'watch'>,
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
): void {
  let reading: Promise<number> | undefined;
  let readAt: Time = 0;

  const read = async () => (await db.query<{ pending: number }>(COUNT))[0]?.pending ?? 0;

  function readShared(): Promise<number> {
    const now = effects.now();
    if (reading && now >= readAt && now < readAt + KEPT_MS) return reading;
    const next = read();
    [reading, readAt] = [next, now];
    next.catch(() => {
      if (reading === next) reading = undefined;
    });
    return next;
  }

  const help = `Webhook deliveries that are pending and not pulled; counted up to ${MAX_COUNTED}.`;
  metrics.watch('railhead_deliveries_pending', help, readShared);
}
