// Customers as the API shows them, and the operations on them.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  Address,
  described,
  named,
  PageQuery,
  page,
  Timestamp,
  variant,
} from '../../../kernel/schema.ts';
import { BeneficialOwner } from './owners/owner-contract.ts';
import {
  ContactVerification,
  CustomerType,
  contactFields,
  EndUserTermsConsent,
  firmCore,
  firmDetails,
  Identifier,
  individualFields,
  KybStatus,
  KycStatus,
  object,
  text,
} from './registration/fields.ts';
import {
  CustomerCreateRequest,
  CustomerUpdateRequest,
  umaAddress,
} from './registration/requests.ts';
import { customerErrors, updateErrors } from './registration/rules.ts';

const TAG = 'Customers';
const maybe = Type.Optional;

const shown = <T extends TSchema>(schema: T, description: string) =>
  described({ ...schema, readOnly: true }, description);

const replyCommon = {
  id: text('Id of the customer.', { readOnly: true }),
  platformCustomerId: text('Your own id of the customer.'),
  region: maybe(text('Country whose law the customer is served under.')),
  currencies: Type.Array(Type.String(), { description: 'Currencies the customer may use.' }),
  ...contactFields,
  umaAddress: text(umaAddress),
  endUserTermsConsent: maybe(described(EndUserTermsConsent, 'There once it was recorded.')),
  contactVerification: maybe(
    described(ContactVerification, 'There where channels must be proved.'),
  ),
  createdAt: shown(Timestamp, 'When the customer was created.'),
  updatedAt: shown(Timestamp, 'When it was last changed.'),
  isDeleted: Type.Boolean({ readOnly: true, description: 'Whether it was deleted.' }),
};

const BusinessInfoResponse = object('BusinessInfoResponse', 'What is known about a business.', {
  ...Type.Partial(Type.Object(firmCore)).properties,
  legalName: firmCore.legalName,
  ...firmDetails,
});

/** As operations show a customer that is not what they are about; all of it comes along. */
export const CustomerSummary = object(
  'Customer',
  'What persons and businesses have in common. The fields of its type come along.',
  { ...replyCommon, customerType: CustomerType },
);

export const Customer = named(
  'CustomerOneOf',
  variant(
    'customerType',
    {
      INDIVIDUAL: object('IndividualCustomer', 'A person served by the platform.', {
        ...replyCommon,
        kycStatus: KycStatus,
        ...individualFields,
        identifier: maybe(Identifier),
      }),
      BUSINESS: object('BusinessCustomer', 'A business served by the platform.', {
        ...replyCommon,
        kybStatus: KybStatus,
        address: maybe(described(Address, 'Where the business sits.')),
        businessInfo: BusinessInfoResponse,
        beneficialOwners: maybe(
          Type.Array(BeneficialOwner, { description: 'Those who own or control it.' }),
        ),
      }),
    },
    { tagType: CustomerType },
  ),
);

export const SignedRequestChallenge = object(
  'SignedRequestChallenge',
  'What a wallet must sign before the same request is sent again with its signature.',
  {
    payloadToSign: text('The exact bytes to sign, as text.'),
    requestId: text('Goes back in the `Request-Id` header.'),
    expiresAt: described(Timestamp, 'After this the request must be started anew.'),
  },
);

const EndUserTerms = object('EndUserTerms', 'The terms that customers are to accept today.', {
  version: text('Goes into `endUserTermsConsent.termsVersion`.'),
  url: text('Where the terms are to be read.', { format: 'uri' }),
});

/** A filter that may come more than once; any of its values fits. */
const oneOrMore = <T extends TSchema>(description: string, schema: T) =>
  maybe(
    Type.Unsafe<Static<T> | Static<T>[]>({
      anyOf: [schema, { type: 'array', items: schema }],
      description,
    }),
  );

const moment = (description: string) => maybe(described(Timestamp, description));

const customerId = Type.Object({ customerId: text('Id of the customer.') });

export const createCustomer = operation({
  operationId: 'createCustomer',
  method: 'POST',
  path: '/customers',
  tag: TAG,
  summary: 'Register a customer',
  description:
    'Registers a person or a business and opens its accounts. Most of what is personal may follow ' +
    'later, up to the identity check.',
  permission: 'MANAGE',
  body: CustomerCreateRequest,
  bodyRules: customerErrors,
  semanticValidation: true,
  replies: { 201: Customer },
  errors: [
    'END_USER_TERMS_VERSION_NOT_FOUND',
    'MISSING_MANDATORY_USER_INFO',
    'INVALID_UMA_ADDRESS',
    'UMA_ADDRESS_EXISTS',
    'NOT_IMPLEMENTED',
  ],
  sealed: true,
});

