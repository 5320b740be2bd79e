// Agent operations that are served by operations of the platform, after the request of the agent is
// scoped to its customer.
import type {
  Bound,
  Contract,
  Input,
  Rejected,
  ResponseBody,
} from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type AuditEvent, recordAudit } from '../audit.ts';
import { checkAllowed, forbidden, readOwnAgent, rejectionOf } from '../deps.ts';
import { type AgentRow, agents } from '../store.ts';
import type { AgentPermission } from './policy.ts';

export type PlatformHandler<P extends Contract> = (
  ctx: Ctx,
  input: Partial<Input<P>>,
) => Promise<{ status: number; body: ResponseBody<P> } | Rejected>;

/** The function that serves the operation of the platform. */
export function platformHandlerOf<P extends Contract>(
  operations: readonly Bound<Ctx>[],
  contract: P,
): PlatformHandler<P> {
  const operation = operations.find((each) => each.contract === contract);
  if (!operation) throw new Error(`${contract.operationId} is not among these operations`);
  return operation.run as PlatformHandler<P>;
}

interface AgentScope<C extends Contract, P extends Contract> {
  /** Required permission of the policy. Absent for none. */
  permission?: AgentPermission;
  /**
   * The request as the platform would send it. Throws for resources of other customers. Stages no
   * rows.
   */
  input(ctx: Ctx, agent: AgentRow, input: Input<C>): Partial<Input<P>> | Promise<Partial<Input<P>>>;
  /** Audit entry of a successful call. */
  audited?(input: Input<C>, body: ResponseBody<P>): { what: AuditEvent; [detail: string]: unknown };
}

/**
 * An agent operation served by `serve`. A paused agent may only read. The audit records writes that
 * the policy rejects, and omits reads.
 */
export function agentScoped<C extends Contract, P extends Contract>(
  contract: C,
  serve: PlatformHandler<P>,
  { permission, input: scope, audited }: AgentScope<C, P>,
): Bound<Ctx> {
  const { method, operationId } = contract;
  const isRead = method === 'GET';
  return {
    contract,
    async run(ctx, request) {
      const input = request as Input<C>;
      const agent = await readOwnAgent(ctx);
      let scopedRequest: Partial<Input<P>>;
      try {
        checkAllowed(agent, permission, { reads: isRead });
        scopedRequest = await scope(ctx, agent, input);
      } catch (error) {
        const rejection = isRead ? undefined : rejectionOf(error);
        if (!rejection) throw error;
        recordAudit(ctx, agent, 'ACTION_REFUSED', { operationId, rule: rejection.rule });
        return { rejected: forbidden(rejection) };
      }
      // A concurrent change of the policy retries the operation.
      if (!isRead) ctx.require(agents, agent);
      const outcome = await serve(ctx, scopedRequest);
      if (audited && !('rejected' in outcome)) {
        const { what, ...details } = audited(input, outcome.body);
        recordAudit(ctx, agent, what, details);
      }
      return outcome;
    },
  };
}
