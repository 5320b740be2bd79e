// An operation of agents made out of the platform's: the same function serves both, once the request of an
// agent is narrowed to its customer. Nothing that an agent may ask for is built twice.
import type {
  Answered,
  Bound,
  Contract,
  Input,
  Refused,
} from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type Happening, note } from '../audit.ts';
import { checkMay, forbidden, ownAgent, refusalOf } from '../parts.ts';
import { type AgentRow, agents } from '../store.ts';
import type { AgentPermission } from './policy.ts';

export type Served<P extends Contract> = (
  ctx: Ctx,
  input: Partial<Input<P>>,
) => Promise<{ status: number; body: Answered<P> } | Refused>;

/** The function that serves the platform's operation. */
export function servedBy<P extends Contract>(
  operations: readonly Bound<Ctx>[],
  contract: P,
): Served<P> {
  const found = operations.find((each) => each.contract === contract);
  if (!found) throw new Error(`${contract.operationId} is not among these operations`);
  return found.run as Served<P>;
}

interface Narrowing<C extends Contract, P extends Contract> {
  /** What the policy must have; absent: nothing. */
  permission?: AgentPermission;
  /**
   * The request as its platform would have made it. Throws for what is not its customer's. Stages nothing.
   */
  input(ctx: Ctx, agent: AgentRow, input: Input<C>): Partial<Input<P>> | Promise<Partial<Input<P>>>;
  /** What is written down once it is done. */
  noted?(input: Input<C>, body: Answered<P>): { what: Happening; [detail: string]: unknown };
}

/**
 * An agent's operation that `serve` answers. A paused agent may look and do nothing else. What it may not do
 * is refused and written down; what it may not see is only refused.
 */
export function narrowed<C extends Contract, P extends Contract>(
  contract: C,
  serve: Served<P>,
  { permission, input: narrow, noted }: Narrowing<C, P>,
): Bound<Ctx> {
  const { method, operationId } = contract;
  const reads = method === 'GET';
  return {
    contract,
    async run(ctx, given) {
      const input = given as Input<C>;
      const agent = await ownAgent(ctx);
      let passed: Partial<Input<P>>;
      try {
        checkMay(agent, permission, { reads });
        passed = await narrow(ctx, agent, input);
      } catch (error) {
        const no = reads ? undefined : refusalOf(error);
        if (!no) throw error;
        note(ctx, agent, 'ACTION_REFUSED', { operationId, rule: no.rule });
        return { refused: forbidden(no) };
      }
      // A policy that changes meanwhile is asked again.
      if (!reads) ctx.require(agents, agent);
      const outcome = await serve(ctx, passed);
      if (noted && !('refused' in outcome)) {
        const { what, ...details } = noted(input, outcome.body);
        note(ctx, agent, what, details);
      }
      return outcome;
    },
  };
}
