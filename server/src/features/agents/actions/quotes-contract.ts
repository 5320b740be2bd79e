// Quotes of an agent for its customer. Execution is a separate action, because the policy is
// evaluated first.
import { operation } from '../../../kernel/contract/operation.ts';
import { createQuote, getQuoteById } from '../../payments/quotes/index.ts';
import { OPERATIONS_TAG as tag } from '../contract.ts';

type JsonBody = Record<string, unknown> | null;

/** Fields of a quote request that only the platform can set. */
const PLATFORM_ONLY = [
  {
    field: 'immediatelyExecute',
    isSent: (body: JsonBody) => body?.immediatelyExecute === true,
    message: 'is not available to agents. Execute the quote with agentExecuteQuote',
  },
  {
    field: 'platformFeeOverride',
    isSent: (body: JsonBody) => body?.platformFeeOverride !== undefined,
    message: 'can only be set by the platform',
  },
];

export const agentCreateQuote = operation({
  operationId: 'agentCreateQuote',
  method: 'POST',
  path: '/agents/me/quotes',
  tag,
  summary: 'Create a quote for the customer',
  description:
    'Prices a payment of the customer. An account that is the source or the destination must ' +
    'belong to the customer. The policy must allow the internal accounts of the payment. ' +
    '`immediatelyExecute` and `platformFeeOverride` are not available. Requires CREATE_QUOTES ' +
    'in the policy. A quote that is funded by a pay-in starts when the funds arrive. Such a ' +
    'quote also requires EXECUTE_QUOTES and a policy that does not require approval.',
  permission: 'TRANSACT',
  auth: 'agent',
  body: createQuote.body,
  bodyRules: (body) => [
    ...(createQuote.bodyRules?.(body) ?? []),
    ...PLATFORM_ONLY.flatMap(({ field, isSent, message }) =>
      isSent(body as JsonBody) ? [{ field, message }] : [],
    ),
  ],
  replies: createQuote.replies,
  errors: [...createQuote.errors, 'FORBIDDEN'],
  money: true,
  callsExternal: true,
  rateClass: 'quotes',
});

export const agentGetQuote = operation({
  operationId: 'agentGetQuote',
  method: 'GET',
  path: '/agents/me/quotes/{quoteId}',
  tag,
  summary: 'Get a quote of the agent',
  description: 'Returns a quote of the agent with its current status.',
  permission: 'VIEW',
  auth: 'agent',
  params: getQuoteById.params,
  replies: getQuoteById.replies,
  errors: [],
  notFound: 'QUOTE_NOT_FOUND',
});
