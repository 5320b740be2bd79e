// Approves and rejects pending payments. `pendingOf` returns the pending item: an incoming payment from
// a UMA address, or a payment that an agent requested.

import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { presentTransaction, transactionOf } from '../presentation/index.ts';
import type { PaymentRow } from '../transactions/index.ts';
import { type Info, missingFieldsOf } from './approval.ts';
import {
  approvePendingPayment,
  type DecidedTransaction,
  rejectPendingPayment,
} from './contract.ts';
import { approveUma, isAwaitingApproval, rejectUma } from './uma.ts';

/**
 * The effects of an approval and a rejection. `reject` returns the transaction after the decision.
 * `approve` returns it, or a rejected request.
 */
interface Decision {
  /** `info` is the platform's information about its customer. */
  approve(info: Info): PaymentRow | Promise<PaymentRow | Rejected>;
  reject(reason: string | undefined): PaymentRow;
}

interface PendingItem extends Decision {
  row: PaymentRow;
}

interface IncomingDeps {
  /** The decision on a pending agent action about the transaction, or undefined if there is none. */
  pendingAction(ctx: Ctx, row: PaymentRow): Promise<Decision | undefined>;
}

/** Throws TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL if no approval is pending. */
async function pendingOf(ctx: Ctx, deps: IncomingDeps, id: string): Promise<PendingItem> {
  const row = await transactionOf(ctx, id);
  if (row.type === 'INCOMING' && isAwaitingApproval(row)) {
    return {
      row,
      approve: (info) => approveUma(ctx, row, info),
      reject: () => rejectUma(ctx, row, 'PAY_REQUEST_FAILED'),
    };
  }
  const decision = await deps.pendingAction(ctx, row);
  if (decision) return { row, ...decision };
  throw new Fault(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    'The transaction is not pending approval. It is already decided, or its approval period has ' +
      'expired.',
  );
}

const viewOf = (row: PaymentRow) => presentTransaction(row) as Static<typeof DecidedTransaction>;

export const incomingOperations = (deps: IncomingDeps) => [
  handle(approvePendingPayment, async (ctx, { params, body }) => {
    const pendingItem = await pendingOf(ctx, deps, params.transactionId);
    const info = body.receiverCustomerInfo ?? {};
    const missingFields = missingFieldsOf(info, pendingItem.row.requested_fields ?? []);
    if (missingFields.length) {
      const errors = missingFields.map((name) => ({
        field: `receiverCustomerInfo.${name}`,
        message: 'is required',
      }));
      throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
    }
    const result = await pendingItem.approve(info);
    return 'rejected' in result ? result : { status: 200, body: viewOf(result) };
  }),
  handle(rejectPendingPayment, async (ctx, { params, body }) => {
    const pendingItem = await pendingOf(ctx, deps, params.transactionId);
    return { status: 200, body: viewOf(pendingItem.reject(body.reason)) };
  }),
];
