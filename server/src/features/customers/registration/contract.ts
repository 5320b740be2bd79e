// The operations on customers, and the events about them.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import {
  Customer,
  CustomerCreateRequest,
  CustomerType,
  CustomerUpdateRequest,
  customerErrors,
  updateErrors,
} from '../profiles/index.ts';

const TAG = 'Customers';
const maybe = Type.Optional;

const text = (description: string, more: { format?: string } = {}) =>
  Type.String({ description, ...more });

export const SignedRequestChallenge = named(
  'SignedRequestChallenge',
  Type.Object(
    {
      payloadToSign: text('The exact bytes to sign, as text.'),
      requestId: text('Goes back in the `Request-Id` header.'),
      expiresAt: described(Timestamp, 'After this the request must be started anew.'),
    },
    {
      description:
        'What a wallet must sign before the same request is sent again with its signature.',
    },
  ),
);

const EndUserTerms = named(
  'EndUserTerms',
  Type.Object(
    {
      version: text('Goes into `endUserTermsConsent.termsVersion`.'),
      url: text('Where the terms are to be read.', { format: 'uri' }),
    },
    { description: 'The terms that customers are to accept today.' },
  ),
);

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
