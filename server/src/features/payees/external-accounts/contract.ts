// External accounts as the API shows and takes them, and the operations on those of customers and of the
// platform itself. The two families are the same but for whose accounts they see.
import { Type } from '@sinclair/typebox';
import {
  accountInfoCreateSchema,
  accountInfoSchema,
} from '../../../catalog/accounts/account-schemas.ts';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, oneOf, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import { EXTERNAL_ACCOUNT_STATUSES } from './states.ts';
import { BENEFICIARY_STATUSES, OWNERSHIP_TYPES } from './store.ts';

const maybe = Type.Optional;

const OwnershipType = named(
  'OwnershipType',
  oneOf(OWNERSHIP_TYPES, {
    description: "FIRST_PARTY is the owner's own account, THIRD_PARTY somebody else's.",
  }),
);

const ExternalAccountStatus = named(
  'ExternalAccountStatus',
  oneOf(EXTERNAL_ACCOUNT_STATUSES, {
    description: 'Whether the account can be paid; ACTIVE accounts can.',
  }),
);

const BeneficiaryVerificationStatus = named(
  'BeneficiaryVerificationStatus',
  oneOf(BENEFICIARY_STATUSES, {
    description: 'How the given name compares with the one the institution holds.',
  }),
);

const platformAccountId = maybe(
  Type.String({ minLength: 1, maxLength: 255, description: 'Your own id of the account.' }),
);
const currency = Type.String({
  minLength: 1,
  maxLength: 10,
  description: 'Currency the account takes; it has to fit the account type.',
});

export const ExternalAccount = named(
  'ExternalAccount',
  Type.Object(
    {
      id: Type.String({ description: 'ExternalAccount:<uuid>' }),
      customerId: maybe(
        Type.String({ description: 'Whose account it is; absent on accounts of the platform.' }),
      ),
      status: ExternalAccountStatus,
      platformAccountId,
      ownershipType: maybe(OwnershipType),
      currency,
      defaultUmaDepositAccount: maybe(
        Type.Boolean({ description: 'Whether incoming UMA payments of the customer go here.' }),
      ),
      beneficiaryVerificationStatus: maybe(BeneficiaryVerificationStatus),
      beneficiaryVerifiedData: maybe(
        named(
          'BeneficiaryVerifiedData',
          Type.Object(
            { fullName: maybe(Type.String({ description: 'The name the institution holds.' })) },
            { description: 'What the institution knows of the beneficiary.' },
          ),
        ),
      ),
      accountInfo: accountInfoSchema,
      createdAt: Timestamp,
      updatedAt: Timestamp,
    },
    {
      description:
        'An account outside that money can be sent to. A token with VIEW alone sees account ' +
        'numbers with all but the last four characters hidden.',
    },
  ),
);

const asked = {
  currency,
  platformAccountId,
  ownershipType: maybe(
    described(
      OwnershipType,
      'Whose account it is. Needed for wallets without a custodian where the platform has to know ' +
        'its counterparties.',
    ),
  ),
  accountInfo: accountInfoCreateSchema,
};

const ExternalAccountCreateRequest = named(
  'ExternalAccountCreateRequest',
  Type.Object(
    {
      customerId: maybe(
        Type.String({ description: 'Whose account it is; leave out for one of the platform.' }),
      ),
      ...asked,
      defaultUmaDepositAccount: maybe(
        Type.Boolean({
          default: false,
          description:
            'Send incoming UMA payments of the customer here. Takes the place of the account that ' +
            'was the default before.',
        }),
      ),
    },
    { description: 'An account to be registered.' },
  ),
);

const PlatformExternalAccountCreateRequest = named(
  'PlatformExternalAccountCreateRequest',
  Type.Object(asked, { description: 'An account of the platform to be registered.' }),
);

const TAG = 'External Accounts';
const List = named('ExternalAccountListResponse', page(ExternalAccount));
const params = Type.Object({
  externalAccountId: Type.String({ description: 'Id of the external account.' }),
});
const ofCurrency = maybe(Type.String({ description: 'Only accounts in this currency.' }));
const CREATED =
  "The beneficiary's name is compared with the one the institution holds, where it can be; the " +
  'outcome is told, and does not stop payments.';

export const listCustomerExternalAccounts = operation({
  operationId: 'listCustomerExternalAccounts',
  method: 'GET',
  path: '/customers/external-accounts',
  tag: TAG,
  summary: 'List external accounts of customers',
  description: 'Accounts of every customer of the platform, or of one, oldest first.',
  permission: 'VIEW',
  query: Type.Object({
    currency: ofCurrency,
    customerId: maybe(Type.String({ description: 'Only accounts of this customer.' })),
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
  summary: 'Add an external account',
  description: CREATED,
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
  summary: 'Get an external account of a customer',
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
  summary: 'Delete an external account of a customer',
  description: 'Payments under way go on; quotes that were not executed no longer can be.',
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
  summary: 'List external accounts of the platform',
  description: 'Accounts of the platform itself, oldest first.',
  permission: 'VIEW',
  query: Type.Object({ currency: ofCurrency, ...PageQuery }),
  replies: { 200: List },
  errors: [],
});

export const createPlatformExternalAccount = operation({
  operationId: 'createPlatformExternalAccount',
  method: 'POST',
  path: '/platform/external-accounts',
  tag: TAG,
  summary: 'Add an external account of the platform',
  description: CREATED,
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
  summary: 'Get an external account of the platform',
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
  summary: 'Delete an external account of the platform',
  description: 'Payments under way go on; quotes that were not executed no longer can be.',
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
    summary: 'An external account changed its status',
    description: 'Sent for every change of the status after the account was added.',
    events: [statusUpdated],
  },
];
