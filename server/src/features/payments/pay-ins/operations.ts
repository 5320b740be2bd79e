// Approving and rejecting. Both begin by finding what waits for the platform's word, in one place: what
// else comes to wait for it, such as payments that an agent starts, is one more case there.

import type { Static } from '@sinclair/typebox';
import type { Rejected } from '../../../kernel/contract/operation.ts';
import { Fault, invalid } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { presentTransaction, transactionOf } from '../presentation/index.ts';
import type { PaymentRow } from '../transactions/index.ts';
import { type Info, missingIn } from './approval.ts';
import {
  approvePendingPayment,
  type DecidedTransaction,
  rejectPendingPayment,
} from './contract.ts';
import { approveUma, isAwaitingApproval, rejectUma } from './uma.ts';

/** What the platform's word does to a transaction; the answer is the transaction as it then is. */
interface Word {
  /** Says yes with what the platform tells about its customer. */
  approve(info: Info): PaymentRow | Promise<PaymentRow | Rejected>;
  reject(reason: string | undefined): PaymentRow;
}

interface Waiting extends Word {
  row: PaymentRow;
}

interface IncomingParts {
  /** Finds what else waits for the platform's word about a transaction: what an agent asked for. */
  waitingAction(ctx: Ctx, row: PaymentRow): Promise<Word | undefined>;
}

/** The transaction and what the platform's word does to it; 409 where nobody waits for it. */
async function waitingOf(ctx: Ctx, parts: IncomingParts, id: string): Promise<Waiting> {
  const row = await transactionOf(ctx, id);
  if (row.type === 'INCOMING' && isAwaitingApproval(row)) {
    return {
      row,
      approve: (info) => approveUma(ctx, row, info),
      reject: () => rejectUma(ctx, row, 'PAY_REQUEST_FAILED'),
    };
  }
  const word = await parts.waitingAction(ctx, row);
  if (word) return { row, ...word };
  throw new Fault(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    'The transaction is not pending approval: it is already decided, or its ' +
      'approval period has ended.',
  );
}

const shown = (row: PaymentRow) => presentTransaction(row) as Static<typeof DecidedTransaction>;

export const incomingOperations = (parts: IncomingParts) => [
  handle(approvePendingPayment, async (ctx, { params, body }) => {
    const waiting = await waitingOf(ctx, parts, params.transactionId);
    const info = body.receiverCustomerInfo ?? {};
    const missing = missingIn(info, waiting.row.requested_fields ?? []);
    if (missing.length) {
      const errors = missing.map((name) => ({
        field: `receiverCustomerInfo.${name}`,
        message: 'is required',
      }));
      throw invalid(errors, 'MISSING_MANDATORY_USER_INFO');
    }
    const approved = await waiting.approve(info);
    return 'rejected' in approved ? approved : { status: 200, body: shown(approved) };
  }),
  handle(rejectPendingPayment, async (ctx, { params, body }) => {
    const waiting = await waitingOf(ctx, parts, params.transactionId);
    return { status: 200, body: shown(waiting.reject(body.reason)) };
  }),
];
