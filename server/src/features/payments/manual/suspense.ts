// Money in suspense, which can go neither on nor back until a person decides. The list shows whose it is and
// where it would go; the decisions are carried out in the sandbox too, as a refund that failed there waits
// just as long. No decision has an amount: the ledger knows it.

import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import { iso, type Time } from '../../../kernel/effects.ts';
import { isId } from '../../../kernel/id.ts';
import type { Mode } from '../../../kernel/mode.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import {
  refundOf,
  returnSuspenseFunds,
  settleSuspenseShortfall,
  suspenseCurrency,
  suspenseReturnAccount,
} from '../payouts/index.ts';
import { inSuspense } from '../suspense/index.ts';
import { type TransactionRow, transactionAt } from '../transactions/index.ts';
import { onAnyTransaction } from './notice.ts';

const WAITING = `select id, platform_id, since from suspense_items
  where ($1::text is null or platform_id = $1) and (since, id) > ($2::timestamptz, $3)
  order by since, id limit $4`;

interface WaitingRow {
  id: string;
  platform_id: string;
  since: Time;
}

interface Waiting extends WaitingRow {
  environment: Mode;
}

interface ListInput {
  platformId?: string | undefined;
  environment?: Mode | undefined;
  limit: number;
}

/** The oldest of one environment or of both. The rows do not name it, so those of the other are skipped. */
async function waitingOf(
  { db }: Runtime,
  { platformId, environment: wanted, limit }: ListInput,
): Promise<Waiting[]> {
  const found: Waiting[] = [];
  let after: Pick<WaitingRow, 'id' | 'since'> = { id: '', since: 0 };
  for (;;) {
    const place = [new Date(after.since), after.id];
    const rows = await db.query<WaitingRow>(WAITING, [platformId ?? null, ...place, limit]);
    const waiting = await Promise.all(
      rows.map(async (row) => {
        const { environment } = await callerOf(db, row.platform_id);
        return { ...row, environment };
      }),
    );
    found.push(...waiting.filter((each) => wanted === undefined || each.environment === wanted));
    const last = rows.at(-1);
    if (!last || rows.length < limit || found.length >= limit) return found.slice(0, limit);
    after = last;
  }
}

/** Where the money would go: onto a balance, or outside, with what is known of who gets it there. */
async function wayOf(runtime: Runtime, row: TransactionRow) {
  const account = await suspenseReturnAccount(runtime.db, row);
  if (account) return { to: account.id, outside: null };
  // It was paid from a balance that is closed by now: nothing says where its owner is.
  const inside = isId(row.source_account ?? '', 'InternalAccount') && row.type === 'OUTGOING';
  if (inside || row.type === 'CARD') {
    return { to: 'outside', outside: null };
  }
  const its = await refundOf(runtime, row);
  const { beneficiary: _, ...outside } = its.account;
  return { to: 'outside', outside: { beneficiaryName: its.beneficiaryName, ...outside } };
}

async function view(runtime: Runtime, waiting: Waiting, row: TransactionRow, net: bigint) {
  const missing = net < 0n;
  const currency = suspenseCurrency(row);
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    environment: waiting.environment,
    since: iso(waiting.since),
    type: row.type,
    status: row.status,
    failureReason: row.failure_reason,
    amount: Number(net),
    currency,
    readable: formatAmount({ currency, amount: net }),
    // What is missing is to come from somewhere.
    ...(missing ? { to: null, outside: null } : await wayOf(runtime, row)),
  };
}

/** What waits for a decision, and what is missing, oldest first. */
export async function listSuspense(runtime: Runtime, input: ListInput) {
  const { db } = runtime;
  const waiting = await waitingOf(runtime, input);
  const ids = waiting.map((each) => each.id);
  const nets = await inSuspense(db, ids);
  return Promise.all(
    waiting.map(async (each) =>
      view(runtime, each, await transactionAt(db, each.id), nets.get(each.id) ?? 0n),
    ),
  );
}

interface SuspenseInput {
  transactionId: string;
  /** The bank's own, of what was sent or came in by hand. */
  reference?: string | undefined;
  reason?: string | undefined;
}

/** Does what was decided; the transaction after it. Throws TRANSACTION_NOT_FOUND and CONFLICT. */
const decide =
  (work: typeof returnSuspenseFunds | typeof settleSuspenseShortfall) =>
  async (runtime: Runtime, { transactionId: id, reference, reason }: SuspenseInput) => {
    const said = { reference, reason };
    await onAnyTransaction(runtime, id, async (ctx, row) => void (await work(ctx, row, said)));
    const row = await transactionAt(runtime.db, id);
    const refund = row.refund?.status ?? null;
    return { transactionId: id, status: row.status, refund, funds: row.funds };
  };

/** Gives suspense back: onto its balance, or outside, where it was sent by hand. */
export const returnSuspense = decide(returnSuspenseFunds);
/** Money has come in for what was missing. */
export const settleShortfall = decide(settleSuspenseShortfall);
