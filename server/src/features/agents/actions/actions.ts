// Evaluates and executes actions of agents. The amount is converted to the currency of the limits,
// and the action is evaluated against the policy. The action is then executed, pending approval or
// rejected.

import type { Rejected } from '../../../kernel/contract/operation.ts';
import { type Code, Fault, isTransient } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { CurrencyCode, Money } from '../../../kernel/money.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { readInternalAccount } from '../../balances/internal-accounts/index.ts';
import { checkFunds } from '../../payments/lifecycle/index.ts';
import { emitPayment, eventsOf } from '../../payments/presentation/index.ts';
import { checkExecutable, startQuote } from '../../payments/quotes/index.ts';
import {
  asOutgoing,
  changeTransaction,
  debitedOf,
  type PaymentRow,
} from '../../payments/transactions/index.ts';
import { startTransferIn, startTransferOut } from '../../payments/transfers/index.ts';
import { recordAudit } from '../audit.ts';
import { type AgentDeps, forbidden } from '../deps.ts';
import {
  evaluate,
  type PaymentRequest,
  type Rejection,
  thresholdOf,
  type Verdict,
} from '../policy/policy.ts';
import { convertRoundedUp, countSpending, readAgentUsage } from '../policy/usage.ts';
import { type ActionType, actionStates } from '../states.ts';
import { type ActionRow, type AgentRow, agentActions, agents } from '../store.ts';
import { agentActionPending } from './actions-contract.ts';
import { type ActionWithContext, presentAction } from './present-action.ts';

/** The requested payment in its own currency. */
interface Spending extends Pick<PaymentRequest, 'type' | 'accountId' | 'destinationId'>, Money {}

/** A verdict without rejection. The amount is in the currency of the limits, rounded up. */
type Evaluation = Exclude<Verdict, Rejection> & { amount: Money };

const isInternal = (id: string) => isId(id, 'InternalAccount');

/**
 * The policy input of a payment. Account rules apply to the internal source account, or to the
 * internal destination if the source is external. A payment between external accounts uses no
 * internal account, so a restricted agent cannot make it. A payment between two accounts of the
 * customer requires that both accounts are allowed.
 */
export async function spendingOf(
  ctx: Ctx,
  type: ActionType,
  payment: PaymentRow,
): Promise<Spending> {
  const { source_account: source, destination_account: destination } = payment;
  const internalAccountId =
    source !== null && (isInternal(source) || !isInternal(destination)) ? source : destination;
  const counterAccount = internalAccountId === source && isInternal(destination) ? destination : '';
  const creditedAccount = counterAccount
    ? await readInternalAccount(ctx, counterAccount)
    : undefined;
  return {
    type,
    accountId: internalAccountId,
    destinationId:
      creditedAccount?.customer_id === payment.customer_id ? counterAccount : undefined,
    ...debitedOf(payment),
  };
}

/** Evaluates the policy with the current usage. */
export async function evaluateSpending(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  { amount: units, currency, ...requestFields }: Spending,
): Promise<Rejection | Evaluation> {
  const { policy } = agent;
  const threshold = thresholdOf(policy);
  const convertAmount = (to: CurrencyCode) =>
    convertRoundedUp(ctx, deps, { currency, amount: units }, to);
  const [usage, amount, thresholdAmount] = await Promise.all([
    readAgentUsage(ctx, deps, agent),
    convertAmount(policy.spendingLimits.currency),
    threshold ? convertAmount(threshold.currency) : null,
  ]);
  const verdict = evaluate(agent, usage, { ...requestFields, amount, thresholdAmount });
  return verdict.decision === 'REJECTED' ? verdict : { ...verdict, amount };
}

/** Audit details of a payment: IDs and amounts. */
const detailsOf = ({ type, accountId, amount, currency }: Spending) => ({
  type,
  accountId,
  amount: String(amount),
  currency,
});

/** Records the rejection by the policy and returns it. */
export function rejectByPolicy(
  ctx: Ctx,
  agent: AgentRow,
  rejection: Rejection,
  requestedSpending: Pick<Spending, 'type'> & Partial<Spending>,
): Rejected {
  const { amount } = requestedSpending;
  const details =
    amount === undefined ? requestedSpending : { ...requestedSpending, amount: String(amount) };
  recordAudit(ctx, agent, 'ACTION_REFUSED', { rule: rejection.rule, ...details });
  return { rejected: forbidden(rejection) };
}

