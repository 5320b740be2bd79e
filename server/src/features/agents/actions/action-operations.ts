// Payment operations of agents: submitting actions and reading their status.

import type { Input, Rejected } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isAnyId, isId } from '../../../kernel/id.ts';
import { allInOrder } from '../../../kernel/in-order.ts';
import type { Filter } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import {
  checkExecutable,
  paymentOf,
  type QuoteRow,
  signQuote,
} from '../../payments/quotes/index.ts';
import type { OutgoingRow, PaymentRow } from '../../payments/transactions/index.ts';
import { stageTransferIn, stageTransferOut } from '../../payments/transfers/index.ts';
import { type SignableRequest, stampOf } from '../../wallets/index.ts';
import { type AgentDeps, readOwnAgent } from '../deps.ts';
import { generalRejection, PERMISSION_FOR } from '../policy/policy.ts';
import { requireOwnAccount, requireOwnQuote } from '../reads/agent-resources.ts';
import type { ActionType } from '../states.ts';
import { type ActionRow, type AgentRow, agentActions } from '../store.ts';
import {
  auditRejections,
  evaluateSpending,
  rejectByPolicy,
  spendingOf,
  submitAction,
} from './actions.ts';
import {
  agentCreateTransferIn,
  agentCreateTransferOut,
  agentExecuteQuote,
  agentGetAction,
  agentListActions,
} from './actions-contract.ts';
import { loadAction, presentAction } from './present-action.ts';

/** Throws CONFLICT while another action with the quote is pending approval. */
async function rejectDuplicateAction(ctx: Ctx, payment: OutgoingRow): Promise<void> {
  const pendingFilter = { transaction_id: payment.id, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, pendingFilter);
  if (action) {
    const reason = 'An action with this quote is already pending approval. Wait for the decision.';
    throw new Fault('CONFLICT', reason, { actionId: action.id });
  }
}

/**
 * Whether the source wallet has signed, or a rejection if the signature does not match. Throws
 * WALLET_SIGNATURE_MISSING.
 */
async function checkWalletSignature(
  ctx: Ctx,
  deps: AgentDeps,
  quote: QuoteRow,
  payment: OutgoingRow,
  { params, headers }: Input<typeof agentExecuteQuote>,
): Promise<Rejected | boolean> {
  const { operationId } = agentExecuteQuote;
  // The stamp is sufficient, because the quote already contains the payload to sign.
  const stamp = stampOf(headers as SignableRequest['headers']);
  const signableRequest: SignableRequest = {
    operationId,
    resourceId: quote.id,
    input: { params, body: undefined },
    headers: stamp === undefined ? {} : { 'service-wallet-signature': stamp },
  };
  const outcome = await signQuote(ctx, deps, quote, payment, signableRequest);
  if ('rejected' in outcome) return outcome;
  if ('signed' in outcome) return outcome.signed;
  const reason =
    'The source of the quote is an embedded wallet. Send the signature of the payloadToSign of ' +
    'the quote.';
  throw new Fault('WALLET_SIGNATURE_MISSING', reason);
}

async function executeQuote(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  input: Input<typeof agentExecuteQuote>,
) {
  const type = 'EXECUTE_QUOTE';
  const rejection = generalRejection(agent, PERMISSION_FOR[type]);
  if (rejection) return rejectByPolicy(ctx, agent, rejection, { type });
  const quote = await requireOwnQuote(ctx, agent, input.params.quoteId);
  const payment = await paymentOf(ctx, quote);
  checkExecutable(ctx, quote, payment);
  await rejectDuplicateAction(ctx, payment);
  const requestedSpending = await spendingOf(ctx, type, payment);
  const evaluation = await evaluateSpending(ctx, deps, agent, requestedSpending);
  if (evaluation.decision === 'REJECTED')
    return rejectByPolicy(ctx, agent, evaluation, requestedSpending);
  const signature = await checkWalletSignature(ctx, deps, quote, payment, input);
  if (typeof signature === 'object') return signature;
  const submission = { type, payment, quote, isSigned: signature, evaluation } as const;
  return { status: 200 as const, body: await submitAction(ctx, deps, agent, submission) };
}

/**
 * The ID, or null for any other client input, which may contain secrets. The audit is permanent.
 */
const auditableId = (text: string): string | null => (isAnyId(text) ? text : null);

