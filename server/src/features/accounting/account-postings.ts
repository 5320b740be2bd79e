// Postings of one ledger account, newest first, with the balance after each. Postings have no index
// by account, because every payment would write to it. A page reads windows of time, which grow
// until they contain enough rows. Balances are calculated backwards from the current balance, which
// the first window reads in the same snapshot.
import { iso, type Time } from '../../kernel/effects.ts';
import { invalidField } from '../../kernel/fault.ts';
import type { Phase } from '../../ledger/transfer.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { ledgerAccountById } from './ledger-accounts.ts';

/** First window: longer than the time between a decision and its commit. */
const FIRST_WINDOW_MS = 300_000;
const MIN_WINDOW_MS = 1;
const GROWTH_FACTOR = 8;
/**
 * Maximum rows of all accounts in one window. A window with more rows is shortened, except the
 * first window and the shortest.
 */
const MAX_SCANNED_ROWS = 100_000;
/** Maximum duration of a page, apart from its last window. */
const PAGE_MS = 150;
/** Earlier than every posting. */
const EARLIEST_TIME = Date.UTC(2000, 0, 1);
/** Later than every posting. */
const LATEST_TIME = Date.UTC(3000, 0, 1);
/**
 * Postings can be this much older than their account, because the order of commits can differ from
 * the order of their times.
 */
const DISORDER_MS = 86_400_000;

interface Position {
  at: Time;
  transactionId: string;
  step: string;
  /** Balance and holds after the next older posting. */
  balance: bigint;
  held: bigint;
}

interface TransferRow {
  transaction_id: string;
  step: string;
  phase: Phase;
  debit: string;
  credit: string;
  amount: bigint;
  created_at: Time;
}

interface WindowRow extends TransferRow {
  scanned: number;
  balance: bigint;
  held: bigint;
}

/** The statement of a window, exported to test its plan. */
export const WINDOW = `with scanned_rows as materialized (
    select transaction_id, step, phase, debit, credit, amount, created_at from ledger_transfers
    where created_at > $2 and created_at <= $3 limit $4::bigint
  ), matching as (
    select * from scanned_rows where (debit = $1 or credit = $1)
      and (created_at, transaction_id, step) < ($3, $5::text, $6::text)
    order by created_at desc, transaction_id desc, step desc limit $7::int
  )
  select a.balance, a.held, (select count(*)::int4 from scanned_rows) as scanned, matching.*
  from ledger_accounts a left join matching on true where a.id = $1
  order by matching.created_at desc, matching.transaction_id desc, matching.step desc`;

/** Higher than every transaction ID and step. */
const HIGHEST_KEY = '~';

interface Window {
  accountId: string;
  after: Time;
  until: Position;
  maxScanned: number;
  limit: number;
}

const readWindow = ({ db }: Runtime, { accountId, after, until, maxScanned, limit }: Window) =>
  db.query<WindowRow>(WINDOW, [
    accountId,
    new Date(after),
    new Date(until.at),
    maxScanned,
    until.transactionId,
    until.step,
    limit,
  ]);

const CURSOR_FORM = /^(\d{1,15}) (-?\d{1,19}) (-?\d{1,19}) (\S{1,200}) (.{0,200})$/;

const cursorOf = ({ at, balance, held, transactionId, step }: Position): string =>
  Buffer.from(`${at} ${balance} ${held} ${transactionId} ${step}`).toString('base64url');

function positionOf(cursor: string): Position {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, createdAt, balance, held, transactionId, step] = CURSOR_FORM.exec(text) ?? [];
  const isComplete = balance !== undefined && held !== undefined && transactionId !== undefined;
  if (!isComplete || step === undefined || Number(createdAt) > LATEST_TIME) {
    throw invalidField('cursor', 'is not a cursor of this list');
  }
  return {
    ...{ at: Number(createdAt), transactionId, step },
    balance: BigInt(balance),
    held: BigInt(held),
  };
}

/** Changes of balance and holds of an account by a transfer. */
function effectOf({ phase, debit, amount }: TransferRow, accountId: string) {
  const isDebit = debit === accountId;
  const isPosted = phase === 'posted' || phase === 'post';
  const hold = phase === 'pending' ? amount : phase === 'posted' ? 0n : -amount;
  return {
    balance: isPosted ? (isDebit ? -amount : amount) : 0n,
    held: isDebit ? hold : 0n,
  };
}