/**
 * Runs `work`. Records a rejection that it throws in the audit and returns it, for example for
 * insufficient funds or an expired quote. Transient errors are thrown and not recorded.
 */
export async function auditRejections<R>(
  ctx: Ctx,
  agent: AgentRow,
  requestedPayment: Record<string, unknown>,
  work: () => Promise<R>,
): Promise<R | Rejected> {
  const outcome = await ctx.attempt(work);
  if (!(outcome instanceof Fault)) return outcome;
  if (isTransient(outcome.code)) throw outcome;
  recordAudit(ctx, agent, 'ACTION_REFUSED', { code: outcome.code, ...requestedPayment });
  return { rejected: outcome };
}

/** Counts the payment against the limits and starts it. */
async function startPayment(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  { action, payment, quote, amount }: ActionWithContext & Pick<Evaluation, 'amount'>,
): Promise<PaymentRow> {
  if (payment.type === 'OUTGOING') await checkFunds(ctx, payment);
  await countSpending(ctx, deps, agent, { transactionId: payment.id, amount });
  if (payment.type === 'INCOMING') return startTransferIn(ctx, deps, payment);
  if (quote) return startQuote(ctx, deps, quote, payment, { signed: action.signed });
  return startTransferOut(ctx, payment);
}

/** An evaluated action before it is stored. */
interface Submission extends Omit<ActionWithContext, 'action'> {
  type: ActionType;
  /** Whether the source wallet has signed. */
  isSigned: boolean;
  evaluation: Evaluation;
}

/**
 * Maximum number of pending actions per agent, because a deletion rejects all of them in one change
 * set.
 */
const MAX_PENDING_ACTIONS = 500;
const PENDING_COUNT = `select count(*)::int as count from (select 1 from agent_actions
  where agent_id = $1 and status = 'PENDING_APPROVAL' limit ${MAX_PENDING_ACTIONS}) as waiting`;

/** Throws CONFLICT if the agent has reached the maximum of pending actions. */
async function checkPendingLimit(ctx: Ctx, agent: AgentRow): Promise<void> {
  const [row] = await ctx.db.query<{ count: number }>(PENDING_COUNT, [agent.id]);
  if ((row?.count ?? 0) < MAX_PENDING_ACTIONS) return;
  const reason =
    `The agent has ${MAX_PENDING_ACTIONS} actions pending approval, which is the maximum. Wait ` +
    'until the platform approves or rejects an action.';
  throw new Fault('CONFLICT', reason, undefined, { isRetryable: true });
}

