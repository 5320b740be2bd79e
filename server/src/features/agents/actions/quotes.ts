// Quotes of agents: the platform's own, for the customer of the agent alone.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { lookupOf } from '../../payees/receivers/index.ts';
import {
  createQuote,
  getQuoteById,
  type Quote,
  type QuoteRequest,
  quoteFeature,
} from '../../payments/quotes/index.ts';
import { type AgentParts, checkMay, forbidden, ownAgent, refusalOf } from '../parts.ts';
import { narrowed, type Served, servedBy } from '../policy/narrow.ts';
import { against, PERMISSION_FOR } from '../policy/policy.ts';
import { checkUsable, ownQuote } from '../reads/own.ts';
import type { AgentRow } from '../store.ts';
import { judge, refuse } from './actions.ts';
import { pendingActionOf } from './approvals.ts';
import { agentCreateQuote, agentGetQuote } from './quotes-contract.ts';

type Request = Static<typeof QuoteRequest>;

/** Throws for an end that is an account, of whatever kind, and not the agent's to use. */
async function checkEnd(ctx: Ctx, agent: AgentRow, end: object): Promise<void> {
  if ('accountId' in end) await checkUsable(ctx, agent, end.accountId as string);
}

/** A lookup made for another customer is unknown here; one that the platform made for itself will do. */
async function checkLookup(ctx: Ctx, agent: AgentRow, id: string | undefined): Promise<void> {
  if (id === undefined) return;
  const { customer_id: madeFor } = await lookupOf(ctx, id);
  if (madeFor === null || madeFor === agent.customer_id) return;
  throw new Fault('LOOKUP_REQUEST_NOT_FOUND', 'No such lookup, or it has expired.');
}

/** The request with its customer named. What is paid in for it is paid in for that customer. */
async function ofItsCustomer(ctx: Ctx, agent: AgentRow, request: Request): Promise<Request> {
  const { source, destination, lookupId } = request;
  const { customer_id: customerId } = agent;
  if (source.customerId !== undefined && source.customerId !== customerId) {
    throw new Fault('CUSTOMER_NOT_FOUND', 'No such customer.');
  }
  await checkLookup(ctx, agent, lookupId);
  await checkEnd(ctx, agent, source);
  await checkEnd(ctx, agent, destination);
  return 'accountId' in source ? request : { ...request, source: { ...source, customerId } };
}

const NOBODY_TO_ASK =
  'The policy of the agent has the platform asked, and a payment that is paid in starts by itself.';

/** Throws FORBIDDEN for a payment to be paid in that the policy would not let through by itself. */
async function checkPaidIn(
  ctx: Ctx,
  parts: AgentParts,
  agent: AgentRow,
  { destination, totalSendingAmount, sendingCurrency }: Static<typeof Quote>,
): Promise<void> {
  const id = 'accountId' in destination ? destination.accountId : '';
  const judged = await judge(ctx, parts, agent, {
    type: 'EXECUTE_QUOTE',
    accountId: isId(id, 'InternalAccount') ? id : '',
    amount: BigInt(totalSendingAmount),
    currency: sendingCurrency.code as string,
  });
  if (judged.decision === 'REFUSED') throw forbidden(judged);
  if (judged.decision === 'APPROVAL_REQUIRED') throw forbidden(against(judged.rule, NOBODY_TO_ASK));
}

/**
 * A quote that is paid in starts by itself, so making one is judged as executing it. It is not counted, as
 * it takes nothing that the customer has here.
 */
const judgedWhereItStarts =
  (parts: AgentParts, create: Served<typeof createQuote>): Served<typeof createQuote> =>
  async (ctx, input) => {
    if (!input.body || 'accountId' in input.body.source) return create(ctx, input);
    const type = 'EXECUTE_QUOTE';
    const agent = await ownAgent(ctx);
    // What it comes to is known once it is priced; a quote that is refused is not made after all.
    const outcome = await ctx.attempt(async () => {
      checkMay(agent, PERMISSION_FOR[type]);
      const made = await create(ctx, input);
      if (!('refused' in made)) await checkPaidIn(ctx, parts, agent, made.body);
      return made;
    });
    if (!(outcome instanceof Fault)) return outcome;
    const no = refusalOf(outcome);
    if (!no) throw outcome;
    return refuse(ctx, agent, no, { type });
  };

export function agentQuoteOperations(parts: AgentParts) {
  const platform = quoteFeature.operations({ ...parts, pendingActionOf });
  const create = judgedWhereItStarts(parts, servedBy(platform, createQuote));
  return [
    narrowed(agentCreateQuote, create, {
      permission: 'CREATE_QUOTES',
      input: async (ctx, agent, { body }) => ({ body: await ofItsCustomer(ctx, agent, body) }),
      noted: (_, { id: quoteId }) => ({ what: 'QUOTE_CREATED', quoteId }),
    }),
    narrowed(agentGetQuote, servedBy(platform, getQuoteById), {
      input: async (ctx, agent, { params }) => {
        await ownQuote(ctx, agent, params.quoteId);
        return { params };
      },
    }),
  ];
}
