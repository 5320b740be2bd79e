// The row of the latest verification of the ledger, which is also the claim of the next
// verification.
import type { Time } from '../../kernel/effects.ts';
import type { Database } from '../../runtime/db/database.ts';

/** Delay of the first verification, so that it does not slow down the start. */
const FIRST_DELAY_MS = 600_000;
/** A verification that has not recorded its result after this time is repeated. */
const LEASE_MS = 3_600_000;

const OPEN_CHECK = `insert into ledger_checks (id, due_at) values ('ledger', $1) on conflict do nothing`;

const CLAIM = `update ledger_checks set due_at = $2 where id = 'ledger' and due_at <= $1
  returning 1`;

/** Claims a due verification for this process. False if none is due. */
export async function claimCheck({ query }: Pick<Database, 'query'>, now: Time): Promise<boolean> {
  await query(OPEN_CHECK, [new Date(now + FIRST_DELAY_MS)]);
  return (await query(CLAIM, [new Date(now), new Date(now + LEASE_MS)])).length > 0;
}

const RECORD = `insert into ledger_checks (id, due_at, checked_at, balanced, ms)
  values ('ledger', $1, $2, $3, $4)
  on conflict (id) do update set due_at = case when $5 then $1 else ledger_checks.due_at end,
    checked_at = $2, balanced = $3, ms = $4`;

interface CheckResult {
  checkedAt: Time;
  balanced: boolean;
  ms: number;
  /** Due time of the next verification. Unchanged if absent. */
  dueAt?: Time;
}

/** Replaces the stored result. */
export async function recordCheck(
  { query }: Pick<Database, 'query'>,
  { checkedAt, balanced, ms, dueAt }: CheckResult,
): Promise<void> {
  const scheduledAt = new Date(dueAt ?? checkedAt + FIRST_DELAY_MS);
  const isScheduled = dueAt !== undefined;
  await query(RECORD, [scheduledAt, new Date(checkedAt), balanced, Math.round(ms), isScheduled]);
}

const LATEST_CHECK =
  'select checked_at, balanced, ms from ledger_checks where checked_at is not null';

export interface LatestCheck {
  checked_at: Time;
  balanced: boolean;
  ms: number;
}

/** The latest verification, or undefined before the first verification. */
export const latestCheck = async ({
  query,
}: Pick<Database, 'query'>): Promise<LatestCheck | undefined> =>
  (await query<LatestCheck>(LATEST_CHECK))[0];
