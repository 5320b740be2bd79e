// Resolution of card payments that the network has settled and the account has not paid. The
// operator decides whether the account pays, with a shortfall if necessary, or whether the amount
// is written off. The amount is calculated from the payment, which is closed afterwards. Payments
// with funds in suspense, because the account is closed, are in the same list.

import { iso, type Time } from '../../../kernel/effects.ts';
import { Fault } from '../../../kernel/fault.ts';
import { type PageInput, pageOfRows, startOf } from '../../../runtime/db/paging.ts';
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
  findCardPaymentsInSuspense,
  readSuspenseAmounts,
  recordRailResult,
} from '../../payments/suspense/index.ts';
import { type CardPaymentRow, loadTransaction } from '../../payments/transactions/index.ts';
import { callerOf } from '../../tenancy/platform/index.ts';
import { applyResolution, eventAfter, lossOf, type Resolution, unpaidOf } from './arithmetic.ts';
import {
  asCardPayment,
  changeOpenPayment,
  changePayment,
  creditableAccountOf,
  netOf,
  onCardPayment,
  postSteps,
} from './payment.ts';

/**
 * Resolves an exception. Throws CONFLICT if the payment is not an exception or has a pending
 * funding debit, and for a collection from a closed account.
 */
export async function resolveException(
  ctx: Ctx,
  row: CardPaymentRow,
  { outcome, reason }: { outcome: Resolution; reason?: string | undefined },
): Promise<CardPaymentRow> {
  if (row.status !== 'EXCEPTION') {
    throw new Fault(
      'CONFLICT',
      `The payment is ${row.status}. Only a payment in EXCEPTION can be resolved.`,
    );
  }
  const facts = factsOf(row);
  if (hasPendingFundingDebit(facts)) {
    const reason = 'A funding debit is pending. Wait for its result, or record the result first.';
    throw new Fault('CONFLICT', reason);
  }
  const isDebitable = (await creditableAccountOf(ctx, row)) !== undefined;
  if (outcome === 'collect' && !isDebitable) {
    throw new Fault(
      'CONFLICT',
      'The account is closed and cannot be debited. Write off the amount.',
    );
  }
  const { card, steps } = applyResolution(facts, { outcome, isDebitable });
  await postSteps(ctx, row, steps);
  recordRailResult(ctx, row, {
    kind: 'card',
    // The version is unique for each resolution, because the payment can become an exception again.
    name: `${outcome}.${row.version}`,
    state: outcome === 'collect' ? 'settled' : 'failed',
    reason,
  });
  const settledPayment = await changeOpenPayment(ctx, row, async () =>
    changePayment(ctx, row, card, 'resolve'),
  );
  // The payment is REFUNDED if all cleared amounts have been refunded.
  const isRefunded = eventAfter('SETTLED', card, false) === 'refund';
  return isRefunded ? changePayment(ctx, settledPayment, {}, 'refund') : settledPayment;
}

interface ResolveInput {
  transactionId: string;
  /**
   * Whether the account pays the unpaid amount, with a shortfall if necessary, or the operator.
   */
  outcome: Resolution;
  reason?: string | undefined;
}

/**
 * Resolves the exception of a payment of any platform. Throws TRANSACTION_NOT_FOUND or CONFLICT.
 */
export async function resolveCardException(
  runtime: Runtime,
  { transactionId, outcome, reason }: ResolveInput,
) {
  const row = await onCardPayment(runtime, transactionId, (ctx, payment) =>
    resolveException(ctx, payment, { outcome, reason }),
  );
  const writtenOffAmount = Number(lossOf(factsOf(row)));
  return { transactionId, status: row.status, writtenOffAmount, currency: row.card.currency };
}

interface UnresolvedPayment {
  id: string;
  since: Time;
}

const EXCEPTIONS = `select id, since from card_exceptions
  where ($1::text is null or platform_id = $1) and (since, id) > ($3::timestamptz, $4)
  order by since, id limit $2`;

interface ListInput extends PageInput {
  platformId?: string | undefined;
}

const olderFirst = (a: UnresolvedPayment, b: UnresolvedPayment): number =>
  a.since - b.since || (a.id < b.id ? -1 : 1);

/** A page of two merged lists, oldest first, in which each payment appears once. */
async function unresolvedPaymentsOf({ db }: Runtime, { platformId, cursor, limit }: ListInput) {
  const after = startOf(cursor);
  const values = [platformId ?? null, limit + 1, new Date(after.created_at), after.id];
  const [exceptions, suspensePayments] = await Promise.all([
    db.query<UnresolvedPayment>(EXCEPTIONS, values),
    findCardPaymentsInSuspense(db, { platformId, after, limit: limit + 1 }),
  ]);
  const oldestById = new Map<string, UnresolvedPayment>();
  for (const each of [...exceptions, ...suspensePayments].sort(olderFirst)) {
    if (!oldestById.has(each.id)) oldestById.set(each.id, each);
  }
  return pageOfRows([...oldestById.values()], limit, ({ since, id }) => ({
    created_at: since,
    id,
  }));
}

async function viewOf({ db }: Runtime, { id, since }: UnresolvedPayment, suspense: bigint) {
  const row = asCardPayment(await loadTransaction(db, id));
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
    /** Settled amount that is not funded. Zero unless the payment is an EXCEPTION. */
    missingAmount: Number(row.status === 'EXCEPTION' ? unpaidOf(facts) : 0n),
    /** Held on the account for failed debits. */
    heldAmount: Number(fundingDebitAmountOf(facts, 'STUCK')),
    currency: card.currency,
    suspense: { amount: Number(suspense), currency },
  };
}

/** A page of card payments that need a decision, of a platform or of all, oldest first. */
export async function listCardExceptions(runtime: Runtime, input: ListInput) {
  const { data: unresolvedPayments, ...rest } = await unresolvedPaymentsOf(runtime, input);
  const ids = unresolvedPayments.map((each) => each.id);
  const suspenseAmounts = await readSuspenseAmounts(runtime.db, ids);
  const data = await Promise.all(
    unresolvedPayments.map((each) => viewOf(runtime, each, suspenseAmounts.get(each.id) ?? 0n)),
  );
  return { data, ...rest };
}
