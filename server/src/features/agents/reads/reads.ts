// What an agent looks at, and the external accounts of its customer: served by what serves the platform.

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
import { type AgentParts, checkMay, forbidden, ownAgent } from '../parts.ts';
import { narrowed, servedBy } from '../policy/narrow.ts';
import { against } from '../policy/policy.ts';
import { presentAgent } from '../present.ts';
import type { AgentRow } from '../store.ts';
import { allowedAccounts, ownAccount } from './own.ts';
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

const VIEW = { permission: 'VIEW_TRANSACTIONS' } as const;

const transactionReads = () => [
  // Parameters that the contract does not have are let through, so one that names a customer is overruled.
  narrowed(agentListTransactions, servedBy(presentationFeature.operations(), listTransactions), {
    ...VIEW,
    input: (_, { customer_id: customerId }, { query }) => {
      const { platformCustomerId: _overruled, ...rest } = query as { platformCustomerId?: string };
      return { query: { ...rest, customerId } };
    },
  }),
  narrowed(agentGetTransaction, servedBy(presentationFeature.operations(), getTransactionById), {
    ...VIEW,
    input: async (ctx, agent, { params }) => {
      const row = await anyTransactionOf(ctx, params.transactionId);
      if (row.customer_id !== agent.customer_id) {
        throw new Fault('TRANSACTION_NOT_FOUND', 'No such transaction.');
      }
      return { params };
    },
  }),
];

async function ownOutside(
  ctx: Ctx,
  agent: AgentRow,
  { params }: { params: { externalAccountId: string } },
) {
  await ownAccount(ctx, agent, params.externalAccountId);
  return { params };
}

/** The account that payments come in to is chosen by the platform, and taken away by it. */
async function ownAndPlain(...given: Parameters<typeof ownOutside>) {
  const passed = await ownOutside(...given);
  const account = await externalAccountOf(given[0], passed.params.externalAccountId);
  if (account.default_uma) {
    const reason = 'The account is where UMA payments come in.';
    throw forbidden(against('DEFAULT_DEPOSIT_ACCOUNT', reason));
  }
  return passed;
}

const MANAGE = { permission: 'MANAGE_EXTERNAL_ACCOUNTS' } as const;

function externalAccounts(parts: AgentParts) {
  const platform = externalAccountFeature.operations(parts);
  return [
    narrowed(agentListExternalAccounts, servedBy(platform, listCustomerExternalAccounts), {
      ...MANAGE,
      input: (_, { customer_id: customerId }, { query }) => {
        const { platformCustomerId: _overruled, ...rest } = query as {
          platformCustomerId?: string;
        };
        return { query: { ...rest, customerId } };
      },
    }),
    narrowed(agentCreateExternalAccount, servedBy(platform, createCustomerExternalAccount), {
      ...MANAGE,
      input: (_, { customer_id: customerId }, { body }) => ({ body: { ...body, customerId } }),
      noted: (_, { id: accountId }) => ({ what: 'ACCOUNT_ADDED', accountId }),
    }),
    narrowed(agentGetExternalAccount, servedBy(platform, getCustomerExternalAccountById), {
      ...MANAGE,
      input: ownOutside,
    }),
    narrowed(agentDeleteExternalAccount, servedBy(platform, deleteCustomerExternalAccountById), {
      ...MANAGE,
      input: ownAndPlain,
      noted: ({ params }) => ({ what: 'ACCOUNT_DELETED', accountId: params.externalAccountId }),
    }),
  ];
}

export const agentReadOperations = (parts: AgentParts) => [
  handle(getAgentMe, async (ctx) => ({
    status: 200,
    body: await presentAgent(ctx, parts, await ownAgent(ctx)),
  })),
  handle(agentListInternalAccounts, async (ctx, { query }) => {
    const agent = await ownAgent(ctx);
    checkMay(agent, VIEW.permission, { reads: true });
    const { customer_id: customerId } = agent;
    return listInternalAccountsOf(ctx, { ...query, customerId }, allowedAccounts(agent));
  }),
  ...transactionReads(),
  ...externalAccounts(parts),
];
