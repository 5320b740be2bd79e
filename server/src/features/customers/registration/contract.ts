// Contract of the customer operations, and the events about customers.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { defineEvent, type WebhookContract } from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  PageQuery,
  page,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';
import {
  Customer,
  CustomerCreateRequest,
  CustomerType,
  CustomerUpdateRequest,
  customerErrors,
  updateErrors,
} from '../profiles/index.ts';

const TAG = 'Customers';
const optional = Type.Optional;

export const SignedRequestChallenge = named(
  'SignedRequestChallenge',
  Type.Object(
    {
      payloadToSign: text('Payload to be signed by the wallet, exactly as returned.'),
      requestId: text('ID of the challenge, to be sent in the `Request-Id` header.'),
      expiresAt: withDescription(
        Timestamp,
        'Time at which the challenge expires, at most five minutes after its creation. Send the ' +
          'original request again to obtain a new challenge.',
      ),
    },
    {
      description:
        'Signature challenge. Sign `payloadToSign` with the wallet and send the same ' +
        'request again with the signature. Five invalid signatures invalidate a challenge. A ' +
        'wallet has at most ten challenges. A further challenge invalidates the oldest.',
    },
  ),
);

const EndUserTerms = named(
  'EndUserTerms',
  Type.Object(
    {
      version: text('Current version, to be sent as `endUserTermsConsent.termsVersion`.'),
      url: text('URL of the text of the terms.', { format: 'uri' }),
    },
    { description: 'The end-user terms that are currently in force.' },
  ),
);

/** A filter that can be repeated. Resources that match any value are returned. */
const oneOrMoreOf = <T extends TSchema>(description: string, schema: T) =>
  optional(
    Type.Unsafe<Static<T> | Static<T>[]>({
      anyOf: [schema, { type: 'array', items: schema }],
      description,
    }),
  );

const timestampField = (description: string) => optional(withDescription(Timestamp, description));

const customerId = Type.Object({ customerId: text('ID of the customer.') });

export const createCustomer = operation({
  operationId: 'createCustomer',
  method: 'POST',
  path: '/customers',
  tag: TAG,
  summary: 'Create a customer',
  description:
    'Registers an individual or a business as a customer and opens an internal account ' +
    'in each of its currencies. If terms are mandatory, the accounts are opened after their ' +
    'acceptance. Most personal data can be provided later with `updateCustomerById`. ' +
    'Customers of a regulated platform are approved at creation. All others start as ' +
    'UNVERIFIED. They must be verified with `createVerification` or a verification link ' +
    'before they can make payments.',
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
  description: 'Returns the customers of the platform that match every filter, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    platformCustomerId: oneOrMoreOf(
      'Filter by identifier of the customer at the platform.',
      Type.String(),
    ),
    customerType: oneOrMoreOf('Filter by type of customer.', CustomerType),
    createdAfter: timestampField('Return only customers created at or after this time.'),
    createdBefore: timestampField('Return only customers created at or before this time.'),
    updatedAfter: timestampField('Return only customers changed at or after this time.'),
    updatedBefore: timestampField('Return only customers changed at or before this time.'),
    region: oneOrMoreOf(
      'Filter by region of the customer: ISO 3166-1 alpha-2 country code, or EU.',
      Type.String(),
    ),
    currency: oneOrMoreOf('Filter by code of a currency that the customer can use.', Type.String()),
    umaAddress: oneOrMoreOf('Filter by UMA address.', Type.String()),
    isIncludingDeleted: optional(
      Type.Boolean({
        default: false,
        description: 'Whether deleted customers are included. Defaults to false.',
      }),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named('CustomerListResponse', page(Customer, { description: 'A page of customers.' })),
  },
  errors: [],
});

export const getCustomerById = operation({
  operationId: 'getCustomerById',
  method: 'GET',
  path: '/customers/{customerId}',
  tag: TAG,
  summary: 'Get a customer',
  description: 'Returns one customer, even if it was deleted.',
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
  summary: 'Update a customer',
  description:
    'Changes the fields that the request contains. Null clears an optional field. An ' +
    'address or a list is replaced completely. `businessInfo` is merged field by field. ' +
    'If wallet credentials use the e-mail address or telephone number to be changed, the ' +
    'reply is a challenge. Sign it with the wallet and send the request again.',
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
    'Deletes a customer permanently. All of its accounts must have a zero balance and no ' +
    'shortfall, and no payment may be in progress. The history of the customer is retained. The ' +
    '`platformCustomerId` can be used again. The UMA address cannot be used again.',
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
  summary: 'Get the end-user terms',
  description:
    'Returns the current version of the end-user terms and the URL of its text. Record the ' +
    'acceptance of a customer as `endUserTermsConsent` with `createCustomer` or ' +
    '`updateCustomerById`.',
  permission: 'VIEW',
  replies: { 200: EndUserTerms },
  errors: [],
});

/**
 * Events emitted when a customer enters a status, by customer type. UNVERIFIED and HOLD have no
 * event.
 */
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
    summary: 'Customer verification status changed',
    description:
      'Sent when the verification status of a customer changes to PENDING, APPROVED or ' +
      'REJECTED. KYC events are for individuals, and KYB events for businesses.',
    events: [
      ...Object.values(customerEvents.INDIVIDUAL),
      ...Object.values(customerEvents.BUSINESS),
    ],
  },
];
