// Schemas of external accounts, and the operations on those of customers and of the platform. The
// two groups differ in the owner of the accounts only.
import { Type } from '@sinclair/typebox';
import {
  accountInfoCreateSchema,
  accountInfoSchema,
} from '../../../catalog/accounts/account-schemas.ts';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  withDescription,
} from '../../../kernel/schema.ts';
import { EXTERNAL_ACCOUNT_STATUSES } from './states.ts';
import { BENEFICIARY_STATUSES, OWNERSHIP_TYPES } from './store.ts';

const optional = Type.Optional;

const OwnershipType = named(
  'OwnershipType',
  oneOf(OWNERSHIP_TYPES, {
    description:
      'FIRST_PARTY: the account belongs to the customer, or to the platform for a ' +
      'platform account. THIRD_PARTY: the account belongs to another party.',
  }),
);

const STATUS_DESCRIPTION =
  'PENDING: the bank account is being checked. It cannot be used. ACTIVE: the ' +
  'account can be used. PENDING_OWNERSHIP_VERIFICATION: payments above the equivalent of ' +
  '1,000 EUR require a proof of wallet ownership. UNVERIFIED: the last proof of ownership ' +
  'failed. Payments above the equivalent of 1,000 EUR are rejected. UNDER_REVIEW: a manual ' +
  'review is in progress. The account cannot be used. INACTIVE: the account is ' +
  'disabled and cannot be used.';

const ExternalAccountStatus = named(
  'ExternalAccountStatus',
  oneOf(EXTERNAL_ACCOUNT_STATUSES, { description: STATUS_DESCRIPTION }),
);

const BeneficiaryVerificationStatus = named(
  'BeneficiaryVerificationStatus',
  oneOf(BENEFICIARY_STATUSES, {
    description:
      'Result of the comparison of the beneficiary name with the name at the ' +
      'institution. It does not restrict payments. MATCHED: the names match. ' +
      'PARTIAL_MATCH: the names are similar. NOT_MATCHED: the names differ, or the account ' +
      'does not exist. UNSUPPORTED: no comparison is available. CHECKED_BY_RECEIVING_FI: the ' +
      'receiving institution checks the name at payment. PENDING: the result is not available ' +
      'yet. Absent for wallets.',
  }),
);

const platformAccountId = optional(
  Type.String({
    minLength: 1,
    maxLength: 255,
    description: 'ID of the account in the system of the platform.',
  }),
);
const currency = Type.String({
  minLength: 1,
  maxLength: 10,
  description: 'Currency code of the account. It must be a currency of the account type.',
});

export const ExternalAccount = named(
  'ExternalAccount',
  Type.Object(
    {
      id: Type.String({
        description: 'ID of the external account, `ExternalAccount:<uuid>`.',
      }),
      customerId: optional(
        Type.String({
          description: 'ID of the customer of the account. Absent for accounts of the platform.',
        }),
      ),
      status: ExternalAccountStatus,
      platformAccountId,
      ownershipType: optional(OwnershipType),
      currency,
      defaultUmaDepositAccount: optional(
        Type.Boolean({
          description:
            'Whether incoming UMA payments of the customer are paid out to this account.',
        }),
      ),
      beneficiaryVerificationStatus: optional(BeneficiaryVerificationStatus),
      beneficiaryVerifiedData: optional(
        named(
          'BeneficiaryVerifiedData',
          Type.Object(
            {
              fullName: optional(
                Type.String({ description: 'Name of the account holder at the institution.' }),
              ),
            },
            { description: 'Beneficiary data from the institution. Absent if there is none.' },
          ),
        ),
      ),
      accountInfo: accountInfoSchema,
      createdAt: withDescription(Timestamp, 'Time of creation.'),
      updatedAt: withDescription(Timestamp, 'Time of the last change.'),
    },
    {
      description:
        'A bank account, mobile wallet or crypto wallet outside the service. For a ' +
        'token with only the VIEW permission, account numbers are masked except for ' +
        'the last four characters.',
    },
  ),
);

const accountFields = {
  currency,
  platformAccountId,
  ownershipType: optional(
    withDescription(
      OwnershipType,
      'Owner of the account. Required for self-custody wallets if the platform has ' +
        'mandatory counterparty fields for the currency.',
    ),
  ),
  accountInfo: accountInfoCreateSchema,
};

const ExternalAccountCreateRequest = named(
  'ExternalAccountCreateRequest',
  Type.Object(
    {
      customerId: optional(
        Type.String({
          description: 'ID of the customer of the account. Absent for an account of the platform.',
        }),
      ),
      ...accountFields,
      defaultUmaDepositAccount: optional(
        Type.Boolean({
          default: false,
          description:
            'Pays out incoming UMA payments of the customer to this account. Replaces the ' +
            'previous default account of the customer. Not allowed for accounts of the ' +
            'platform.',
        }),
      ),
    },
    { description: 'External account to register.' },
  ),
);

const PlatformExternalAccountCreateRequest = named(
  'PlatformExternalAccountCreateRequest',
  Type.Object(accountFields, { description: 'External account of the platform to register.' }),
);

