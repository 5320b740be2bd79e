// Transfers over manual rails. The list shows payouts, debits and refunds with their account
// details. The other functions record the result. A second result is rejected, so that a repeated
// call has no effect.

import { ACCOUNT_TYPE_ROWS, isAccountType } from '../../../catalog/accounts/account-types.ts';
import { formatAmount } from '../../../catalog/currencies/money-format.ts';
import type { FailureReason, Progress, RailInstruction } from '../../../connectors/ports/index.ts';
import { iso } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Runtime } from '../../../runtime/operation/operate.ts';
import { readExternalAccount } from '../../payees/external-accounts/index.ts';
import { rejectCancel } from '../lifecycle/index.ts';
import { isDebit, isHeld } from '../pay-ins/index.ts';
import { debitOf, payoutOf, refundOf } from '../payouts/index.ts';
import { isExpected, paymentReferenceOf, type WaitKind, type WaitRow } from '../suspense/index.ts';
import {
  asPayment,
  loadTransaction,
  type PaymentRow,
  readTransaction,
  receivedOf,
  sourceAccountOf,
  type TransactionRow,
} from '../transactions/index.ts';
import type { TransferKind } from './choices.ts';
import {
  applyNotice,
  awaitedOf,
  conflict,
  onAnyTransaction,
  onProductionTransaction,
} from './notice.ts';
import { type ListQuery, pageOfItems, type Start, startOf } from './pages.ts';

const INSTRUCTION = { payout: payoutOf, debit: debitOf, refund: refundOf } as const;

/** The UMA address of the counterparty, or undefined if the counterparty is an account. */
function umaAddressOf(row: PaymentRow, kind: WaitKind): string | undefined {
  if (kind === 'payout' && row.rail_payload) return row.destination_account;
  const isFromUma = kind === 'debit' && row.source.sourceType === 'UMA_ADDRESS';
  return isFromUma ? sourceAccountOf(row) : undefined;
}

async function instructionOf(
  runtime: Runtime,
  row: PaymentRow,
  kind: WaitKind,
): Promise<RailInstruction> {
  const umaAddress = umaAddressOf(row, kind);
  if (umaAddress === undefined) return INSTRUCTION[kind](runtime, row);
  return {
    id: row.id,
    platformId: row.platform_id,
    kind,
    reference: paymentReferenceOf(row.id),
    origin: 'quote',
    rail: null,
    ...receivedOf(row),
    account: { accountType: 'UMA_ADDRESS', umaAddress },
    sentAt: row.sent_at ?? row.updated_at,
  };
}

function presentTransfer(awaitedRow: WaitRow, row: TransactionRow, instruction: RailInstruction) {
  const { beneficiary: _, accountType, ...account } = instruction.account;
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    kind: awaitedRow.kind,
    since: iso(awaitedRow.since),
    amount: Number(instruction.amount),
    currency: instruction.currency,
    readable: formatAmount(instruction),
    rail: instruction.rail,
    reference: paymentReferenceOf(row.id),
    beneficiary: instruction.beneficiaryName ?? null,
    accountType,
    account,
    remittanceInformation: instruction.remittanceInformation ?? null,
    purposeOfPayment: instruction.purposeOfPayment ?? null,
    cancelRequestedAt: row.cancel_requested_at === null ? null : iso(row.cancel_requested_at),
  };
}

async function viewOf(runtime: Runtime, awaitedRow: WaitRow) {
  const row = await readTransaction(runtime.db, awaitedRow.id);
  if (!row || !isExpected(row, awaitedRow.kind)) return [];
  return [
    presentTransfer(awaitedRow, row, await instructionOf(runtime, asPayment(row), awaitedRow.kind)),
  ];
}

const AWAITED_RESULTS = `select id, kind, since from awaited_rail_results
  where ($1::text is null or platform_id = $1) and (since, id) > ($2::timestamptz, $3)
  order by since, id limit $4`;

/** The oldest awaited transfers. Rows whose payments no longer await a result are skipped. */
export async function listAwaitedTransfers(
  runtime: Runtime,
  { platformId, limit, cursor }: ListQuery,
) {
  const transfers: ReturnType<typeof presentTransfer>[] = [];
  const batchSize = limit + 1;
  let start: Start = startOf({ cursor });
  for (;;) {
    const values = [platformId ?? null, new Date(start.since), start.id, batchSize];
    const awaitedRows = await runtime.db.query<WaitRow>(AWAITED_RESULTS, values);
    transfers.push(...(await Promise.all(awaitedRows.map((each) => viewOf(runtime, each)))).flat());
    const lastRow = awaitedRows.at(-1);
    if (!lastRow || awaitedRows.length < batchSize || transfers.length > limit) {
      return pageOfItems(transfers, limit);
    }
    start = lastRow;
  }
}

async function resultOf(runtime: Runtime, id: string) {
  const row = await loadTransaction(runtime.db, id);
  return {
    transactionId: row.id,
    platformId: row.platform_id,
    status: row.status,
    failureReason: row.failure_reason,
    refund: row.refund?.status ?? null,
  };
}

export type TransferResult = Awaited<ReturnType<typeof resultOf>>;

