// What an agent asks for that moves money, judged and carried out. All three kinds go one way: what it comes
// to in the currency of its limits, what the policy says to that, and then a payment that starts at once,
// waits for the platform, or is not made.

import type { Refused } from '../../../kernel/contract/operation.ts';
import { type Code, Fault, mayPass } from '../../../kernel/fault.ts';
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
import { note } from '../audit.ts';
import { type AgentParts, forbidden } from '../parts.ts';
import { type Act, evaluate, type Refusal, thresholdOf, type Verdict } from '../policy/policy.ts';
import { convertedUp, countSpending, spentBy } from '../policy/usage.ts';
import { type ActionType, actionStates } from '../states.ts';
import { type ActionRow, type AgentRow, agentActions, agents } from '../store.ts';
import { agentActionPending } from './actions-contract.ts';
import { presentAction, type WholeAction } from './present-action.ts';

/** What is asked for, in its own currency. */
interface Spending extends Pick<Act, 'type' | 'accountId' | 'intoId'>, Money {}

/** What it is let through or put to the platform as; the amount in the currency of the limits, rounded up. */
type Judged = Exclude<Verdict, Refusal> & { amount: Money };

const isInternal = (id: string) => isId(id, 'InternalAccount');

/**
 * What a payment asks of a policy. The rules of an account are those of the internal one that pays, or else
 * of the one that money is taken into. Money that goes from outside to outside touches none, so an agent that
 * is kept to some accounts cannot have it moved. Where it goes from one account of the customer to another
 * it must be allowed both, also when an address led there.
 */
export async function askedBy(ctx: Ctx, type: ActionType, payment: PaymentRow): Promise<Spending> {
  const { source_account: source, destination_account: destination } = payment;
  const touched =
    source !== null && (isInternal(source) || !isInternal(destination)) ? source : destination;
  const other = touched === source && isInternal(destination) ? destination : '';
  const into = other ? await readInternalAccount(ctx, other) : undefined;
  return {
    type,
    accountId: touched,
    intoId: into?.customer_id === payment.customer_id ? other : undefined,
    ...debitedOf(payment),
  };
}

/** What the policy says now, and what it counts. */
export async function judge(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  { amount: given, currency, ...act }: Spending,
): Promise<Refusal | Judged> {
  const { policy } = agent;
  const threshold = thresholdOf(policy);
  const within = (to: CurrencyCode) => convertedUp(ctx, parts, { currency, amount: given }, to);
  const [spent, amount, forThreshold] = await Promise.all([
    spentBy(ctx, parts, agent),
    within(policy.spendingLimits.currency),
    threshold ? within(threshold.currency) : null,
  ]);
  const verdict = evaluate(agent, spent, { ...act, amount, forThreshold });
  return verdict.decision === 'REFUSED' ? verdict : { ...verdict, amount };
}

/** What is asked for as it is written down: ids and amounts. */
const detailsOf = ({ type, accountId, amount, currency }: Spending) => ({
  type,
  accountId,
  amount: String(amount),
  currency,
});

/** Stages that the policy was against it, and tells so. */
export function refuse(
  ctx: Ctx,
  agent: AgentRow,
  refusal: Refusal,
  asked: Pick<Spending, 'type'> & Partial<Spending>,
): Refused {
  const { amount } = asked;
  const details = amount === undefined ? asked : { ...asked, amount: String(amount) };
  note(ctx, agent, 'ACTION_REFUSED', { rule: refusal.rule, ...details });
  return { refused: forbidden(refusal) };
}

/**
 * Does what an agent asks for, and writes down what could not be done: an account that is empty as much as a
 * quote that ran out. What may pass by itself is only told.
 */
export async function asking<R>(
  ctx: Ctx,
  agent: AgentRow,
  asked: Record<string, unknown>,
  work: () => Promise<R>,
): Promise<R | Refused> {
  const outcome = await ctx.attempt(work);
  if (!(outcome instanceof Fault)) return outcome;
  if (mayPass(outcome.code)) throw outcome;
  note(ctx, agent, 'ACTION_REFUSED', { code: outcome.code, ...asked });
  return { refused: outcome };
}

/** Counts the payment and starts it. Throws why it cannot be made. */
async function pay(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  { action, payment, quote, amount }: WholeAction & Pick<Judged, 'amount'>,
): Promise<PaymentRow> {
  if (payment.type === 'OUTGOING') await checkFunds(ctx, payment);
  await countSpending(ctx, parts, agent, { transactionId: payment.id, amount });
  if (payment.type === 'INCOMING') return startTransferIn(ctx, parts, payment);
  if (quote) return startQuote(ctx, parts, quote, payment, { signed: action.signed });
  return startTransferOut(ctx, payment);
}

/** What is about to be done, by whose policy, and what was said to it. */
interface Submission extends Omit<WholeAction, 'action'> {
  type: ActionType;
  /** Whether the holder of the wallet that pays has signed. */
  signed: boolean;
  judged: Judged;
}

/** Of one agent at the most: a platform decides on them one by one, and a deletion on all at once. */
const MOST_WAITING = 500;
const WAITING = `select count(*)::int as count from (select 1 from agent_actions
  where agent_id = $1 and status = 'PENDING_APPROVAL' limit ${MOST_WAITING}) as waiting`;

/** Throws CONFLICT where as much waits for the platform as may. */
async function checkRoom(ctx: Ctx, agent: AgentRow): Promise<void> {
  const [row] = await ctx.db.query<{ count: number }>(WAITING, [agent.id]);
  if ((row?.count ?? 0) < MOST_WAITING) return;
  const reason = `${MOST_WAITING} actions of the agent wait for the platform, which is the most.`;
  throw new Fault('CONFLICT', reason, undefined, { isRetryable: true });
}

