// How an agent asks for a payment, and how it learns what became of it.

import type { Input, Refused } from '../../../kernel/contract/operation.ts';
import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId, isSomeId } from '../../../kernel/id.ts';
import { inOrder } from '../../../kernel/in-order.ts';
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
import { type Asked, stampOf } from '../../wallets/index.ts';
import { type AgentParts, ownAgent } from '../parts.ts';
import { outright, PERMISSION_FOR } from '../policy/policy.ts';
import { ownAccount, ownQuote } from '../reads/own.ts';
import type { ActionType } from '../states.ts';
import { type ActionRow, type AgentRow, agentActions } from '../store.ts';
import { askedBy, asking, judge, refuse, submit } from './actions.ts';
import {
  agentCreateTransferIn,
  agentCreateTransferOut,
  agentExecuteQuote,
  agentGetAction,
  agentListActions,
} from './actions-contract.ts';
import { presentAction, wholeAction } from './present-action.ts';

/** Throws CONFLICT while another action with the quote waits. */
async function refuseSecond(ctx: Ctx, payment: OutgoingRow): Promise<void> {
  const waiting = { transaction_id: payment.id, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, waiting);
  if (action) {
    throw new Fault('CONFLICT', 'An action with this quote waits for approval.', {
      actionId: action.id,
    });
  }
}

/** Whether the wallet that pays has signed; a refusal where it signed something else. */
async function signed(
  ctx: Ctx,
  parts: AgentParts,
  quote: QuoteRow,
  payment: OutgoingRow,
  { params, headers }: Input<typeof agentExecuteQuote>,
): Promise<Refused | boolean> {
  const { operationId } = agentExecuteQuote;
  // The stamp alone: what is to be signed was shown with the quote, so there is no first leg to name.
  const stamp = stampOf(headers as Asked['headers']);
  const asked: Asked = {
    operationId,
    of: quote.id,
    input: { params, body: undefined },
    headers: stamp === undefined ? {} : { 'service-wallet-signature': stamp },
  };
  const outcome = await signQuote(ctx, parts, quote, payment, asked);
  if ('refused' in outcome) return outcome;
  if ('signed' in outcome) return outcome.signed;
  const reason = 'The quote is paid from an embedded wallet: send the stamp of its payloadToSign.';
  throw new Fault('WALLET_SIGNATURE_MISSING', reason);
}

async function executeQuote(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  input: Input<typeof agentExecuteQuote>,
) {
  const type = 'EXECUTE_QUOTE';
  const no = outright(agent, PERMISSION_FOR[type]);
  if (no) return refuse(ctx, agent, no, { type });
  const quote = await ownQuote(ctx, agent, input.params.quoteId);
  const payment = await paymentOf(ctx, quote);
  checkExecutable(ctx, quote, payment);
  await refuseSecond(ctx, payment);
  const asked = await askedBy(ctx, type, payment);
  const judged = await judge(ctx, parts, agent, asked);
  if (judged.decision === 'REFUSED') return refuse(ctx, agent, judged, asked);
  const sign = await signed(ctx, parts, quote, payment, input);
  if (typeof sign === 'object') return sign;
  const submission = { type, payment, quote, signed: sign, judged } as const;
  return { status: 200 as const, body: await submit(ctx, parts, agent, submission) };
}

/** What is kept of an id: what is none may be anything, a secret too, and the audit is for good. */
const idOf = (text: string): string | null => (isSomeId(text) ? text : null);

interface TransferRequest {
  type: Exclude<ActionType, 'EXECUTE_QUOTE'>;
  source: { accountId: string };
  destination: { accountId: string };
  amount?: number;
}

/** A transfer as it is written down: ids and the amount. */
const named = ({ type, source, destination, amount }: TransferRequest) => ({
  type,
  from: idOf(source.accountId),
  to: idOf(destination.accountId),
  amount: String(amount),
});

/** Judges a transfer by what is asked for, and only then has its transaction staged. */
async function transfer(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  { type, source, destination, amount }: TransferRequest,
  stage: () => Promise<PaymentRow>,
) {
  const no = outright(agent, PERMISSION_FOR[type]);
  if (no) return refuse(ctx, agent, no, { type });
  const [from, to] = await inOrder([
    ownAccount(ctx, agent, source.accountId),
    ownAccount(ctx, agent, destination.accountId),
  ]);
  const { inside } = type === 'TRANSFER_OUT' ? from : to;
  if (!inside) {
    const field = type === 'TRANSFER_OUT' ? 'source.accountId' : 'destination.accountId';
    throw invalidField(field, 'must be an internal account');
  }
  const { id: accountId, currency } = inside;
  const asked = { type, accountId, amount: BigInt(amount as number), currency };
  const judged = await judge(ctx, parts, agent, asked);
  if (judged.decision === 'REFUSED') return refuse(ctx, agent, judged, asked);
  const payment = await stage();
  const submission = { type, payment, quote: undefined, signed: false, judged };
  return { status: 201 as const, body: await submit(ctx, parts, agent, submission) };
}

async function ownAction(ctx: Ctx, id: string): Promise<ActionRow> {
  const { agentId } = ctx.caller;
  const row = isId(id, 'AgentAction') ? await ctx.read(agentActions, id) : undefined;
  if (row?.agent_id !== agentId) throw new Fault('NOT_FOUND', 'No such action.');
  return row as ActionRow;
}

/** What an agent asks for, and what became of it. */
export const agentActionOperations = (parts: AgentParts) => [
  handle(agentExecuteQuote, async (ctx, input) => {
    const agent = await ownAgent(ctx);
    const asked = { type: 'EXECUTE_QUOTE', quoteId: idOf(input.params.quoteId) };
    return asking(ctx, agent, asked, () => executeQuote(ctx, parts, agent, input));
  }),
  handle(agentListActions, async (ctx, { query }) => {
    const { limit = 20, cursor, status } = query;
    const agent = await ownAgent(ctx);
    const filters: Filter<typeof agentActions>[] = [
      { column: 'agent_id', op: '=', value: agent.id },
    ];
    if (status !== undefined) filters.push({ column: 'status', op: '=', value: status });
    const choice = { filters, sort: 'desc', limit, cursor } as const;
    const { rows, ...rest } = await ctx.db.page(agentActions, choice);
    const show = async (row: ActionRow) => presentAction(ctx, await wholeAction(ctx, row));
    return { status: 200, body: { data: await Promise.all(rows.map(show)), ...rest } };
  }),
  handle(agentGetAction, async (ctx, { params }) => {
    const whole = await wholeAction(ctx, await ownAction(ctx, params.actionId));
    return { status: 200, body: await presentAction(ctx, whole) };
  }),
  handle(agentCreateTransferOut, async (ctx, { body }) => {
    const agent = await ownAgent(ctx);
    const asked = { type: 'TRANSFER_OUT', ...body } as const;
    const stage = () => stageTransferOut(ctx, parts, body);
    return asking(ctx, agent, named(asked), () => transfer(ctx, parts, agent, asked, stage));
  }),
  handle(agentCreateTransferIn, async (ctx, { body }) => {
    const agent = await ownAgent(ctx);
    const asked = { type: 'TRANSFER_IN', ...body } as const;
    const stage = () => stageTransferIn(ctx, parts, body);
    return asking(ctx, agent, named(asked), () => transfer(ctx, parts, agent, asked, stage));
  }),
];
