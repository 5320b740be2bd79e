// Money that arrives by itself: it is credited, held on the account while somebody has to look at it, or
// sent back where there is no account that can take it. A bank may take a deposit back days later; what is
// spent by then the owner of the account owes us.

import type { OnChain } from '../../../connectors/ports/index.ts';
import { isId } from '../../../kernel/id.ts';
import type { Money } from '../../../kernel/money.ts';
import { systemAccount } from '../../../ledger/chart.ts';
import { hasTransfersIn } from '../../../runtime/committer/ledger-reads.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type InternalAccountRow,
  readInternalAccount,
} from '../../balances/internal-accounts/index.ts';
import { debitWithShortfall } from '../../balances/shortfalls/index.ts';
import type { CustomerRow } from '../../customers/records/index.ts';
import { emitPayment, incomingPayment, postAndNotify } from '../presentation/index.ts';
import {
  changeTransaction,
  type FailureReason,
  type IncomingRow,
  insertTransaction,
  receivedOf,
} from '../transactions/index.ts';
import { keep, release, takeOff } from './books.ts';
import { complete, creditAndRepay, fail, hold, openDepositReturn, repayFrom } from './ends.ts';
import { REVIEW_EXPIRY } from './kinds.ts';

const HELD_AT_MOST_MS = 30 * 24 * 3_600_000;

/** Why money that came in must not be spent yet. */
type PendingReason = NonNullable<IncomingRow['pending_reason']>;
export const PENDING_REASONS = [
  'COUNTERPARTY_DECLARATION_REQUIRED',
  'WALLET_VERIFICATION_REQUIRED',
  'COUNTERPARTY_INFORMATION_REQUIRED',
  'COMPLIANCE_REVIEW',
] as const satisfies readonly PendingReason[];

/** What is known of whoever paid: fields of a `REALTIME_FUNDING` source, as many as the bank told. */
type Origin = Record<string, unknown>;

interface Arrived {
  /** Null when it is the platform's own. */
  owner: CustomerRow | null;
  /** Minor units of the currency of the account that it is for. */
  readonly amount: bigint;
  origin: Origin;
  /** The movement on a chain that brought it. */
  chain?: OnChain | undefined;
  quoteId?: string | undefined;
  /** Chosen by the caller where something else must name it. */
  transactionId?: string | undefined;
}

export interface Deposit extends Arrived {
  account: InternalAccountRow;
  /** Why it must not be spent yet. */
  hold?: PendingReason | undefined;
}

interface Bounce extends Arrived, Money {
  /** The account it was meant for, inside or outside, or a party of the payment it came too late for. */
  destination: Record<string, unknown>;
  destinationAccount: string;
}

/** What can become of money that arrives for an account. */
type Fate = 'take' | 'hold' | 'bounce';

/**
 * A frozen account keeps what arrives out of its owner's reach; one that is not open, or whose owner was
 * deleted, can take nothing.
 */
export function fateAt(
  account: Pick<InternalAccountRow, 'status'> | undefined,
  owner: Pick<CustomerRow, 'deleted_at'> | null,
): Fate {
  if (!account || (owner && owner.deleted_at !== null)) return 'bounce';
  if (account.status === 'ACTIVE') return 'take';
  return account.status === 'FROZEN' ? 'hold' : 'bounce';
}

type Shape = Pick<IncomingRow, 'status' | 'funds'> & Partial<IncomingRow>;

function insert(ctx: Ctx, of: Bounce, shape: Shape): IncomingRow {
  const { owner, currency } = of;
  const payer = owner ? { customerId: owner.id } : {};
  return insertTransaction(ctx, {
    id: of.transactionId ?? ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: owner?.id ?? null,
    platform_customer_id: owner?.platform_customer_id ?? ctx.caller.platformId,
    type: 'INCOMING',
    direction: 'CREDIT',
    source: { sourceType: 'REALTIME_FUNDING', currency, ...payer, ...of.origin },
    destination: of.destination,
    destination_account: of.destinationAccount,
    received_amount: of.amount,
    received_currency: currency,
    quote_id: of.quoteId,
    source_chain: of.chain,
    created_at: ctx.now,
    updated_at: ctx.now,
    ...shape,
  });
}

const placed = ({ account, ...arrived }: Deposit): Bounce => {
  const { id: accountId, currency } = account;
  const destination = { destinationType: 'ACCOUNT', accountId, currency };
  return { ...arrived, currency, destination, destinationAccount: accountId };
};

