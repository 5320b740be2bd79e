// Counts the calls of this process to providers per minute, and adds the counts to rows that all processes
// share. If the process is killed, the counts of at most a few seconds are lost.
import type { CallOutcome } from '../../../connectors/ports/providers/port.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';

export interface CallRecorder {
  observe(providerId: string, call: CallOutcome): void;
  /**
   * Adds the counts to the rows. If the write fails, the counts are retained for the next flush.
   */
  flush(): Promise<void>;
}

interface Counts {
  providerId: string;
  minute: Time;
  calls: number;
  errors: number;
  totalMs: number;
  maxMs: number;
  within100: number;
  within500: number;
  within2000: number;
}

const MINUTE_MS = 60_000;

const ADD = `insert into provider_calls (id, provider_id, minute, calls, errors, total_ms, max_ms,
    within_100, within_500, within_2000)
  select * from unnest($1::text[], $2::text[], $3::timestamptz[], $4::int[], $5::int[],
    $6::bigint[], $7::int[], $8::int[], $9::int[], $10::int[])
    as x(id, provider_id, minute, calls, errors, total_ms, max_ms,
      within_100, within_500, within_2000)
  order by id
  on conflict (id) do update set
    calls = provider_calls.calls + excluded.calls,
    errors = provider_calls.errors + excluded.errors,
    total_ms = provider_calls.total_ms + excluded.total_ms,
    max_ms = greatest(provider_calls.max_ms, excluded.max_ms),
    within_100 = provider_calls.within_100 + excluded.within_100,
    within_500 = provider_calls.within_500 + excluded.within_500,
    within_2000 = provider_calls.within_2000 + excluded.within_2000
  returning id`;

const newCounts = (providerId: string, minute: Time): Counts => ({
  ...{ providerId, minute, calls: 0, errors: 0, totalMs: 0, maxMs: 0 },
  ...{ within100: 0, within500: 0, within2000: 0 },
});

function add(counts: Counts, { isSuccess, durationMs }: CallOutcome): void {
  const ms = Math.round(durationMs);
  counts.calls++;
  if (!isSuccess) counts.errors++;
  counts.totalMs += ms;
  counts.maxMs = Math.max(counts.maxMs, ms);
  if (ms <= 100) counts.within100++;
  if (ms <= 500) counts.within500++;
  if (ms <= 2_000) counts.within2000++;
}

const columnsOf = (entries: readonly (readonly [string, Counts])[]) => {
  const column = <V>(value: (counts: Counts) => V) => entries.map(([, counts]) => value(counts));
  return [
    entries.map(([id]) => id),
    column(({ providerId }) => providerId),
    column(({ minute }) => new Date(minute)),
    ...[column(({ calls }) => calls), column(({ errors }) => errors)],
    ...[column(({ totalMs }) => totalMs), column(({ maxMs }) => maxMs)],
    ...[column(({ within100 }) => within100), column(({ within500 }) => within500)],
    column(({ within2000 }) => within2000),
  ];
};

function merge(target: Counts, from: Counts): void {
  target.calls += from.calls;
  target.errors += from.errors;
  target.totalMs += from.totalMs;
  target.maxMs = Math.max(target.maxMs, from.maxMs);
  target.within100 += from.within100;
  target.within500 += from.within500;
  target.within2000 += from.within2000;
}

export function createCallRecorder(
  { now }: Pick<Effects, 'now'>,
  db: Pick<Database, 'query'>,
): CallRecorder {
  let unwrittenCounts = new Map<string, Counts>();
  let lastWrite: Promise<void> = Promise.resolve();

  function countsOf(providerId: string, minute: Time): Counts {
    const id = `${providerId}/${minute}`;
    const counts = unwrittenCounts.get(id) ?? newCounts(providerId, minute);
    unwrittenCounts.set(id, counts);
    return counts;
  }

  async function write(): Promise<void> {
    if (unwrittenCounts.size === 0) return;
    const writtenCounts = unwrittenCounts;
    unwrittenCounts = new Map();
    try {
      await db.query(ADD, columnsOf([...writtenCounts]));
    } catch (error) {
      for (const counts of writtenCounts.values())
        merge(countsOf(counts.providerId, counts.minute), counts);
      throw error;
    }
  }

  return {
    observe(providerId, call) {
      const time = now();
      add(countsOf(providerId, time - (time % MINUTE_MS)), call);
    },
    flush() {
      lastWrite = lastWrite.catch(() => undefined).then(write);
      return lastWrite;
    },
  };
}