export const listCustomers = operation({
  operationId: 'listCustomers',
  method: 'GET',
  path: '/customers',
  tag: TAG,
  summary: 'List customers',
  description: 'Customers that fit every filter given, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    platformCustomerId: oneOrMore('Your own id of the customer.', Type.String()),
    customerType: oneOrMore('Persons or businesses.', CustomerType),
    createdAfter: moment('Created at this moment or later.'),
    createdBefore: moment('Created at this moment or earlier.'),
    updatedAfter: moment('Changed at this moment or later.'),
    updatedBefore: moment('Changed at this moment or earlier.'),
    region: oneOrMore('Region given at creation.', Type.String()),
    currency: oneOrMore('Those who may use this currency.', Type.String()),
    umaAddress: oneOrMore('UMA address.', Type.String()),
    isIncludingDeleted: maybe(
      Type.Boolean({ default: false, description: 'Whether deleted customers are listed too.' }),
    ),
    ...PageQuery,
  }),
  replies: { 200: named('CustomerListResponse', page(Customer)) },
  errors: [],
});

export const getCustomerById = operation({
  operationId: 'getCustomerById',
  method: 'GET',
  path: '/customers/{customerId}',
  tag: TAG,
  summary: 'Show a customer',
  description: 'One customer, deleted ones included.',
  permission: 'VIEW',
  params: customerId,
  replies: { 200: Customer },
  errors: [],
  notFound: 'CUSTOMER_NOT_FOUND',
});

export const updateCustomerById = operation({
  operationId: 'updateCustomerById',
  method: 'PATCH',
  path: '/customers/{customerId}',
  tag: TAG,
  summary: 'Change a customer',
  description:
    'Changes what the body names; null empties a field. An address or a list is replaced as a whole, ' +
    '`businessInfo` field by field. A new e-mail address or telephone number that wallet credentials ' +
    'hang on is answered with a challenge to sign first.',
  permission: 'MANAGE',
  params: customerId,
  signedRetry: true,
  body: CustomerUpdateRequest,
  bodyRules: updateErrors,
  semanticValidation: true,
  replies: { 200: Customer, 202: SignedRequestChallenge },
  errors: [
    'END_USER_TERMS_VERSION_NOT_FOUND',
    'MISSING_MANDATORY_USER_INFO',
    'INVALID_UMA_ADDRESS',
    'UMA_ADDRESS_EXISTS',
    'EMAIL_OTP_EMAIL_ALREADY_EXISTS',
    'EMAIL_OTP_CREDENTIAL_SET_CHANGED',
    'SMS_OTP_CREDENTIAL_SET_CHANGED',
    'SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS',
    'CUSTOMER_DELETED',
    'EMAIL_OTP_CREDENTIAL_SYNC_FAILED',
    'NOT_IMPLEMENTED',
  ],
  notFound: 'CUSTOMER_NOT_FOUND',
});

export const deleteCustomerById = operation({
  operationId: 'deleteCustomerById',
  method: 'DELETE',
  path: '/customers/{customerId}',
  tag: TAG,
  summary: 'Delete a customer',
  description:
    'Ends a customer whose accounts are empty, for good. Its history stays, its platformCustomerId is ' +
    'free again, its UMA address is not.',
  permission: 'MANAGE',
  params: customerId,
  replies: { 200: Customer },
  errors: ['CONFLICT', 'CUSTOMER_DELETED'],
  notFound: 'CUSTOMER_NOT_FOUND',
});

export const getEndUserTerms = operation({
  operationId: 'getEndUserTerms',
  method: 'GET',
  path: '/customers/end-user-terms',
  tag: TAG,
  summary: 'Show the end-user terms',
  description: 'The version of the terms that customers are to accept, and where to read it.',
  permission: 'VIEW',
  replies: { 200: EndUserTerms },
  errors: [],
});

/** The events about entering a status, by type of customer. UNVERIFIED and HOLD have none. */
export const customerEvents = {
  INDIVIDUAL: {
    PENDING: defineEvent('CUSTOMER.KYC_PENDING', Customer),
    APPROVED: defineEvent('CUSTOMER.KYC_APPROVED', Customer),
    REJECTED: defineEvent('CUSTOMER.KYC_REJECTED', Customer),
  },
  BUSINESS: {
    PENDING: defineEvent('CUSTOMER.KYB_PENDING', Customer),
    APPROVED: defineEvent('CUSTOMER.KYB_APPROVED', Customer),
    REJECTED: defineEvent('CUSTOMER.KYB_REJECTED', Customer),
  },
};

export const customerWebhooks: readonly WebhookContract[] = [
  {
    name: 'customer-update',
    summary: 'The check of a customer moved on',
    description:
      'Sent when a customer is pending, approved or rejected: KYC of persons, KYB of firms.',
    events: [
      ...Object.values(customerEvents.INDIVIDUAL),
      ...Object.values(customerEvents.BUSINESS),
    ],
  },
];
