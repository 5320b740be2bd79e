// Quotes of agents, created by the operations of the platform and scoped to the customer of the
// agent.
import type { Static } from '@sinclair/typebox';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { payeeDiscoveryOf } from '../../payees/receivers/index.ts';
import {
  createQuote,
  getQuoteById,
  type Quote,
  type QuoteRequest,
  quoteFeature,
} from '../../payments/quotes/index.ts';
import { type AgentDeps, checkAllowed, forbidden, readOwnAgent, rejectionOf } from '../deps.ts';
import { agentScoped, type PlatformHandler, platformHandlerOf } from '../policy/agent-scoped.ts';
import { PERMISSION_FOR, rejection } from '../policy/policy.ts';
import { checkUsable, requireOwnQuote } from '../reads/agent-resources.ts';
import type { AgentRow } from '../store.ts';
import { evaluateSpending, rejectByPolicy } from './actions.ts';
import { pendingActionOf } from './approvals.ts';
import { agentCreateQuote, agentGetQuote } from './quotes-contract.ts';

type Request = Static<typeof QuoteRequest>;

/** Throws for an account that the agent may not use. */
async function checkAccount(ctx: Ctx, agent: AgentRow, party: object): Promise<void> {
  if ('accountId' in party) await checkUsable(ctx, agent, party.accountId as string);
}

/**
 * Throws for a payee discovery of another customer. Payee discoveries of the platform are accepted.
 */
async function checkPayeeDiscovery(
  ctx: Ctx,
  agent: AgentRow,
  id: string | undefined,
): Promise<void> {
  if (id === undefined) return;
  const { customer_id: discoveryCustomerId } = await payeeDiscoveryOf(ctx, id);
  if (discoveryCustomerId === null || discoveryCustomerId === agent.customer_id) return;
  throw new Fault(
    'LOOKUP_REQUEST_NOT_FOUND',
    'Payee discovery not found or expired. Request a new payee discovery.',
  );
}

/**
 * The request, with the customer of the agent as the customer of a source without an account.
 * Throws for resources of other customers.
 */
async function restrictToOwnCustomer(
  ctx: Ctx,
  agent: AgentRow,
  request: Request,
): Promise<Request> {
  const { source, destination, lookupId } = request;
  const { customer_id: customerId } = agent;
  if (source.customerId !== undefined && source.customerId !== customerId) {
    throw new Fault('CUSTOMER_NOT_FOUND', 'Customer not found.');
  }
  await checkPayeeDiscovery(ctx, agent, lookupId);
  await checkAccount(ctx, agent, source);
  await checkAccount(ctx, agent, destination);
  return 'accountId' in source ? request : { ...request, source: { ...source, customerId } };
}

const APPROVAL_NOT_POSSIBLE =
  'The policy of the agent requires approval, but a payment funded by a pay-in starts without ' +
  'approval. Use an internal account as the source.';

/**
 * Throws FORBIDDEN for a payment funded by a pay-in unless the policy allows it without approval.
 */
async function checkPayInFunded(
  ctx: Ctx,
  deps: AgentDeps,
  agent: AgentRow,
  { destination, totalSendingAmount, sendingCurrency }: Static<typeof Quote>,
): Promise<void> {
  const id = 'accountId' in destination ? destination.accountId : '';
  const evaluation = await evaluateSpending(ctx, deps, agent, {
    type: 'EXECUTE_QUOTE',
    accountId: isId(id, 'InternalAccount') ? id : '',
    amount: BigInt(totalSendingAmount),
    currency: sendingCurrency.code as string,
  });
  if (evaluation.decision === 'REJECTED') throw forbidden(evaluation);
  if (evaluation.decision === 'APPROVAL_REQUIRED')
    throw forbidden(rejection(evaluation.rule, APPROVAL_NOT_POSSIBLE));
}

/**
 * A quote funded by a pay-in starts when the funds arrive. The policy therefore evaluates its
 * creation like an execution. The payment is not counted against the limits, because it debits no
 * internal account.
 */
const evaluatePayInFundedQuote =
  (
    deps: AgentDeps,
    create: PlatformHandler<typeof createQuote>,
  ): PlatformHandler<typeof createQuote> =>
  async (ctx, input) => {
    if (!input.body || 'accountId' in input.body.source) return create(ctx, input);
    const type = 'EXECUTE_QUOTE';
    const agent = await readOwnAgent(ctx);
    // The amount is known after pricing. A rejection discards the staged quote.
    const outcome = await ctx.attempt(async () => {
      checkAllowed(agent, PERMISSION_FOR[type]);
      const quote = await create(ctx, input);
      if (!('rejected' in quote)) await checkPayInFunded(ctx, deps, agent, quote.body);
      return quote;
    });
    if (!(outcome instanceof Fault)) return outcome;
    const rejection = rejectionOf(outcome);
    if (!rejection) throw outcome;
    return rejectByPolicy(ctx, agent, rejection, { type });
  };

export function agentQuoteOperations(deps: AgentDeps) {
  const platformOperations = quoteFeature.operations({ ...deps, pendingActionOf });
  const create = evaluatePayInFundedQuote(deps, platformHandlerOf(platformOperations, createQuote));
  return [
    agentScoped(agentCreateQuote, create, {
      permission: 'CREATE_QUOTES',
      input: async (ctx, agent, { body }) => ({
        body: await restrictToOwnCustomer(ctx, agent, body),
      }),
      audited: (_, { id: quoteId }) => ({ what: 'QUOTE_CREATED', quoteId }),
    }),
    agentScoped(agentGetQuote, platformHandlerOf(platformOperations, getQuoteById), {
      input: async (ctx, agent, { params }) => {
        await requireOwnQuote(ctx, agent, params.quoteId);
        return { params };
      },
    }),
  ];
}
