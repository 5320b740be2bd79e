// The prices that an agent asks for, for its customer. Paying is an action of its own, because the policy
// has its say first.
import { operation } from '../../../kernel/contract/operation.ts';
import { createQuote, getQuoteById } from '../../payments/quotes/index.ts';
import { OPERATIONS_TAG as tag } from '../contract.ts';

type Sent = Record<string, unknown> | null;

/** What of a request for a quote is the platform's to ask, and why. */
const NOT_FOR_AGENTS = [
  {
    field: 'immediatelyExecute',
    isSent: (body: Sent) => body?.immediatelyExecute === true,
    message: 'is not for agents, which execute a quote as an action of its own',
  },
  {
    field: 'platformFeeOverride',
    isSent: (body: Sent) => body?.platformFeeOverride !== undefined,
    message: 'is for the platform to set',
  },
];

export const agentCreateQuote = operation({
  operationId: 'agentCreateQuote',
  method: 'POST',
  path: '/agents/me/quotes',
  tag,
  summary: 'Create a quote for the customer',
  description:
    'Both accounts are of your customer, and an internal one is among those that the policy allows. ' +
    '`immediatelyExecute` and `platformFeeOverride` are not for agents. Needs CREATE_QUOTES in the policy. ' +
    'A quote that is paid in starts by itself: it needs EXECUTE_QUOTES as well, and a policy that would ' +
    'let it through without asking.',
  permission: 'TRANSACT',
  auth: 'agent',
  body: createQuote.body,
  bodyRules: (body) => [
    ...(createQuote.bodyRules?.(body) ?? []),
    ...NOT_FOR_AGENTS.flatMap(({ field, isSent, message }) =>
      isSent(body as Sent) ? [{ field, message }] : [],
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
  summary: 'Get a quote that you made',
  permission: 'VIEW',
  auth: 'agent',
  params: getQuoteById.params,
  replies: getQuoteById.replies,
  errors: [],
  notFound: 'QUOTE_NOT_FOUND',
});
