// Deposits: credited, held for review, or returned if no account can receive them. A bank can reverse a
// deposit days later. The part that has been spent is a shortfall of the account.

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
import {
  complete,
  creditAndRepay,
  fail,
  hold,
  openDepositReturn,
  repayFrom,
} from './final-steps.ts';
import { REVIEW_EXPIRY } from './kinds.ts';
import { postHeld, postToInbound, release } from './postings.ts';

const REVIEW_PERIOD_MS = 30 * 24 * 3_600_000;

/** Reason for which received funds are held. */
type PendingReason = NonNullable<IncomingRow['pending_reason']>;
export const PENDING_REASONS = [
  'COUNTERPARTY_DECLARATION_REQUIRED',
  'WALLET_VERIFICATION_REQUIRED',
  'COUNTERPARTY_INFORMATION_REQUIRED',
  'COMPLIANCE_REVIEW',
] as const satisfies readonly PendingReason[];

/** Information about the payer from the bank: fields of a `REALTIME_FUNDING` source. */
type Origin = Record<string, unknown>;

interface IncomingFunds {
  /** Null for the platform. */
  owner: CustomerRow | null;
  /** Minor units of the currency of the account. */
  readonly amount: bigint;
  origin: Origin;
  chain?: OnChain | undefined;
  quoteId?: string | undefined;
  /** Set by a caller that needs the ID in advance. */
  transactionId?: string | undefined;
}

export interface Deposit extends IncomingFunds {
  account: InternalAccountRow;
  /** Holds the deposit for this reason. */
  hold?: PendingReason | undefined;
}

interface RejectedDeposit extends IncomingFunds, Money {
  /** The intended account, or the destination of the payment that no longer awaits the funds. */
  destination: Record<string, unknown>;
  destinationAccount: string;
}

/** Posting of funds for an account. */
type Disposition = 'credit' | 'hold' | 'reject';

/**
 * Funds for a frozen account are held. Funds for an account in any other inactive status, or of a
 * deleted owner, are rejected.
 */
export function dispositionAt(
  account: Pick<InternalAccountRow, 'status'> | undefined,
  owner: Pick<CustomerRow, 'deleted_at'> | null,
): Disposition {
  if (!account || (owner && owner.deleted_at !== null)) return 'reject';
  if (account.status === 'ACTIVE') return 'credit';
  return account.status === 'FROZEN' ? 'hold' : 'reject';
}

type StatusColumns = Pick<IncomingRow, 'status' | 'funds'> & Partial<IncomingRow>;

function insert(ctx: Ctx, deposit: RejectedDeposit, statusColumns: StatusColumns): IncomingRow {
  const { owner, currency } = deposit;
  const payer = owner ? { customerId: owner.id } : {};
  return insertTransaction(ctx, {
    id: deposit.transactionId ?? ctx.id('Transaction'),
    platform_id: ctx.caller.platformId,
    customer_id: owner?.id ?? null,
    platform_customer_id: owner?.platform_customer_id ?? ctx.caller.platformId,
    type: 'INCOMING',
    direction: 'CREDIT',
    source: { sourceType: 'REALTIME_FUNDING', currency, ...payer, ...deposit.origin },
    destination: deposit.destination,
    destination_account: deposit.destinationAccount,
    received_amount: deposit.amount,
    received_currency: currency,
    quote_id: deposit.quoteId,
    source_chain: deposit.chain,
    created_at: ctx.now,
    updated_at: ctx.now,
    ...statusColumns,
  });
}

const withDestination = ({ account, ...funds }: Deposit): RejectedDeposit => {
  const { id: accountId, currency } = account;
  const destination = { destinationType: 'ACCOUNT', accountId, currency };
  return { ...funds, currency, destination, destinationAccount: accountId };
};

/** Credits a deposit, holds it, or returns it if the account cannot receive it. */
export async function receiveDeposit(ctx: Ctx, deposit: Deposit): Promise<IncomingRow> {
  const { account, owner } = deposit;
  const disposition = dispositionAt(account, owner);
  if (disposition === 'reject') return rejectDeposit(ctx, withDestination(deposit));
  const reason = deposit.hold ?? (disposition === 'hold' ? 'COMPLIANCE_REVIEW' : undefined);
  if (reason) return holdDeposit(ctx, deposit, reason);
  const settledColumns = { status: 'COMPLETED', funds: 'SETTLED', settled_at: ctx.now } as const;
  const row = insert(ctx, withDestination(deposit), settledColumns);
  emitPayment(ctx, incomingPayment.COMPLETED, row);
  await postAndNotify(ctx, () => creditAndRepay(ctx, row, account));
  return row;
}