const TAG = 'External Accounts';
const List = named('ExternalAccountListResponse', page(ExternalAccount));
const params = Type.Object({
  externalAccountId: Type.String({ description: 'ID of the external account.' }),
});
const currencyFilter = optional(Type.String({ description: 'Filter by currency code.' }));
const CREATION_DESCRIPTION =
  'Registers an account outside the service, so that payments can be sent to it. The ' +
  'beneficiary name is compared with the records of the institution, if a comparison ' +
  'is available. The result is in `beneficiaryVerificationStatus` and does not ' +
  'restrict payments. A FIRST_PARTY self-custody wallet starts as ' +
  'PENDING_OWNERSHIP_VERIFICATION if the platform has mandatory counterparty fields for the ' +
  'currency.';

const NEXT_CUSTOMER =
  'Prove the ownership with `createExternalAccountOwnershipChallenge`. Pay to ' +
  'the account with `createQuote`.';
const NEXT_PLATFORM =
  'Prove the ownership with `createPlatformExternalAccountOwnershipChallenge`. ' +
  'Pay to the account with `createQuote`.';

export const listCustomerExternalAccounts = operation({
  operationId: 'listCustomerExternalAccounts',
  method: 'GET',
  path: '/customers/external-accounts',
  tag: TAG,
  summary: 'List customer external accounts',
  description:
    'Returns a page of the external accounts of all customers or of one customer, ' +
    'oldest first. Deleted accounts are excluded.',
  permission: 'VIEW',
  query: Type.Object({
    currency: currencyFilter,
    customerId: optional(Type.String({ description: 'Filter by ID of the customer.' })),
    ...PageQuery,
  }),
  replies: { 200: List },
  errors: [],
});

export const createCustomerExternalAccount = operation({
  operationId: 'createCustomerExternalAccount',
  method: 'POST',
  path: '/customers/external-accounts',
  tag: TAG,
  summary: 'Create an external account',
  description: `${CREATION_DESCRIPTION} ${NEXT_CUSTOMER}`,
  permission: 'MANAGE',
  body: ExternalAccountCreateRequest,
  replies: { 201: ExternalAccount },
  errors: [
    'INVALID_CURRENCY',
    'INVALID_BANK_ACCOUNT',
    'CUSTOMER_NOT_FOUND',
    'DUPLICATE_EXTERNAL_ACCOUNT',
    'CUSTOMER_DELETED',
  ],
  callsExternal: true,
  sealed: true,
});

export const getCustomerExternalAccountById = operation({
  operationId: 'getCustomerExternalAccountById',
  method: 'GET',
  path: '/customers/external-accounts/{externalAccountId}',
  tag: TAG,
  summary: 'Get a customer external account',
  description: 'Returns an external account of a customer with its current status.',
  permission: 'VIEW',
  params,
  replies: { 200: ExternalAccount },
  errors: [],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const deleteCustomerExternalAccountById = operation({
  operationId: 'deleteCustomerExternalAccountById',
  method: 'DELETE',
  path: '/customers/external-accounts/{externalAccountId}',
  tag: TAG,
  summary: 'Delete a customer external account',
  description:
    'Deletes an external account of a customer. Payments in progress continue. ' +
    'Quotes to the account can no longer be executed. A trusted account cannot be ' +
    'deleted. Remove the trust with `startBeneficiaryUntrust` first.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: ['BENEFICIARY_TRUSTED'],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const listPlatformExternalAccounts = operation({
  operationId: 'listPlatformExternalAccounts',
  method: 'GET',
  path: '/platform/external-accounts',
  tag: TAG,
  summary: 'List platform external accounts',
  description:
    'Returns a page of the external accounts of the platform, oldest first. ' +
    'Deleted accounts are excluded.',
  permission: 'VIEW',
  query: Type.Object({ currency: currencyFilter, ...PageQuery }),
  replies: { 200: List },
  errors: [],
});

export const createPlatformExternalAccount = operation({
  operationId: 'createPlatformExternalAccount',
  method: 'POST',
  path: '/platform/external-accounts',
  tag: TAG,
  summary: 'Create a platform external account',
  description: `${CREATION_DESCRIPTION} ${NEXT_PLATFORM}`,
  permission: 'MANAGE',
  body: PlatformExternalAccountCreateRequest,
  replies: { 201: ExternalAccount },
  errors: ['INVALID_CURRENCY', 'INVALID_BANK_ACCOUNT', 'DUPLICATE_EXTERNAL_ACCOUNT'],
  callsExternal: true,
  sealed: true,
});

export const getPlatformExternalAccountById = operation({
  operationId: 'getPlatformExternalAccountById',
  method: 'GET',
  path: '/platform/external-accounts/{externalAccountId}',
  tag: TAG,
  summary: 'Get a platform external account',
  description: 'Returns an external account of the platform with its current status.',
  permission: 'VIEW',
  params,
  replies: { 200: ExternalAccount },
  errors: [],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const deletePlatformExternalAccountById = operation({
  operationId: 'deletePlatformExternalAccountById',
  method: 'DELETE',
  path: '/platform/external-accounts/{externalAccountId}',
  tag: TAG,
  summary: 'Delete a platform external account',
  description:
    'Deletes an external account of the platform. Payments in progress continue. ' +
    'Quotes to the account can no longer be executed.',
  permission: 'MANAGE',
  params,
  replies: { 204: null },
  errors: [],
  notFound: 'ACCOUNT_NOT_FOUND',
});

export const statusUpdated = defineEvent('EXTERNAL_ACCOUNT.STATUS_UPDATED', ExternalAccount);

export const externalAccountWebhooks: readonly WebhookContract[] = [
  {
    name: 'external-account-status',
    summary: 'External account status changed',
    description: 'Sent for each change of the status after the creation of the account.',
    events: [statusUpdated],
  },
];
