// Approval of agent actions by the platform, through the action or through its transaction.

import { Fault, invalidField } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Filter, UNPAGED } from '../../../runtime/db/database.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import type { PaymentRow } from '../../payments/transactions/index.ts';
import type { AgentDeps } from '../deps.ts';
import { type ActionRow, type AgentRow, agentActions } from '../store.ts';
import { approve, reject } from './actions.ts';
import { approveAgentAction, listAgentApprovals, rejectAgentAction } from './actions-contract.ts';
import { type ActionWithContext, loadAction, presentAction } from './present-action.ts';

/** An action of an agent of the calling platform. Throws NOT_FOUND. */
async function actionOf(
  ctx: Ctx,
  { agentId, actionId }: { agentId: string; actionId: string },
): Promise<ActionWithContext> {
  const row = isId(actionId, 'AgentAction') ? await ctx.read(agentActions, actionId) : undefined;
  if (!row || row.platform_id !== ctx.caller.platformId || row.agent_id !== agentId) {
    throw new Fault('NOT_FOUND', 'Action not found.');
  }
  return loadAction(ctx, row);
}

export const agentApprovalOperations = (deps: AgentDeps) => [
  handle(listAgentApprovals, async (ctx, { query }) => {
    const { limit = 20, cursor, sortOrder: sort = 'desc', startDate, endDate } = query;
    const filters: Filter<typeof agentActions>[] = [
      { column: 'platform_id', op: '=', value: ctx.caller.platformId },
      { column: 'status', op: '=', value: 'PENDING_APPROVAL' },
    ];
    const addEqualFilter = (column: 'agent_id' | 'customer_id', value: string | undefined) => {
      if (value !== undefined) filters.push({ column, op: '=', value });
    };
    addEqualFilter('agent_id', query.agentId);
    addEqualFilter('customer_id', query.customerId);
    const addTimeBound = (op: '>=' | '<=', text: string | undefined) => {
      if (text !== undefined) filters.push({ column: 'created_at', op, value: Date.parse(text) });
    };
    addTimeBound('>=', startDate);
    addTimeBound('<=', endDate);
    const { rows, ...rest } = await ctx.db.page(agentActions, { filters, sort, limit, cursor });
    const show = async (row: ActionRow) => presentAction(ctx, await loadAction(ctx, row));
    return { status: 200, body: { data: await Promise.all(rows.map(show)), ...rest } };
  }),
  handle(approveAgentAction, async (ctx, { params }) => {
    const decidedAction = await approve(ctx, deps, await actionOf(ctx, params));
    return { status: 200, body: await presentAction(ctx, decidedAction) };
  }),
  handle(rejectAgentAction, async (ctx, { params, body }) => {
    const decidedAction = reject(ctx, await actionOf(ctx, params), body.reason);
    return { status: 200, body: await presentAction(ctx, decidedAction) };
  }),
];

const MAX_REASON_LENGTH = 255;

const NOT_STARTED_STATUSES: readonly string[] = ['PENDING', 'EXPIRED'];

const approvalConflict = ({ message }: Fault) =>
  new Fault(
    'TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL',
    `The action of the agent is no longer possible: ${message}`,
  );

/** The ID of the pending action of this payment. */
export async function pendingActionOf(
  ctx: Ctx,
  transactionId: string,
): Promise<string | undefined> {
  const pendingFilter = { transaction_id: transactionId, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, pendingFilter);
  return action?.id;
}

/**
 * Functions that decide the pending action of a transaction, or undefined if no action is pending.
 */
export const decidePendingAction = (deps: AgentDeps) => async (ctx: Ctx, payment: PaymentRow) => {
  // A payment that has started has no pending action. An expired payment can still have a pending
  // action.
  if (payment.agent_id === null || !NOT_STARTED_STATUSES.includes(payment.status)) return undefined;
  const pendingFilter = { transaction_id: payment.id, status: 'PENDING_APPROVAL' } as const;
  const [action] = await ctx.db.find(agentActions, pendingFilter);
  if (!action) return undefined;
  const fullAction = await loadAction(ctx, action);
  return {
    async approve() {
      const { failure, payment: updatedPayment } = await approve(ctx, deps, fullAction);
      // The payment of a quote remains PENDING for another action, so the rejection must be
      // returned.
      if (failure && updatedPayment.status === 'PENDING')
        return { rejected: approvalConflict(failure) };
      return updatedPayment;
    },
    reject: (reason: string | undefined) => {
      if (reason !== undefined && [...reason].length > MAX_REASON_LENGTH) {
        throw invalidField('reason', `must have at most ${MAX_REASON_LENGTH} characters`);
      }
      return reject(ctx, fullAction, reason).payment;
    },
  };
};

/** Rejects all pending actions of a deleted agent. */
export async function rejectPendingActions(
  ctx: Ctx,
  agent: AgentRow,
  reason: string,
): Promise<void> {
  const pendingFilter = { agent_id: agent.id, status: 'PENDING_APPROVAL' } as const;
  const rows = await ctx.db.find(agentActions, pendingFilter, UNPAGED);
  const pendingActions = await Promise.all(rows.map((row) => loadAction(ctx, row)));
  for (const pendingAction of pendingActions) reject(ctx, pendingAction, reason);
}
