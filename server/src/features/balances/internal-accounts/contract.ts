// Schemas of internal accounts, and the operations that read them. Accounts are opened
// automatically for the currencies of the platform and its customers.
import { Type } from '@sinclair/typebox';
import { PaymentInstructions } from '../../../catalog/rails/payment-instructions.ts';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  CurrencyAmount,
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  withDescription,
} from '../../../kernel/schema.ts';
import { INTERNAL_ACCOUNT_STATUSES } from './states.ts';
import { INTERNAL_ACCOUNT_TYPES } from './store.ts';

const InternalAccountType = named(
  'InternalAccountType',
  oneOf(INTERNAL_ACCOUNT_TYPES, {
    description:
      'INTERNAL_FIAT: a fiat balance held by the service. INTERNAL_CRYPTO: a ' +
      'digital asset balance held by the service. EMBEDDED_WALLET: a self-custodial ' +
      'wallet of the customer. Each debit requires a signature.',
  }),
);

const InternalAccountStatus = named(
  'InternalAccountStatus',
  oneOf(INTERNAL_ACCOUNT_STATUSES, {
    description:
      'PENDING: being provisioned. ACTIVE: can send and receive funds. CLOSED: ' +
      'permanently closed. FROZEN: new payments are rejected and deposits are held. ' +
      'FAILED: provisioning failed. The operator retries it.',
  }),
);

export const InternalAccount = named(
  'InternalAccount',
  Type.Object(
    {
      id: Type.String({
        description: 'ID of the internal account, `InternalAccount:<uuid>`.',
      }),
      customerId: Type.Optional(
        Type.String({
          description:
            'ID of the customer that owns the account. Absent for accounts of the platform.',
        }),
      ),
      type: InternalAccountType,
      status: InternalAccountStatus,
      balance: withDescription(CurrencyAmount, 'Available balance, without funds that are held.'),
      totalBalance: withDescription(
        CurrencyAmount,
        'Ledger balance: available balance plus funds held for payments and for reviews.',
      ),
      fundingPaymentInstructions: Type.Array(PaymentInstructions, {
        description:
          'Bank account details or wallet addresses for funding the account. Empty if the currency ' +
          'does not support deposits, and until a provider has assigned the details.',
      }),
      privateEnabled: Type.Optional(
        Type.Boolean({
          description:
            'Whether the transactions of the embedded wallet are private. Stored without ' +
            'effect. Absent for other types.',
        }),
      ),
      createdAt: withDescription(Timestamp, 'Time of creation.'),
      updatedAt: withDescription(Timestamp, 'Time of the last change of the account.'),
    },
    { description: 'An account in one currency, owned by a customer or by the platform.' },
  ),
);

const TAG = 'Internal Accounts';
const List = named('InternalAccountListResponse', page(InternalAccount));

const currency = Type.Optional(Type.String({ description: 'Filter by currency code.' }));
const type = Type.Optional(withDescription(InternalAccountType, 'Filter by type.'));
const customerId = Type.Optional(Type.String({ description: 'Filter by the ID of the customer.' }));

export const listCustomerInternalAccounts = operation({
  operationId: 'listCustomerInternalAccounts',
  method: 'GET',
  path: '/customers/internal-accounts',
  tag: TAG,
  summary: 'List customer internal accounts',
  description:
    'Returns a page of the internal accounts of all customers or of one customer ' +
    'with their balances, oldest first. The service creates the accounts with the ' +
    'customer, and further accounts when currencies are added.',
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
  summary: 'List customer internal accounts (legacy)',
  description:
    'Returns the same list as `listCustomerInternalAccounts`. Deprecated: use ' +
    '`listCustomerInternalAccounts`.',
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
  summary: 'List platform internal accounts',
  description:
    'Returns all internal accounts of the platform with their balances. The ' +
    'service creates an account for each currency of the platform.',
  permission: 'VIEW',
  query: Type.Object({ currency, type }),
  replies: {
    200: named(
      'PlatformInternalAccountListResponse',
      Type.Object({
        data: Type.Array(InternalAccount, { description: 'Internal accounts of the platform.' }),
      }),
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
  description:
    'Returns an internal account of a customer or of the platform with its ' +
    'current balance and funding instructions.',
  permission: 'VIEW',
  params: Type.Object({ id: Type.String({ description: 'ID of the internal account.' }) }),
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
    summary: 'Internal account changed',
    description: 'Sent for each change of the balance, the status or the funding instructions.',
    events: [balanceUpdated, statusUpdated, fundingInstructionsUpdated],
  },
];
