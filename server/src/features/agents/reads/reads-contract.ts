// Contracts of the operations with which an agent reads resources and creates or deletes external
// accounts. Resources have the same form as for the platform. Requests need no customer ID, because
// an agent acts for exactly one customer.

import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import { listCustomerInternalAccounts } from '../../balances/internal-accounts/index.ts';
import {
  createCustomerExternalAccount,
  deleteCustomerExternalAccountById,
  getCustomerExternalAccountById,
  listCustomerExternalAccounts,
} from '../../payees/external-accounts/index.ts';
import { getTransactionById, listTransactions } from '../../payments/presentation/index.ts';
import { Agent, OPERATIONS_TAG as tag } from '../contract.ts';

export const getAgentMe = operation({
  operationId: 'getAgentMe',
  method: 'GET',
  path: '/agents/me',
  tag,
  summary: 'Get the calling agent',
  description: 'Returns the calling agent with its policy and its usage.',
  permission: 'VIEW',
  auth: 'agent',
  replies: { 200: Agent },
  errors: [],
});

const REQUIRES_VIEW = 'Requires VIEW_TRANSACTIONS in the policy.';

export const agentListInternalAccounts = operation({
  operationId: 'agentListInternalAccounts',
  method: 'GET',
  path: '/agents/me/internal-accounts',
  tag,
  summary: 'List usable internal accounts',
  description:
    'Lists the internal accounts of the customer that the policy allows, oldest first. ' +
    REQUIRES_VIEW,
  permission: 'VIEW',
  auth: 'agent',
  query: Type.Omit(listCustomerInternalAccounts.query, ['customerId']),
  replies: listCustomerInternalAccounts.replies,
  errors: ['FORBIDDEN'],
});

export const agentListTransactions = operation({
  operationId: 'agentListTransactions',
  method: 'GET',
  path: '/agents/me/transactions',
  tag,
  summary: 'List transactions of the customer',
  description:
    'Lists all transactions of the customer, including those that the agent did not create, ' +
    `newest first by default. Filters are combined with AND. ${REQUIRES_VIEW}`,
  permission: 'VIEW',
  auth: 'agent',
  query: Type.Omit(listTransactions.query, ['customerId', 'platformCustomerId']),
  replies: listTransactions.replies,
  errors: ['FORBIDDEN'],
});

export const agentGetTransaction = operation({
  operationId: 'agentGetTransaction',
  method: 'GET',
  path: '/agents/me/transactions/{transactionId}',
  tag,
  summary: 'Get a transaction of the customer',
  description: `Returns one transaction of the customer. ${REQUIRES_VIEW}`,
  permission: 'VIEW',
  auth: 'agent',
  params: getTransactionById.params,
  replies: getTransactionById.replies,
  errors: ['FORBIDDEN'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const REQUIRES_MANAGE = 'Requires MANAGE_EXTERNAL_ACCOUNTS in the policy.';

export const agentListExternalAccounts = operation({
  operationId: 'agentListExternalAccounts',
  method: 'GET',
  path: '/agents/me/external-accounts',
  tag,
  summary: 'List external accounts of the customer',
  description: `Lists the external accounts of the customer, oldest first. ${REQUIRES_MANAGE}`,
  permission: 'VIEW',
  auth: 'agent',
  query: Type.Omit(listCustomerExternalAccounts.query, ['customerId']),
  replies: listCustomerExternalAccounts.replies,
  errors: ['FORBIDDEN'],
});

const DEFAULT_ACCOUNT_FIELD = 'defaultUmaDepositAccount';

export const agentCreateExternalAccount = operation({
  operationId: 'agentCreateExternalAccount',
  method: 'POST',
  path: '/agents/me/external-accounts',
  tag,
  summary: 'Create an external account',
  description:
    'Creates an external account of the customer. A `customerId` in the request is ignored. ' +
    `\`${DEFAULT_ACCOUNT_FIELD}\` cannot be true, because only the platform may redirect ` +
    `pay-ins. ${REQUIRES_MANAGE}`,
  permission: 'MANAGE',
  auth: 'agent',
  body: createCustomerExternalAccount.body,
  bodyRules: (body) =>
    (body as Record<string, unknown> | null)?.[DEFAULT_ACCOUNT_FIELD] === true
      ? [{ field: DEFAULT_ACCOUNT_FIELD, message: 'can only be set by the platform' }]
      : [],
  replies: createCustomerExternalAccount.replies,
  errors: ['INVALID_CURRENCY', 'INVALID_BANK_ACCOUNT', 'FORBIDDEN', 'DUPLICATE_EXTERNAL_ACCOUNT'],
  callsExternal: true,
  sealed: true,
});

export const agentGetExternalAccount = operation({
  operationId: 'agentGetExternalAccount',
  method: 'GET',
  path: '/agents/me/external-accounts/{externalAccountId}',
  tag,
  summary: 'Get an external account',
  description: `Returns one external account of the customer. ${REQUIRES_MANAGE}`,
  permission: 'VIEW',
  auth: 'agent',
  params: getCustomerExternalAccountById.params,
  replies: getCustomerExternalAccountById.replies,
  errors: ['FORBIDDEN'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const agentDeleteExternalAccount = operation({
  operationId: 'agentDeleteExternalAccount',
  method: 'DELETE',
  path: '/agents/me/external-accounts/{externalAccountId}',
  tag,
  summary: 'Delete an external account',
  description:
    `${deleteCustomerExternalAccountById.description} Only the platform can delete the default ` +
    `account for UMA payments. ${REQUIRES_MANAGE}`,
  permission: 'MANAGE',
  auth: 'agent',
  params: deleteCustomerExternalAccountById.params,
  replies: deleteCustomerExternalAccountById.replies,
  errors: ['FORBIDDEN', 'BENEFICIARY_TRUSTED'],
  notFound: 'ACCOUNT_NOT_FOUND',
});