/** Credits money that has arrived; or holds it there; or, where the account is not open, sends it back. */
export async function receiveDeposit(ctx: Ctx, given: Deposit): Promise<IncomingRow> {
  const { account, owner } = given;
  const fate = fateAt(account, owner);
  if (fate === 'bounce') return rejectDeposit(ctx, placed(given));
  const reason = given.hold ?? (fate === 'hold' ? 'COMPLIANCE_REVIEW' : undefined);
  if (reason) return holdDeposit(ctx, given, reason);
  const settled = { status: 'COMPLETED', funds: 'SETTLED', settled_at: ctx.now } as const;
  const row = insert(ctx, placed(given), settled);
  emitPayment(ctx, incomingPayment.COMPLETED, row);
  await postAndNotify(ctx, () => creditAndRepay(ctx, row, account));
  return row;
}

async function holdDeposit(ctx: Ctx, given: Deposit, reason: PendingReason): Promise<IncomingRow> {
  const held = { status: 'PENDING', funds: 'HELD', pending_reason: reason } as const;
  const row = insert(ctx, placed(given), held);
  emitPayment(ctx, incomingPayment.PENDING, row);
  await hold(ctx, row, given.account);
  waitForRelease(ctx, row);
  return row;
}

/** A held deposit goes back by itself one day. */
export function waitForRelease(ctx: Ctx, row: IncomingRow): void {
  ctx.later(REVIEW_EXPIRY, { transactionId: row.id }, ctx.now + HELD_AT_MOST_MS);
}

/** Money of a payment under way has arrived at an account whose owner must not reach it. */
export async function holdArrived(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<IncomingRow> {
  if (row.pending_reason !== null) return row;
  if (!isHeld(row)) await hold(ctx, row, account);
  waitForRelease(ctx, row);
  return changeTransaction(ctx, row, {
    funds: 'HELD',
    pending_reason: 'COMPLIANCE_REVIEW',
    // It is here, so there is nothing to call back any more.
    cancel_requested_at: null,
  });
}

/** Money that came for nothing that can take it: it is told as failed, and goes back. */
export function rejectDeposit(ctx: Ctx, given: Bounce): IncomingRow {
  const failed = { status: 'FAILED', funds: 'HELD', failure_reason: 'COLLECTION_FAILED' } as const;
  const row = insert(ctx, given, failed);
  keep(ctx, row);
  emitPayment(ctx, incomingPayment.FAILED, row);
  return openDepositReturn(ctx, row);
}

async function accountOf(ctx: Ctx, row: IncomingRow): Promise<InternalAccountRow> {
  const account = await readInternalAccount(ctx, row.destination_account);
  if (!account) throw new Error(`${row.id} has no destination account`);
  return account;
}

/** Whether it lies on its account, out of reach. */
export const isHeld = ({ funds, status, destination_account: to }: IncomingRow): boolean =>
  funds === 'HELD' &&
  (status === 'PENDING' || status === 'PROCESSING') &&
  isId(to, 'InternalAccount');

/** Nothing speaks against it any more. */
export async function releaseDeposit(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (!isHeld(row)) return row;
  const account = await accountOf(ctx, row);
  const done = complete(ctx, row);
  await postAndNotify(ctx, async () => {
    release(ctx, row, account.id);
    await repayFrom(ctx, row, account);
  });
  return done;
}

/** It may not stay: off the account, and back to whoever paid it in. */
export async function returnHeldDeposit(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (!isHeld(row)) return row;
  const failed = fail(ctx, row, reason, 'HELD');
  await postAndNotify(ctx, () => {
    takeOff(ctx, row, row.destination_account);
    keep(ctx, row);
  });
  return openDepositReturn(ctx, failed);
}

/**
 * Whether this transaction brought money in by itself. The receiver's side of a payment made inside did
 * not, though it tells the same source: what came in is the payment's, in another currency perhaps.
 */
export const hasDepositPosting = (ctx: Ctx, row: IncomingRow): Promise<boolean> =>
  hasTransfersIn(ctx.db, row.id, 'deposit');

/**
 * The bank has taken it back, so there is nothing to send. What the account lacks by then its owner owes.
 */
export async function reverseDeposit(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (isHeld(row)) {
    const failed = fail(ctx, row, reason, 'RETURNED');
    await postAndNotify(ctx, () => takeOff(ctx, row, row.destination_account));
    return failed;
  }
  if (row.status !== 'COMPLETED' || row.funds !== 'SETTLED') return row;
  if (!(await hasDepositPosting(ctx, row))) return row;
  const account = await accountOf(ctx, row);
  const money = receivedOf(row);
  const failed = fail(ctx, row, reason, 'RETURNED');
  await postAndNotify(ctx, () =>
    debitWithShortfall(ctx, account, {
      transactionId: row.id,
      step: 'return',
      ...money,
      creditTo: systemAccount(ctx.caller.environment, 'rail_in_transit', money.currency),
    }),
  );
  return failed;
}