async function holdDeposit(
  ctx: Ctx,
  deposit: Deposit,
  reason: PendingReason,
): Promise<IncomingRow> {
  const change = { status: 'PENDING', funds: 'HELD', pending_reason: reason } as const;
  const row = insert(ctx, withDestination(deposit), change);
  emitPayment(ctx, incomingPayment.PENDING, row);
  await hold(ctx, row, deposit.account);
  scheduleReviewExpiry(ctx, row);
  return row;
}

/** A held deposit is returned at the end of the review period, unless its account is frozen. */
export function scheduleReviewExpiry(ctx: Ctx, row: IncomingRow): void {
  ctx.later(REVIEW_EXPIRY, { transactionId: row.id }, ctx.now + REVIEW_PERIOD_MS);
}

/** Holds the settled funds of a payment whose account is frozen. */
export async function holdArrivedFunds(
  ctx: Ctx,
  row: IncomingRow,
  account: InternalAccountRow,
): Promise<IncomingRow> {
  if (row.pending_reason !== null) return row;
  if (!isHeld(row)) await hold(ctx, row, account);
  scheduleReviewExpiry(ctx, row);
  return changeTransaction(ctx, row, {
    funds: 'HELD',
    pending_reason: 'COMPLIANCE_REVIEW',
    // Settled funds can no longer be canceled.
    cancel_requested_at: null,
  });
}

/** Records a deposit that cannot be credited, as FAILED, and starts the return of its funds. */
export function rejectDeposit(ctx: Ctx, deposit: RejectedDeposit): IncomingRow {
  const failedColumns = {
    status: 'FAILED',
    funds: 'HELD',
    failure_reason: 'COLLECTION_FAILED',
  } as const;
  const row = insert(ctx, deposit, failedColumns);
  postToInbound(ctx, row);
  emitPayment(ctx, incomingPayment.FAILED, row);
  return openDepositReturn(ctx, row);
}

async function accountOf(ctx: Ctx, row: IncomingRow): Promise<InternalAccountRow> {
  const account = await readInternalAccount(ctx, row.destination_account);
  if (!account) throw new Error(`${row.id} has no destination account`);
  return account;
}

/** Whether the funds are credited to an internal account and held. */
export const isHeld = ({ funds, status, destination_account: to }: IncomingRow): boolean =>
  funds === 'HELD' &&
  (status === 'PENDING' || status === 'PROCESSING') &&
  isId(to, 'InternalAccount');

/** Makes a held deposit available. */
export async function releaseDeposit(ctx: Ctx, row: IncomingRow): Promise<IncomingRow> {
  if (!isHeld(row)) return row;
  const account = await accountOf(ctx, row);
  const completedPayment = complete(ctx, row);
  await postAndNotify(ctx, async () => {
    release(ctx, row, account.id);
    await repayFrom(ctx, row, account);
  });
  return completedPayment;
}

/** Debits a held deposit from the account and returns it to the payer. */
export async function returnHeldDeposit(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (!isHeld(row)) return row;
  const failedPayment = fail(ctx, row, reason, 'HELD');
  await postAndNotify(ctx, () => {
    postHeld(ctx, row, row.destination_account);
    postToInbound(ctx, row);
  });
  return openDepositReturn(ctx, failedPayment);
}

/**
 * Whether a deposit was posted for this transaction. The receiver's transaction of an internal payment has
 * the same source and no deposit, because the deposit belongs to the payment.
 */
export const hasDepositPosting = (ctx: Ctx, row: IncomingRow): Promise<boolean> =>
  hasTransfersIn(ctx.db, row.id, 'deposit');

/**
 * Applies a reversal by the bank. No funds are sent. The missing amount becomes a shortfall of the account.
 */
export async function reverseDeposit(
  ctx: Ctx,
  row: IncomingRow,
  reason: FailureReason = 'COLLECTION_FAILED',
): Promise<IncomingRow> {
  if (isHeld(row)) {
    const failedPayment = fail(ctx, row, reason, 'RETURNED');
    await postAndNotify(ctx, () => postHeld(ctx, row, row.destination_account));
    return failedPayment;
  }
  if (row.status !== 'COMPLETED' || row.funds !== 'SETTLED') return row;
  if (!(await hasDepositPosting(ctx, row))) return row;
  const account = await accountOf(ctx, row);
  const money = receivedOf(row);
  const failedDeposit = fail(ctx, row, reason, 'RETURNED');
  await postAndNotify(ctx, () =>
    debitWithShortfall(ctx, account, {
      transactionId: row.id,
      step: 'return',
      ...money,
      creditTo: systemAccount(ctx.caller.environment, 'rail_in_transit', money.currency),
    }),
  );
  return failedDeposit;
}
