// Payments with cards whose network has its money while we have not got ours: an operator says how that ends.
// Either the account pays after all, into debt if need be, or we do. No amount is typed: it follows from what
// is known of the payment, and nothing more is expected of it afterwards. Payments with money in suspense,
// which came back for a closed account, are listed with them: they wait for a person too.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import {
  cardAccountOf,
  factsOf,
  fundingDebitAmountOf,
  hasPendingFundingDebit,
  settledOf,
} from '../../payments/card-payments/index.ts';
import {
  cardPaymentsInSuspense,
  inSuspense,
  recordRailResult,
} from '../../payments/suspense/index.ts';
import { type CardPaymentRow, transactionAt } from '../../payments/transactions/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { eventAfter, lossOf, type Resolution, resolved, unpaidOf } from './arithmetic.ts';
import {
  asCardPayment,
  changePayment,
  moveSteps,
  netOf,
  onCardPayment,
  takerOf,
  whileOpen,
} from './payment.ts';

/** Ends an exception; throws CONFLICT where there is none that could be ended. */
export async function resolveException(
  ctx: Ctx,
  row: CardPaymentRow,
  { outcome, reason }: { outcome: Resolution; reason?: string | undefined },
): Promise<CardPaymentRow> {
  if (row.status !== 'EXCEPTION') {
    throw new Fault('CONFLICT', `Nothing of it is to be decided: it is ${row.status}.`);
  }
  const facts = factsOf(row);
  if (hasPendingFundingDebit(facts)) {
    const reason = 'Money for it is still being taken. Wait for word about that, or end the pull.';
    throw new Fault('CONFLICT', reason);
  }
  const reachable = (await takerOf(ctx, row)) !== undefined;
  if (outcome === 'collect' && !reachable) {
    throw new Fault('CONFLICT', 'Its account is closed: nothing can be collected. Write it off.');
  }
  const { card, steps } = resolved(facts, { outcome, reachable });
  await moveSteps(ctx, row, steps);
  recordRailResult(ctx, row, {
    kind: 'card',
    // It may come to that again, and the row has changed by then.
    name: `${outcome}.${row.version}`,
    state: outcome === 'collect' ? 'settled' : 'failed',
    reason,
  });
  const settled = await whileOpen(ctx, row, async () => changePayment(ctx, row, card, 'resolve'));
  // All of it came back meanwhile.
  const isBack = eventAfter('SETTLED', card, false) === 'refund';
  return isBack ? changePayment(ctx, settled, {}, 'refund') : settled;
}

interface ResolveInput {
  transactionId: string;
  /** Whether the account pays what is missing, into debt if need be, or the service does. */
  outcome: Resolution;
  reason?: string | undefined;
}

/** Ends the exception of any platform's payment. Throws TRANSACTION_NOT_FOUND and CONFLICT. */
export async function resolveCardException(
  runtime: Runtime,
  { transactionId, outcome, reason }: ResolveInput,
) {
  const row = await onCardPayment(runtime, transactionId, (ctx, found) =>
    resolveException(ctx, found, { outcome, reason }),
  );
  const lostAmount = Number(lossOf(factsOf(row)));
  return { transactionId, status: row.status, lostAmount, currency: row.card.currency };
}

interface Waiting {
  id: string;
  since: Time;
}

const EXCEPTIONS = `select id, since from card_exceptions
  where $1::text is null or platform_id = $1 order by since, id limit $2`;

interface ListInput {
  platformId?: string | undefined;
  limit: number;
}

const olderFirst = (a: Waiting, b: Waiting): number => a.since - b.since || (a.id < b.id ? -1 : 1);

/** The oldest of both lists, each payment once: the oldest of each are enough. */
async function waitingOf({ db }: Runtime, { platformId, limit }: ListInput): Promise<Waiting[]> {
  const [exceptions, suspended] = await Promise.all([
    db.query<Waiting>(EXCEPTIONS, [platformId ?? null, limit]),
    cardPaymentsInSuspense(db, { platformId, limit }),
  ]);
  const oldest = new Map<string, Waiting>();
  for (const each of [...exceptions, ...suspended].sort(olderFirst)) {
    if (!oldest.has(each.id)) oldest.set(each.id, each);
  }
  return [...oldest.values()].slice(0, limit);
}

async function viewOf({ db }: Runtime, { id, since }: Waiting, suspense: bigint) {
  const row = asCardPayment(await transactionAt(db, id));
  const { environment } = await callerOf(db, row.platform_id);
  const { card, sent_currency: currency } = row;
  const facts = factsOf(row);
  return {
    transactionId: id,
    platformId: row.platform_id,
    environment,
    since: iso(since),
    status: row.status,
    cardId: card.cardId,
    accountId: cardAccountOf(row),
    merchant: card.merchant.descriptor,
    settledAmount: Number(settledOf(facts)),
    netAmount: Number(netOf(facts)),
    /** What the network has had, did not return, and is not funded yet. */
    missingAmount: Number(row.status === 'EXCEPTION' ? unpaidOf(facts) : 0n),
    /** What is still held on the account. */
    heldAmount: Number(fundingDebitAmountOf(facts, 'STUCK')),
    currency: card.currency,
    suspense: { amount: Number(suspense), currency },
  };
}

export type CardException = Awaited<ReturnType<typeof viewOf>>;

/** Card payments that wait for a decision, of one platform or of all, oldest first. */
export async function listCardExceptions(
  runtime: Runtime,
  input: ListInput,
): Promise<CardException[]> {
  const waiting = await waitingOf(runtime, input);
  const ids = waiting.map((each) => each.id);
  const nets = await inSuspense(runtime.db, ids);
  return Promise.all(waiting.map((each) => viewOf(runtime, each, nets.get(each.id) ?? 0n)));
}
