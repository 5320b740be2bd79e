// Append-only audit of agents: actions, decisions and changes, with their actors.
import type { Ctx } from '../../runtime/operation/context.ts';
import { type ActionRow, type AgentRow, agentAudit } from './store.ts';

export type AuditEvent =
  | 'CREATED'
  | 'CHANGED'
  | 'POLICY_CHANGED'
  | 'CODE_ISSUED'
  | 'CONNECTED'
  | 'DELETED'
  | 'QUOTE_CREATED'
  | 'ACCOUNT_ADDED'
  | 'ACCOUNT_DELETED'
  | 'ACTION_EXECUTED'
  | 'ACTION_SUBMITTED'
  | 'ACTION_REFUSED'
  | 'ACTION_APPROVED'
  | 'ACTION_REJECTED'
  | 'ACTION_FAILED';

/** Actor of an audit entry: an agent, an API token, or the operator. */
const actorOf = ({ caller }: Ctx): string => caller.agentId ?? caller.tokenId ?? 'operator';

/** Stages an audit entry. */
export function recordAudit(
  ctx: Ctx,
  agent: Pick<AgentRow, 'id' | 'platform_id' | 'customer_id'>,
  type: AuditEvent,
  {
    action,
    actor = actorOf(ctx),
    ...details
  }: { action?: Pick<ActionRow, 'id'>; actor?: string; [detail: string]: unknown } = {},
): void {
  ctx.insert(agentAudit, {
    id: ctx.id('AgentAudit'),
    platform_id: agent.platform_id,
    customer_id: agent.customer_id,
    agent_id: agent.id,
    action_id: action?.id,
    what: type,
    actor,
    details,
    created_at: ctx.now,
  });
}
