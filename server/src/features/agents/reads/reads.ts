// Operations of agents that read resources of their customer or change external accounts. Most are
// served by operations of the platform.

import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { handle } from '../../../runtime/operation/handle.ts';
import { listInternalAccountsOf } from '../../balances/internal-accounts/index.ts';
import {
  createCustomerExternalAccount,
  deleteCustomerExternalAccountById,
  externalAccountFeature,
  externalAccountOf,
  getCustomerExternalAccountById,
  listCustomerExternalAccounts,
} from '../../payees/external-accounts/index.ts';
import {
  anyTransactionOf,
  getTransactionById,
  listTransactions,
  presentationFeature,
} from '../../payments/presentation/index.ts';
import { type AgentDeps, checkAllowed, forbidden, readOwnAgent } from '../deps.ts';
import { agentScoped, platformHandlerOf } from '../policy/agent-scoped.ts';
import { rejection } from '../policy/policy.ts';
import { presentAgent } from '../present.ts';
import type { AgentRow } from '../store.ts';
import { allowedAccountsOf, requireOwnAccount } from './agent-resources.ts';
import {
  agentCreateExternalAccount,
  agentDeleteExternalAccount,
  agentGetExternalAccount,
  agentGetTransaction,
  agentListExternalAccounts,
  agentListInternalAccounts,
  agentListTransactions,
  getAgentMe,
} from './reads-contract.ts';

const REQUIRES_VIEW = { permission: 'VIEW_TRANSACTIONS' } as const;

const transactionReads = () => [
  // Undeclared parameters are passed on, so the IDs of other customers are replaced or omitted.
  agentScoped(
    agentListTransactions,
    platformHandlerOf(presentationFeature.operations(), listTransactions),
    {
      ...REQUIRES_VIEW,
      input: (_, { customer_id: customerId }, { query }) => {
        const { platformCustomerId: _omitted, ...rest } = query as {
          platformCustomerId?: string;
        };
        return { query: { ...rest, customerId } };
      },
    },
  ),
  agentScoped(
    agentGetTransaction,
    platformHandlerOf(presentationFeature.operations(), getTransactionById),
    {
      ...REQUIRES_VIEW,
      input: async (ctx, agent, { params }) => {
        const row = await anyTransactionOf(ctx, params.transactionId);
        if (row.customer_id !== agent.customer_id) {
          throw new Fault('TRANSACTION_NOT_FOUND', 'Transaction not found.');
        }
        return { params };
      },
    },
  ),
];

async function requireOwnExternalAccount(
  ctx: Ctx,
  agent: AgentRow,
  { params }: { params: { externalAccountId: string } },
) {
  await requireOwnAccount(ctx, agent, params.externalAccountId);
  return { params };
}

/** Only the platform may delete the default account for UMA deposits. */
async function requireDeletableExternalAccount(
  ...args: Parameters<typeof requireOwnExternalAccount>
) {
  const result = await requireOwnExternalAccount(...args);
  const account = await externalAccountOf(args[0], result.params.externalAccountId);
  if (account.default_uma) {
    const reason = 'The account is the default for UMA deposits. Only the platform can delete it.';
    throw forbidden(rejection('DEFAULT_DEPOSIT_ACCOUNT', reason));
  }
  return result;
}

const REQUIRES_MANAGE = { permission: 'MANAGE_EXTERNAL_ACCOUNTS' } as const;

function externalAccountOperations(deps: AgentDeps) {
  const platformOperations = externalAccountFeature.operations(deps);
  return [
    agentScoped(
      agentListExternalAccounts,
      platformHandlerOf(platformOperations, listCustomerExternalAccounts),
      {
        ...REQUIRES_MANAGE,
        input: (_, { customer_id: customerId }, { query }) => {
          const { platformCustomerId: _omitted, ...rest } = query as {
            platformCustomerId?: string;
          };
          return { query: { ...rest, customerId } };
        },
      },
    ),
    agentScoped(
      agentCreateExternalAccount,
      platformHandlerOf(platformOperations, createCustomerExternalAccount),
      {
        ...REQUIRES_MANAGE,
        input: (_, { customer_id: customerId }, { body }) => ({ body: { ...body, customerId } }),
        audited: (_, { id: accountId }) => ({ what: 'ACCOUNT_ADDED', accountId }),
      },
    ),
    agentScoped(
      agentGetExternalAccount,
      platformHandlerOf(platformOperations, getCustomerExternalAccountById),
      {
        ...REQUIRES_MANAGE,
        input: requireOwnExternalAccount,
      },
    ),
    agentScoped(
      agentDeleteExternalAccount,
      platformHandlerOf(platformOperations, deleteCustomerExternalAccountById),
      {
        ...REQUIRES_MANAGE,
        input: requireDeletableExternalAccount,
        audited: ({ params }) => ({ what: 'ACCOUNT_DELETED', accountId: params.externalAccountId }),
      },
    ),
  ];
}

export const agentReadOperations = (deps: AgentDeps) => [
  handle(getAgentMe, async (ctx) => ({
    status: 200,
    body: await presentAgent(ctx, deps, await readOwnAgent(ctx)),
  })),
  handle(agentListInternalAccounts, async (ctx, { query }) => {
    const agent = await readOwnAgent(ctx);
    checkAllowed(agent, REQUIRES_VIEW.permission, { reads: true });
    const { customer_id: customerId } = agent;
    return listInternalAccountsOf(ctx, { ...query, customerId }, allowedAccountsOf(agent));
  }),
  ...transactionReads(),
  ...externalAccountOperations(deps),
];