interface TransferRequest {
  type: Exclude<ActionType, 'EXECUTE_QUOTE'>;
  source: { accountId: string };
  destination: { accountId: string };
  amount?: number;
}

/** Audit details of a transfer: IDs and the amount. */
const auditDetails = ({ type, source, destination, amount }: TransferRequest) => ({
  type,
  from: auditableId(source.accountId),
  to: auditableId(destination.accountId),
  amount: String(amount),
});

/** Evaluates the policy before the transaction is staged. */
async function submitTransfer(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  { type, source, destination, amount }: TransferRequest,
  stage: () => Promise<PaymentRow>,
) {
  const rejection = generalRejection(agent, PERMISSION_FOR[type]);
  if (rejection) return rejectByPolicy(ctx, agent, rejection, { type });
  const [sourceAccount, destinationAccount] = await allInOrder([
    requireOwnAccount(ctx, agent, source.accountId),
    requireOwnAccount(ctx, agent, destination.accountId),
  ]);
  const { internalAccount } = type === 'TRANSFER_OUT' ? sourceAccount : destinationAccount;
  if (!internalAccount) {
    const field = type === 'TRANSFER_OUT' ? 'source.accountId' : 'destination.accountId';
    throw invalidField(field, 'must be an internal account');
  }
  const { id: accountId, currency } = internalAccount;
  const requestedTransfer = { type, accountId, amount: BigInt(amount as number), currency };
  const evaluation = await evaluateSpending(ctx, deps, agent, requestedTransfer);
  if (evaluation.decision === 'REJECTED')
    return rejectByPolicy(ctx, agent, evaluation, requestedTransfer);
  const payment = await stage();
  const submission = { type, payment, quote: undefined, isSigned: false, evaluation };
  return { status: 201 as const, body: await submitAction(ctx, deps, agent, submission) };
}

async function readOwnAction(ctx: Ctx, id: string): Promise<ActionRow> {
  const { agentId } = ctx.caller;
  const row = isId(id, 'AgentAction') ? await ctx.read(agentActions, id) : undefined;
  if (row?.agent_id !== agentId) throw new Fault('NOT_FOUND', 'Action not found.');
  return row as ActionRow;
}

/** Operations that submit and read the actions of the calling agent. */
export const agentActionOperations = (deps: AgentDeps) => [
  handle(agentExecuteQuote, async (ctx, input) => {
    const agent = await readOwnAgent(ctx);
    const requestedAction = { type: 'EXECUTE_QUOTE', quoteId: auditableId(input.params.quoteId) };
    return auditRejections(ctx, agent, requestedAction, () =>
      executeQuote(ctx, deps, agent, input),
    );
  }),
  handle(agentListActions, async (ctx, { query }) => {
    const { limit = 20, cursor, status } = query;
    const agent = await readOwnAgent(ctx);
    const filters: Filter<typeof agentActions>[] = [
      { column: 'agent_id', op: '=', value: agent.id },
    ];
    if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
    const pageOptions = { filters, sort: 'desc', limit, cursor } as const;
    const { rows, ...rest } = await ctx.db.page(agentActions, pageOptions);
    const show = async (row: ActionRow) => presentAction(ctx, await loadAction(ctx, row));
    return { status: 200, body: { data: await Promise.all(rows.map(show)), ...rest } };
  }),
  handle(agentGetAction, async (ctx, { params }) => {
    const fullAction = await loadAction(ctx, await readOwnAction(ctx, params.actionId));
    return { status: 200, body: await presentAction(ctx, fullAction) };
  }),
  handle(agentCreateTransferOut, async (ctx, { body }) => {
    const agent = await readOwnAgent(ctx);
    const requestedAction = { type: 'TRANSFER_OUT', ...body } as const;
    const stage = () => stageTransferOut(ctx, deps, body);
    return auditRejections(ctx, agent, auditDetails(requestedAction), () =>
      submitTransfer(ctx, deps, agent, requestedAction, stage),
    );
  }),
  handle(agentCreateTransferIn, async (ctx, { body }) => {
    const agent = await readOwnAgent(ctx);
    const requestedAction = { type: 'TRANSFER_IN', ...body } as const;
    const stage = () => stageTransferIn(ctx, deps, body);
    return auditRejections(ctx, agent, auditDetails(requestedAction), () =>
      submitTransfer(ctx, deps, agent, requestedAction, stage),
    );
  }),
];