/** Stages the action: carried out at once, or waiting with its platform told. */
export async function submit(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  { type, payment, quote, signed, judged }: Submission,
): Promise<Awaited<ReturnType<typeof presentAction>>> {
  const waits = judged.decision === 'APPROVAL_REQUIRED';
  if (waits) await checkRoom(ctx, agent);
  const action = ctx.insert(agentActions, {
    id: ctx.id('AgentAction'),
    platform_id: agent.platform_id,
    agent_id: agent.id,
    customer_id: agent.customer_id,
    type,
    status: waits ? 'PENDING_APPROVAL' : 'APPROVED',
    quote_id: quote?.id,
    transaction_id: payment.id,
    signed,
    created_at: ctx.now,
    updated_at: ctx.now,
  });
  const named = { ...detailsOf(await askedBy(ctx, type, payment)), transactionId: payment.id };
  if (!waits) {
    const { amount } = judged;
    const started = await pay(ctx, parts, agent, { action, payment, quote, amount });
    note(ctx, agent, 'ACTION_EXECUTED', { action, ...named });
    return presentAction(ctx, { action, payment: started, quote });
  }
  // Whoever deletes the agent meanwhile comes first. The quote's payment is touched and not only required,
  // so that a platform that is executing it at this moment looks again, and finds the action.
  ctx.require(agents, agent);
  if (quote) changeTransaction(ctx, payment, {});
  note(ctx, agent, 'ACTION_SUBMITTED', { action, rule: judged.rule, ...named });
  const view = await presentAction(ctx, { action, payment, quote });
  ctx.emit(agentActionPending, action.id, view);
  return view;
}

/** Carries out what was approved, as the policy and everything else is now; throws why it cannot be. */
async function carryOut(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow | undefined,
  whole: WholeAction,
): Promise<PaymentRow> {
  const { action, payment, quote } = whole;
  if (!agent || agent.deleted_at !== null) {
    throw new Fault('FORBIDDEN', 'The agent was deleted.');
  }
  if (quote) checkExecutable(ctx, quote, asOutgoing(payment));
  const judged = await judge(ctx, parts, agent, await askedBy(ctx, action.type, payment));
  if (judged.decision === 'REFUSED') throw forbidden(judged);
  return pay(ctx, parts, agent, { ...whole, amount: judged.amount });
}

/** Whose an action was, also once the agent is gone. */
const ownerOf = ({ agent_id: id, platform_id, customer_id }: ActionRow) => ({
  id,
  platform_id,
  customer_id,
});

/** A transfer that was not let through; of a quote there may be another action. */
function endPayment(ctx: Ctx, { payment, quote }: WholeAction): PaymentRow {
  if (quote || payment.status !== 'PENDING') return payment;
  const failed = changeTransaction(ctx, payment, { status: 'FAILED' });
  emitPayment(ctx, eventsOf(failed).FAILED, failed);
  return failed;
}

const mustWait = ({ status }: ActionRow) => {
  if (status === 'PENDING_APPROVAL') return;
  throw new Fault('CONFLICT', `The action is ${status}: it was decided already.`);
};

/** What the customer or somebody else has to do first; the action is as good as before. */
const FIRST: readonly Code[] = ['QUOTE_RATE_UNAVAILABLE', 'SCA_SESSION_REQUIRED', 'ACCOUNT_LOCKED'];

/** What says nothing about the action: it cannot be judged, or nobody can take it, at the moment. */
const isForNow = (code: Code) =>
  FIRST.includes(code) || (mayPass(code) && code !== 'NOT_IMPLEMENTED');

/**
 * The platform's yes: judged once more and carried out, all in one. What cannot be done any more ends FAILED;
 * what only cannot be judged at the moment is thrown, and the action waits on. `failure` is why it FAILED.
 */
export async function approve(
  ctx: Ctx,
  parts: AgentParts,
  whole: WholeAction,
): Promise<WholeAction & { failure?: Fault }> {
  const { action } = whole;
  mustWait(action);
  const agent = await ctx.read(agents, action.agent_id);
  const outcome = await ctx.attempt(() => carryOut(ctx, parts, agent, whole));
  if (!(outcome instanceof Fault)) {
    const status = actionStates.next(action.status, 'approve');
    note(ctx, ownerOf(action), 'ACTION_APPROVED', { action });
    const approved = ctx.update(agentActions, action, { status, updated_at: ctx.now });
    return { ...whole, action: approved, payment: outcome };
  }
  const { code, message: reason } = outcome;
  if (isForNow(code)) throw outcome;
  note(ctx, ownerOf(action), 'ACTION_FAILED', { action, code, reason });
  const failed = ctx.update(agentActions, action, {
    status: actionStates.next(action.status, 'fail'),
    updated_at: ctx.now,
  });
  return { ...whole, action: failed, payment: endPayment(ctx, whole), failure: outcome };
}

/** The platform's no. */
export function reject(ctx: Ctx, whole: WholeAction, reason: string | undefined): WholeAction {
  const { action } = whole;
  mustWait(action);
  note(ctx, ownerOf(action), 'ACTION_REJECTED', { action });
  const rejected = ctx.update(agentActions, action, {
    status: actionStates.next(action.status, 'reject'),
    rejection_reason: reason ?? null,
    updated_at: ctx.now,
  });
  return { ...whole, action: rejected, payment: endPayment(ctx, whole) };
}