/** Stages the action and executes it, or emits an event if it is pending approval. */
export async function submitAction(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  { type, payment, quote, isSigned, evaluation }: Submission,
): Promise<Awaited<ReturnType<typeof presentAction>>> {
  const needsApproval = evaluation.decision === 'APPROVAL_REQUIRED';
  if (needsApproval) await checkPendingLimit(ctx, agent);
  const action = ctx.insert(agentActions, {
    id: ctx.id('AgentAction'),
    platform_id: agent.platform_id,
    agent_id: agent.id,
    customer_id: agent.customer_id,
    type,
    status: needsApproval ? 'PENDING_APPROVAL' : 'APPROVED',
    quote_id: quote?.id,
    transaction_id: payment.id,
    signed: isSigned,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  const details = { ...detailsOf(await spendingOf(ctx, type, payment)), transactionId: payment.id };
  if (!needsApproval) {
    const { amount } = evaluation;
    const startedPayment = await startPayment(ctx, deps, agent, {
      action,
      payment,
      quote,
      amount,
    });
    recordAudit(ctx, agent, 'ACTION_EXECUTED', { action, ...details });
    return presentAction(ctx, { action, payment: startedPayment, quote });
  }
  // A concurrent deletion of the agent takes precedence. If the platform executes the quote
  // concurrently, the empty update of the payment causes a retry that finds this action.
  ctx.require(agents, agent);
  if (quote) changeTransaction(ctx, payment, {});
  recordAudit(ctx, agent, 'ACTION_SUBMITTED', { action, rule: evaluation.rule, ...details });
  const view = await presentAction(ctx, { action, payment, quote });
  ctx.emit(agentActionPending, action.id, view);
  return view;
}

/**
 * Executes an approved action under the current policy and usage. Throws if the action is
 * impossible now.
 */
async function executeAction(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow | undefined,
  actionContext: ActionWithContext,
): Promise<PaymentRow> {
  const { action, payment, quote } = actionContext;
  if (!agent || agent.deleted_at !== null) {
    throw new Fault('FORBIDDEN', 'The agent was deleted.');
  }
  if (quote) checkExecutable(ctx, quote, asOutgoing(payment));
  const evaluation = await evaluateSpending(
    ctx,
    deps,
    agent,
    await spendingOf(ctx, action.type, payment),
  );
  if (evaluation.decision === 'REJECTED') throw forbidden(evaluation);
  return startPayment(ctx, deps, agent, { ...actionContext, amount: evaluation.amount });
}

/** The agent of an action, for the audit. The agent may have been deleted. */
const agentOfAction = ({ agent_id: id, platform_id, customer_id }: ActionRow) => ({
  id,
  platform_id,
  customer_id,
});

/** Fails the payment of a transfer. A quote remains open, because another action may execute it. */
function failPayment(ctx: Ctx, { payment, quote }: ActionWithContext): PaymentRow {
  if (quote || payment.status !== 'PENDING') return payment;
  const failedPayment = changeTransaction(ctx, payment, { status: 'FAILED' });
  emitPayment(ctx, eventsOf(failedPayment).FAILED, failedPayment);
  return failedPayment;
}

const assertPending = ({ status }: ActionRow) => {
  if (status === 'PENDING_APPROVAL') return;
  throw new Fault(
    'CONFLICT',
    `The action is ${status}. Only PENDING_APPROVAL actions can be approved or rejected.`,
  );
};

/** Errors of conditions that can be met later. The action remains pending. */
const PREREQUISITES: readonly Code[] = [
  'QUOTE_RATE_UNAVAILABLE',
  'SCA_SESSION_REQUIRED',
  'ACCOUNT_LOCKED',
];

/** Errors after which the action remains pending. */
const isRetryable = (code: Code) =>
  PREREQUISITES.includes(code) || (isTransient(code) && code !== 'NOT_IMPLEMENTED');

/**
 * Approves an action. Evaluates the policy again and executes the action in one change set. If
 * execution is impossible, the action becomes FAILED with `failure`. Temporary errors are thrown
 * and the action remains pending.
 */
export async function approve(
  ctx: Ctx,
  deps: AgentDeps,
  actionContext: ActionWithContext,
): Promise<ActionWithContext & { failure?: Fault }> {
  const { action } = actionContext;
  assertPending(action);
  const agent = await ctx.read(agents, action.agent_id);
  const outcome = await ctx.attempt(() => executeAction(ctx, deps, agent, actionContext));
  if (!(outcome instanceof Fault)) {
    const status = actionStates.next(action.status, 'approve');
    recordAudit(ctx, agentOfAction(action), 'ACTION_APPROVED', { action });
    const approvedAction = ctx.update(agentActions, action, { status, updated_at: ctx.now });
    return { ...actionContext, action: approvedAction, payment: outcome };
  }
  const { code, message: reason } = outcome;
  if (isRetryable(code)) throw outcome;
  recordAudit(ctx, agentOfAction(action), 'ACTION_FAILED', { action, code, reason });
  const failedAction = ctx.update(agentActions, action, {
    status: actionStates.next(action.status, 'fail'),
    updated_at: ctx.now,
  });
  return {
    ...actionContext,
    action: failedAction,
    payment: failPayment(ctx, actionContext),
    failure: outcome,
  };
}

/** Rejects an action and fails the payment of a transfer. */
export function reject(
  ctx: Ctx,
  actionContext: ActionWithContext,
  reason: string | undefined,
): ActionWithContext {
  const { action } = actionContext;
  assertPending(action);
  recordAudit(ctx, agentOfAction(action), 'ACTION_REJECTED', { action });
  const rejectedAction = ctx.update(agentActions, action, {
    status: actionStates.next(action.status, 'reject'),
    rejection_reason: reason ?? null,
    updated_at: ctx.now,
  });
  return { ...actionContext, action: rejectedAction, payment: failPayment(ctx, actionContext) };
}
