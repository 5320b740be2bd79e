// Operations on quotes: create, read, execute.
import type { Input } from '../../../kernel/contract/operation.ts';
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { ScaDeps } from '../../sca/authentication/index.ts';
import type { SignableRequest } from '../../wallets/index.ts';
import { createQuote, executeQuote, getQuoteById } from './contract.ts';
import { authorizeOperations } from './execution/authorize.ts';
import { checkExecutable } from './execution/execute.ts';
import { makeQuote, paymentOf, quoteOf, quoteView, signQuote, startQuote } from './quote.ts';
import type { QuoteRow } from './store.ts';

/** `pendingActionOf` is provided by the composition, because quotes do not depend on agents. */
interface QuoteDeps extends ScaDeps {
  /** ID of the agent action that is pending approval for this payment. */
  pendingActionOf(ctx: Ctx, transactionId: string): Promise<string | undefined>;
}

/**
 * Throws CONFLICT if a pending agent action controls the quote, because only one operation may decide on a
 * quote.
 */
async function rejectPendingAction(
  ctx: Ctx,
  { pendingActionOf }: QuoteDeps,
  { agent_id: agentId, transaction_id: transactionId }: QuoteRow,
) {
  if (agentId === null) return;
  const actionId = await pendingActionOf(ctx, transactionId);
  if (actionId === undefined) return;
  const reason = 'An agent action controls this quote. Approve or reject the action instead.';
  throw new Fault('CONFLICT', reason, { actionId });
}

/** Executes a quote. A wallet quote requires the signature of its holder. */
async function execute(
  ctx: Ctx,
  deps: QuoteDeps,
  { params, body, headers }: Input<typeof executeQuote>,
) {
  const quote = await quoteOf(ctx, params.quoteId);
  const payment = await paymentOf(ctx, quote);
  checkExecutable(ctx, quote, payment);
  await rejectPendingAction(ctx, deps, quote);
  const { operationId } = executeQuote;
  const request = {
    operationId,
    resourceId: quote.id,
    input: { params, body },
    headers: headers as SignableRequest['headers'],
  };
  const outcome = await signQuote(ctx, deps, quote, payment, request);
  if ('rejected' in outcome) return outcome;
  if ('challenge' in outcome) return { status: 202 as const, body: outcome.challenge };
  const { signed } = outcome;
  const { scaFactor } = body;
  const startedPayment = await startQuote(ctx, deps, quote, payment, { signed, scaFactor });
  return { status: 200 as const, body: await quoteView(ctx, quote, startedPayment) };
}

export const quoteOperations = (deps: QuoteDeps) => [
  handle(createQuote, async (ctx, { body }) => {
    const { status, quote, payment } = await makeQuote(ctx, deps, body);
    return { status, body: await quoteView(ctx, quote, payment) };
  }),
  handle(getQuoteById, async (ctx, { params }) => {
    const quote = await quoteOf(ctx, params.quoteId);
    return { status: 200, body: await quoteView(ctx, quote, await paymentOf(ctx, quote)) };
  }),
  handle(executeQuote, (ctx, input) => execute(ctx, deps, input)),
  ...authorizeOperations(deps),
];