/** Balances before a transfer, calculated from the balances after it. */
function positionBefore(position: Position, row: TransferRow, accountId: string): Position {
  const effect = effectOf(row, accountId);
  return {
    at: row.created_at,
    transactionId: row.transaction_id,
    step: row.step,
    balance: position.balance - effect.balance,
    held: position.held - effect.held,
  };
}

function present(row: TransferRow, accountId: string, after: Position) {
  const isDebit = row.debit === accountId;
  return {
    transactionId: row.transaction_id,
    step: row.step,
    phase: row.phase,
    direction: isDebit ? ('DEBIT' as const) : ('CREDIT' as const),
    amount: Number(row.amount),
    counterAccountId: isDebit ? row.credit : row.debit,
    balanceAfter: Number(after.balance),
    heldAfter: Number(after.held),
    createdAt: iso(row.created_at),
  };
}

interface PostingQuery {
  accountId: string;
  limit: number;
  cursor?: string | undefined;
}

/** The length of the next window, from the number of rows in the previous window. */
function nextWindowMs(windowMs: number, scannedRows: number): number {
  if (scannedRows > MAX_SCANNED_ROWS)
    return Math.max(MIN_WINDOW_MS, Math.floor(windowMs / GROWTH_FACTOR));
  return scannedRows > MAX_SCANNED_ROWS / GROWTH_FACTOR ? windowMs : windowMs * GROWTH_FACTOR;
}

/** Reads windows until the page is full, PAGE_MS has passed, or the oldest posting is reached. */
async function collect(
  runtime: Runtime,
  { accountId, limit, cursor }: PostingQuery,
  oldestTime: Time,
) {
  const startedAt = performance.now();
  const postings: ReturnType<typeof present>[] = [];
  let position = cursor === undefined ? undefined : positionOf(cursor);
  let windowMs = FIRST_WINDOW_MS;
  for (;;) {
    const isFirst = position === undefined;
    const until = position ?? {
      ...{ at: LATEST_TIME, transactionId: HIGHEST_KEY, step: HIGHEST_KEY, balance: 0n, held: 0n },
    };
    // The first window extends to the current time. Only test clocks have later times.
    const windowStart = Math.min(until.at, runtime.effects.now()) - windowMs;
    const isShortest = windowMs === MIN_WINDOW_MS || isFirst;
    const rows = await readWindow(runtime, {
      ...{ accountId, after: windowStart, until, limit: limit + 1 - postings.length },
      maxScanned: isShortest ? Number.MAX_SAFE_INTEGER : MAX_SCANNED_ROWS + 1,
    });
    const [firstRow] = rows;
    const scannedRows = firstRow?.scanned ?? 0;
    if (scannedRows > MAX_SCANNED_ROWS && !isShortest) {
      windowMs = nextWindowMs(windowMs, scannedRows);
      continue;
    }
    position = isFirst
      ? { ...until, balance: firstRow?.balance ?? 0n, held: firstRow?.held ?? 0n }
      : until;
    for (const row of rows) {
      if (row.step === null) continue;
      if (postings.length === limit) return { postings, position };
      postings.push(present(row, accountId, position));
      position = positionBefore(position, row, accountId);
    }
    if (windowStart <= oldestTime) return { postings, position: undefined };
    position = { ...position, at: windowStart, transactionId: HIGHEST_KEY, step: HIGHEST_KEY };
    if (performance.now() - startedAt > PAGE_MS) return { postings, position };
    windowMs = nextWindowMs(windowMs, scannedRows);
  }
}

/** A page of the postings of a ledger account, newest first. Throws ACCOUNT_NOT_FOUND. */
export async function listLedgerAccountPostings(runtime: Runtime, query: PostingQuery) {
  const { id, currency, platform_id, balance, held, created_at } = await ledgerAccountById(
    runtime,
    query.accountId,
  );
  const oldestTime = platform_id === null ? EARLIEST_TIME : created_at - DISORDER_MS;
  const { postings, position } = await collect(runtime, query, oldestTime);
  return {
    accountId: id,
    ...(platform_id === null ? {} : { platformId: platform_id }),
    currency,
    balance: Number(balance),
    held: Number(held),
    data: postings,
    hasMore: position !== undefined,
    ...(position ? { nextCursor: cursorOf(position) } : {}),
  };
}
