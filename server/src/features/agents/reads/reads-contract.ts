// What an agent looks at and the accounts it adds. Resources are as the platform sees them; there is no way
// to name a customer, since an agent has one.

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
  summary: 'Get yourself',
  description: 'The agent that asks, with its policy and what it has spent.',
  permission: 'VIEW',
  auth: 'agent',
  replies: { 200: Agent },
  errors: [],
});

const NEEDS_VIEW = 'Needs VIEW_TRANSACTIONS in the policy.';

export const agentListInternalAccounts = operation({
  operationId: 'agentListInternalAccounts',
  method: 'GET',
  path: '/agents/me/internal-accounts',
  tag,
  summary: 'List the accounts you may use',
  description: `Internal accounts of the customer that the policy allows, oldest first. ${NEEDS_VIEW}`,
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
  summary: 'List transactions of the customer, whoever made them',
  description: `Newest first unless asked otherwise. Filters must all match. ${NEEDS_VIEW}`,
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
  description: NEEDS_VIEW,
  permission: 'VIEW',
  auth: 'agent',
  params: getTransactionById.params,
  replies: getTransactionById.replies,
  errors: ['FORBIDDEN'],
  notFound: 'TRANSACTION_NOT_FOUND',
});

const NEEDS_MANAGE = 'Needs MANAGE_EXTERNAL_ACCOUNTS in the policy.';

export const agentListExternalAccounts = operation({
  operationId: 'agentListExternalAccounts',
  method: 'GET',
  path: '/agents/me/external-accounts',
  tag,
  summary: 'List external accounts of the customer',
  description: `Oldest first. ${NEEDS_MANAGE}`,
  permission: 'VIEW',
  auth: 'agent',
  query: Type.Omit(listCustomerExternalAccounts.query, ['customerId']),
  replies: listCustomerExternalAccounts.replies,
  errors: ['FORBIDDEN'],
});

const DEFAULT = 'defaultUmaDepositAccount';

export const agentCreateExternalAccount = operation({
  operationId: 'agentCreateExternalAccount',
  method: 'POST',
  path: '/agents/me/external-accounts',
  tag,
  summary: 'Add an external account of the customer',
  description:
    'It is the account of your customer; a `customerId` in the request means nothing. What comes in for ' +
    `the customer is not yours to redirect, so \`${DEFAULT}\` cannot be true. ${NEEDS_MANAGE}`,
  permission: 'MANAGE',
  auth: 'agent',
  body: createCustomerExternalAccount.body,
  bodyRules: (body) =>
    (body as Record<string, unknown> | null)?.[DEFAULT] === true
      ? [{ field: DEFAULT, message: 'is for the platform to choose' }]
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
  summary: 'Get an external account of the customer',
  description: NEEDS_MANAGE,
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
  summary: 'Delete an external account of the customer',
  description: `${deleteCustomerExternalAccountById.description} ${NEEDS_MANAGE}`,
  permission: 'MANAGE',
  auth: 'agent',
  params: deleteCustomerExternalAccountById.params,
  replies: deleteCustomerExternalAccountById.replies,
  errors: ['FORBIDDEN', 'BENEFICIARY_TRUSTED'],
  notFound: 'ACCOUNT_NOT_FOUND',
});
