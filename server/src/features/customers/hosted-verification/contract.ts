// Making links to the hosted verification page. The page's own operations are in page-contract.ts.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import { described, named, oneOf, Timestamp } from '../../../kernel/schema.ts';

const TAG = 'KYC/KYB Verifications';

const text = (description: string, more: Record<string, unknown> = {}) =>
  Type.String({ description, ...more });

const redirectUri = Type.Optional(
  text('Where the page leads when it is done: https, or http on the local machine.', {
    format: 'uri',
    maxLength: 2_048,
  }),
);

const KycLinkCreateRequest = named(
  'KycLinkCreateRequest',
  Type.Object({ redirectUri }, { description: 'What the page is to do in the end.' }),
);

const KycLinkResponse = named(
  'KycLinkResponse',
  Type.Object(
    {
      kycUrl: text('Page to send the customer to. It is a secret of the customer, and works once.'),
      expiresAt: described(Timestamp, 'When the link ends unless it was used before.'),
      provider: named(
        'KycProvider',
        oneOf(['SUMSUB'], { description: 'Kind of the flow. There is one.' }),
      ),
      token: Type.Optional(text('For the SDK of a provider that has one.')),
    },
    { description: 'A link to the verification page.' },
  ),
);

const LOCAL = ['localhost', '127.0.0.1', '[::1]'];

/** Whether the page may lead there. */
function isRedirectTarget(uri: string): boolean {
  const url = readUrl(uri);
  if (!url) return false;
  const { protocol, hostname, username, password } = url;
  if (username || password) return false;
  return protocol === 'https:' || (protocol === 'http:' && LOCAL.includes(hostname));
}

/** What is wrong with where the page is to lead. */
export function redirectErrors(given: unknown): FieldError[] {
  const uri = (given as { redirectUri?: unknown } | null)?.redirectUri;
  if (typeof uri !== 'string' || isRedirectTarget(uri)) return [];
  const message = 'must be an https address, or http on localhost, without a password';
  return [{ field: 'redirectUri', constraint: { format: 'uri' }, message }];
}

export const createCustomerKycLink = operation({
  operationId: 'createCustomerKycLink',
  method: 'POST',
  path: '/customers/{customerId}/kyc-link',
  tag: TAG,
  summary: 'Make a link to the verification page',
  description:
    'The page asks the customer, person or business, for what is still missing and submits it. Every ' +
    'call makes a new link, which works for a day and until a submission through it is accepted; links ' +
    'made before stay good. The link changes no status. For a customer whose check is over the page ' +
    'states that no action is needed.',
  permission: 'MANAGE',
  params: Type.Object({ customerId: text('Id of the customer.') }),
  body: KycLinkCreateRequest,
  bodyOptional: true,
  replies: { 201: KycLinkResponse },
  errors: ['CUSTOMER_DELETED'],
  notFound: 'CUSTOMER_NOT_FOUND',
  sealed: true,
});

export const getCustomerKycLink = operation({
  operationId: 'getCustomerKycLink',
  method: 'GET',
  path: '/customers/kyc-link',
  tag: TAG,
  summary: 'Make a link to the verification page, the older way',
  description: 'Does what `createCustomerKycLink` does, for your own id of the customer.',
  permission: 'MANAGE',
  deprecated: true,
  query: Type.Object({
    platformCustomerId: text('Your own id of the customer.', { minLength: 1 }),
    redirectUri,
  }),
  replies: { 200: KycLinkResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT'],
});
