// Internal accounts as the API shows them, and the operations that read them. There is none that opens
// one: accounts come with the platform's currencies and with its customers.
import { Type } from '@sinclair/typebox';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  CurrencyAmount,
  described,
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
} from '../../../kernel/schema.ts';
import { INTERNAL_ACCOUNT_STATUSES } from './states.ts';
import { INTERNAL_ACCOUNT_TYPES } from './store.ts';

const InternalAccountType = named(
  'InternalAccountType',
  oneOf(INTERNAL_ACCOUNT_TYPES, {
    description:
      'INTERNAL_FIAT and INTERNAL_CRYPTO are balances that the service keeps; EMBEDDED_WALLET is a ' +
      'wallet of the customer, whose debits the customer signs.',
  }),
);

const InternalAccountStatus = named(
  'InternalAccountStatus',
  oneOf(INTERNAL_ACCOUNT_STATUSES, { description: 'Only an ACTIVE account can move money.' }),
);

export const InternalAccount = named(
  'InternalAccount',
  Type.Object(
    {
      id: Type.String({ description: 'InternalAccount:<uuid>' }),
      customerId: Type.Optional(
        Type.String({ description: 'Whose account it is; absent on accounts of the platform.' }),
      ),
      type: InternalAccountType,
      status: InternalAccountStatus,
      balance: described(CurrencyAmount, 'What can be spent now.'),
      totalBalance: described(
        CurrencyAmount,
        'Everything in the account, with what is set aside for payments under way.',
      ),
      fundingPaymentInstructions: Type.Array(PaymentInstructions, {
        description: 'Where to pay money in; empty where this currency cannot be paid in.',
      }),
      privateEnabled: Type.Optional(
        Type.Boolean({ description: 'Whether an embedded wallet hides its transactions.' }),
      ),
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    { description: 'A balance in one currency, of a customer or of the platform.' },
  ),
);

const TAG = 'Internal Accounts';
const List = named('InternalAccountListResponse', page(InternalAccount));

const currency = Type.Optional(Type.String({ description: 'Only accounts in this currency.' }));
const type = Type.Optional(described(InternalAccountType, 'Only accounts of this type.'));
const customerId = Type.Optional(Type.String({ description: 'Only accounts of this customer.' }));

export const listCustomerInternalAccounts = operation({
  operationId: 'listCustomerInternalAccounts',
  method: 'GET',
  path: '/customers/internal-accounts',
  tag: TAG,
  summary: 'List accounts of customers',
  description: 'Accounts of every customer of the platform, or of one, oldest first.',
  permission: 'VIEW',
  query: Type.Object({ currency, customerId, type, ...PageQuery }),
  replies: { 200: List },
  errors: [],
});

export const listInternalAccounts = operation({
  operationId: 'listInternalAccounts',
  method: 'GET',
  path: '/internal-accounts',
  tag: TAG,
  summary: 'List accounts of customers, by an older path',
  description: 'Answers like `/customers/internal-accounts`; kept for clients that still call it.',
  permission: 'VIEW',
  deprecated: true,
  query: Type.Object({ currency, customerId, type, ...PageQuery }),
  replies: { 200: List },
  errors: [],
});

export const listPlatformInternalAccounts = operation({
  operationId: 'listPlatformInternalAccounts',
  method: 'GET',
  path: '/platform/internal-accounts',
  tag: TAG,
  summary: 'List accounts of the platform',
  description: 'The accounts of the platform itself, all in one list.',
  permission: 'VIEW',
  query: Type.Object({ currency, type }),
  replies: {
    200: named(
      'PlatformInternalAccountListResponse',
      Type.Object({ data: Type.Array(InternalAccount, { description: 'The accounts.' }) }),
    ),
  },
  errors: [],
});

export const getInternalAccountById = operation({
  operationId: 'getInternalAccountById',
  method: 'GET',
  path: '/internal-accounts/{id}',
  tag: TAG,
  summary: 'Get an internal account',
  description: 'An account of a customer or of the platform itself.',
  permission: 'VIEW',
  params: Type.Object({ id: Type.String({ description: 'Id of the internal account.' }) }),
  replies: { 200: InternalAccount },
  errors: [],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const balanceUpdated = defineEvent('INTERNAL_ACCOUNT.BALANCE_UPDATED', InternalAccount);
export const statusUpdated = defineEvent('INTERNAL_ACCOUNT.STATUS_UPDATED', InternalAccount);
export const fundingInstructionsUpdated = defineEvent(
  'INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED',
  InternalAccount,
);

export const internalAccountWebhooks: readonly WebhookContract[] = [
  {
    name: 'internal-account-status',
    summary: 'An internal account changed',
    description:
      'Sent for every change of the balance, of the status, or of where to pay money in.',
    events: [balanceUpdated, statusUpdated, fundingInstructionsUpdated],
  },
];
