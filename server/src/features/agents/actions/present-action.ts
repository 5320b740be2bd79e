// Presents an agent action with its quote or its transfer.

import type { Static } from '@sinclair/typebox';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import { presentTransaction } from '../../payments/presentation/index.ts';
import { type QuoteRow, quoteView, readQuote } from '../../payments/quotes/index.ts';
import {
  asOutgoing,
  asPayment,
  debitedOf,
  type PaymentRow,
  readTransaction,
  sourceAccountOf,
} from '../../payments/transactions/index.ts';
import type { AgentAction } from '../contract.ts';
import type { ActionRow } from '../store.ts';

type View = Static<typeof AgentAction>;

/** An action with its payment and, if any, its quote. */
export interface ActionWithContext {
  action: ActionRow;
  payment: PaymentRow;
  quote: QuoteRow | undefined;
}

export async function loadAction(ctx: Ctx, action: ActionRow): Promise<ActionWithContext> {
  const [payment, quote] = await Promise.all([
    readTransaction(ctx, action.transaction_id),
    action.quote_id === null ? undefined : readQuote(ctx, action.quote_id),
  ]);
  if (!payment) throw new Error(`${action.id} has no transaction`);
  return { action, payment: asPayment(payment), quote };
}

const transferDetails = (payment: PaymentRow): NonNullable<View['transferDetails']> => {
  const { amount, currency } = debitedOf(payment);
  return {
    amount: Number(amount),
    currency,
    sourceAccountId: sourceAccountOf(payment),
    destinationAccountId: payment.destination_account,
  };
};

/** The resource `AgentAction`. The transaction is shown once the action is APPROVED. */
export async function presentAction(
  ctx: Ctx,
  { action, payment, quote }: ActionWithContext,
): Promise<View> {
  const { status, rejection_reason: reason } = action;
  return {
    id: action.id,
    agentId: action.agent_id,
    customerId: action.customer_id,
    platformCustomerId: payment.platform_customer_id,
    status,
    type: action.type,
    ...(quote
      ? { quote: await quoteView(ctx, quote, asOutgoing(payment)) }
      : { transferDetails: transferDetails(payment) }),
    ...(status === 'APPROVED'
      ? { transaction: presentTransaction(payment) as NonNullable<View['transaction']> }
      : {}),
    ...(reason === null ? {} : { rejectionReason: reason }),
    ...timestamps(action),
  };
}