/** Records the result of the awaited transfer. */
async function record(
  runtime: Runtime,
  id: string,
  progressOf: (ctx: Ctx, row: TransactionRow) => Promise<Progress>,
): Promise<TransferResult> {
  await onProductionTransaction(runtime, id, async (ctx, row) => {
    const kind = await awaitedOf(ctx, row);
    await applyNotice(ctx, row, kind, await progressOf(ctx, row));
  });
  return resultOf(runtime, id);
}

/** The network of the receiving account. */
async function networkOf(ctx: Ctx, row: TransactionRow): Promise<string> {
  const id = row.destination_account;
  const account = id === null ? undefined : await readExternalAccount(ctx, id);
  const type = account?.info.accountType ?? '';
  const network = isAccountType(type) ? ACCOUNT_TYPE_ROWS[type].network : undefined;
  if (!network) {
    throw conflict('A transaction hash applies only to payments over a blockchain. Omit the hash.');
  }
  return network;
}

interface SettleInput {
  transactionId: string;
  /**
   * Bank reference. Default: the transaction hash, or without a hash the reference of the payment.
   */
  reference?: string | undefined;
  transactionHash?: string | undefined;
}

export const settleTransfer = (runtime: Runtime, input: SettleInput): Promise<TransferResult> =>
  record(runtime, input.transactionId, async (ctx, row) => {
    const { transactionHash } = input;
    const reference = input.reference ?? transactionHash ?? paymentReferenceOf(row.id);
    if (transactionHash === undefined) return { state: 'settled', reference };
    const onChain = { transactionHash, network: await networkOf(ctx, row) };
    return { state: 'settled', reference, onChain };
  });

interface FailInput {
  transactionId: string;
  reason: FailureReason;
  /** Whether the funds can be returned. If not, they are posted to suspense. */
  refundable: boolean;
}

/** Records a permanent failure. */
export const failTransfer = (
  runtime: Runtime,
  { transactionId, reason, refundable }: FailInput,
): Promise<TransferResult> =>
  record(runtime, transactionId, async () => ({ state: 'failed', reason, refundable }));

const isExternal = (id: string | null) => id?.startsWith('ExternalAccount:') ?? false;

/**
 * The default is the payout for outgoing payments, and for UMA payments that are forwarded to an
 * external account. Otherwise it is the debit.
 */
const defaultKindOf = (row: TransactionRow): TransferKind =>
  row.type === 'OUTGOING' || isExternal(row.destination_account) ? 'payout' : 'debit';

/**
 * Whether the transfer used a rail. The incoming side of an internal payment also has an external
 * source.
 */
function isOverRail(row: TransactionRow, kind: TransferKind): boolean {
  if (kind === 'payout') return isExternal(row.destination_account);
  return row.type === 'OUTGOING'
    ? isExternal(row.source_account)
    : row.type === 'INCOMING' && isDebit(row);
}

/** Whether the transfer has settled and was not returned. */
export function hasSettled(row: TransactionRow, kind: TransferKind): boolean {
  if (kind === 'debit') {
    // A debit has settled when its funds arrived, regardless of the status of the payment that it
    // funds.
    if (row.type === 'OUTGOING') return row.funded_amount !== null;
    if (row.type === 'INCOMING' && isHeld(row)) return row.pending_reason !== null;
  }
  return row.status === 'COMPLETED' && row.funds === 'SETTLED';
}

interface ReturnInput {
  transactionId: string;
  reason: FailureReason;
  /**
   * The returned transfer of a payment with two transfers. Default: the payout, if there is one.
   */
  kind?: TransferKind | undefined;
}

/** Records a return of a settled transfer, often days later. The sandbox is supported too. */
export async function returnTransfer(
  runtime: Runtime,
  { transactionId, reason, kind: requestedKind }: ReturnInput,
): Promise<TransferResult> {
  await onAnyTransaction(runtime, transactionId, async (ctx, row) => {
    const kind = requestedKind ?? defaultKindOf(row);
    if (!isOverRail(row, kind)) {
      throw conflict(
        'This transfer did not use a rail. Record a returned deposit with `deposits return`.',
      );
    }
    if (!hasSettled(row, kind)) {
      throw conflict(`Only a settled transfer can be returned. The payment is ${row.status}.`);
    }
    await applyNotice(ctx, row, kind, { state: 'returned', reason });
  });
  return resultOf(runtime, transactionId);
}

const requireCancelRequest = (row: TransactionRow) => {
  if (row.cancel_requested_at === null)
    throw conflict('No cancellation is requested for this payment.');
};

/** Records that a transfer was canceled. Throws CONFLICT without a request for cancellation. */
export const cancelTransfer = (runtime: Runtime, id: string): Promise<TransferResult> =>
  record(runtime, id, async (_, row) => {
    requireCancelRequest(row);
    return { state: 'cancelled' };
  });

/**
 * Records that a requested cancellation is no longer possible. Throws CONFLICT without a request.
 */
export async function rejectTransferCancel(runtime: Runtime, id: string): Promise<TransferResult> {
  await onProductionTransaction(runtime, id, async (ctx, row) => {
    await awaitedOf(ctx, row);
    requireCancelRequest(row);
    rejectCancel(ctx, asPayment(row));
  });
  return resultOf(runtime, id);
}
