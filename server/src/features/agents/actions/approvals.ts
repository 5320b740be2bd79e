// A platform's word on what its agents ask for: by the action, or by the transaction that waits with it.

import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { ALL_OF_ONE, type Filter } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { PaymentRow } from '../../payments/transactions/index.ts';
import type { AgentParts } from '../parts.ts';
import { type ActionRow, type AgentRow, agentActions } from '../store.ts';
import { approve, reject } from './actions.ts';
import { approveAgentAction, listAgentApprovals, rejectAgentAction } from './actions-contract.ts';
import { presentAction, type WholeAction, wholeAction } from './present-action.ts';

/** An action of an agent of the calling platform. */
async function actionOf(
  ctx: Ctx,
  { agentId, actionId }: { agentId: string; actionId: string },
): Promise<WholeAction> {
  const row = isId(actionId, 'AgentAction') ? await ctx.read(agentActions, actionId) : undefined;
  if (!row || row.platform_id !== ctx.caller.platformId || row.agent_id !== agentId) {
    throw new Fault('NOT_FOUND', 'No such action.');
  }
  return wholeAction(ctx, row);
}

export const agentApprovalOperations = (parts: AgentParts) => [
  handle(listAgentApprovals, async (ctx, { query }) => {
    const { limit = 20, cursor, sortOrder: sort = 'desc', startDate, endDate } = query;
    const filters: Filter<typeof agentActions>[] = [
      { column: 'platform_id', op: '=', value: ctx.caller.platformId },
      { column: 'status', op: '=', value: 'PENDING_APPROVAL' },
    ];
    const equal = (column: 'agent_id' | 'customer_id', value: string | undefined) => {
      if (value !== undefined) filters.push({ column, op: '=', value });
    };
    equal('agent_id', query.agentId);
    equal('customer_id', query.customerId);
    const bound = (op: '>=' | '<=', text: string | undefined) => {
      if (text !== undefined) filters.push({ column: 'created_at', op, value: Date.parse(text) });
    };
    bound('>=', startDate);
    bound('<=', endDate);
    const { rows, ...rest } = await ctx.db.page(agentActions, { filters, sort, limit, cursor });
    const show = async (row: ActionRow) => presentAction(ctx, await wholeAction(ctx, row));
    return { status: 200, body: { data: await Promise.all(rows.map(show)), ...rest } };
  }),
  handle(approveAgentAction, async (ctx, { params }) => {
    const decided = await approve(ctx, parts, await actionOf(ctx, params));
    return { status: 200, body: await presentAction(ctx, decided) };
  }),
  handle(rejectAgentAction, async (ctx, { params, body }) => {
    const decided = reject(ctx, await actionOf(ctx, params), body.reason);
    return { status: 200, body: await presentAction(ctx, decided) };
  }),
];

const LONGEST_REASON = 255;

const UNBEGUN: readonly string[] = ['PENDING', 'EXPIRED'];

const notDone = ({ message }: Fault) =>
  new Fault(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    `What the agent asked for cannot be done any more: ${message}`,
  );

/** The id of the action that waits for approval of this payment. */
export async function pendingActionOf(
  ctx: Ctx,
  transactionId: string,
): Promise<string | undefined> {
  const waiting = { transaction_id: transactionId, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, waiting);
  return action?.id;
}

/** The platform's word on a transaction that waits with an action; undefined where none does. */
export const waitingAction = (parts: AgentParts) => async (ctx: Ctx, payment: PaymentRow) => {
  // What has begun is not waited for any more, however that came; what ran out still is.
  if (payment.agent_id === null || !UNBEGUN.includes(payment.status)) return undefined;
  const waiting = { transaction_id: payment.id, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, waiting);
  if (!action) return undefined;
  const whole = await wholeAction(ctx, action);
  return {
    async approve() {
      const { failure, payment: now } = await approve(ctx, parts, whole);
      // The transaction would look as if nobody had said anything: of a quote there may be another action.
      if (failure && now.status === 'PENDING') return { refused: notDone(failure) };
      return now;
    },
    reject: (reason: string | undefined) => {
      if (reason !== undefined && [...reason].length > LONGEST_REASON) {
        throw invalidField('reason', `must have at most ${LONGEST_REASON} characters`);
      }
      return reject(ctx, whole, reason).payment;
    },
  };
};

/** Stages that what the agent has waiting is rejected: for one that is deleted. */
export async function rejectWaiting(ctx: Ctx, agent: AgentRow, reason: string): Promise<void> {
  const waiting = { agent_id: agent.id, status: 'PENDING_APPROVAL' } as const;
  const rows = await ctx.db.find(agentActions, waiting, ALL_OF_ONE);
  const all = await Promise.all(rows.map((row) => wholeAction(ctx, row)));
  for (const each of all) reject(ctx, each, reason);
}
