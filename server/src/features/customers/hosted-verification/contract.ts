// Contract of the operations that create links to the hosted verification page. The operations of
// the page are in page-contract.ts.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../kernel/fault.ts';
import { readUrl } from '../../../kernel/net/url.ts';
import { named, oneOf, Timestamp, text, withDescription } from '../../../kernel/schema.ts';

const TAG = 'KYC/KYB Verifications';

const redirectUri = Type.Optional(
  text(
    'URL to which the page redirects when the verification is submitted: https, or http ' +
      'on localhost. Absent for no redirect.',
    {
      format: 'uri',
      maxLength: 2_048,
    },
  ),
);

const KycLinkCreateRequest = named(
  'KycLinkCreateRequest',
  Type.Object({ redirectUri }, { description: 'Options of the verification link.' }),
);

const KycLinkResponse = named(
  'KycLinkResponse',
  Type.Object(
    {
      kycUrl: text(
        'URL of the hosted verification page, to be opened by the customer. It is a ' +
          'secret of the customer and is valid for one submission.',
      ),
      expiresAt: withDescription(
        Timestamp,
        'Time at which the link expires, 24 hours after its creation, unless it is used before.',
      ),
      provider: named(
        'KycProvider',
        oneOf(['SUMSUB'], { description: 'Provider of the verification flow. Always SUMSUB.' }),
      ),
      token: Type.Optional(
        text('Token for the SDK of the provider. Absent if the provider has no SDK.'),
      ),
    },
    { description: 'A link to the hosted verification page.' },
  ),
);

const LOCAL_HOSTS = ['localhost', '127.0.0.1', '[::1]'];

/** Whether the URL is a permitted redirect target. */
function isRedirectTarget(uri: string): boolean {
  const url = readUrl(uri);
  if (!url) return false;
  const { protocol, hostname, username, password } = url;
  if (username || password) return false;
  return protocol === 'https:' || (protocol === 'http:' && LOCAL_HOSTS.includes(hostname));
}

/** Errors of the redirect target. */
export function redirectErrors(input: unknown): FieldError[] {
  const uri = (input as { redirectUri?: unknown } | null)?.redirectUri;
  if (typeof uri !== 'string' || isRedirectTarget(uri)) return [];
  const message =
    'must be an https URL, or an http URL on localhost, without a user name or password';
  return [{ field: 'redirectUri', constraint: { format: 'uri' }, message }];
}

export const createCustomerKycLink = operation({
  operationId: 'createCustomerKycLink',
  method: 'POST',
  path: '/customers/{customerId}/kyc-link',
  tag: TAG,
  summary: 'Create a verification link',
  description:
    'Creates a link to the hosted verification page, on which the customer provides the ' +
    'missing data and documents and submits them for verification. The link is valid for ' +
    '24 hours or until a submission is accepted through it. Earlier links remain valid. ' +
    'The status of the customer does not change. If the verification is complete, the page ' +
    'states that no action is required.',
  permission: 'MANAGE',
  params: Type.Object({ customerId: text('ID of the customer.') }),
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
  summary: 'Create a verification link (deprecated)',
  description:
    'Creates a link to the hosted verification page for the customer with this ' +
    '`platformCustomerId`. Every request creates a new link. Deprecated: use ' +
    '`createCustomerKycLink`.',
  permission: 'MANAGE',
  deprecated: true,
  query: Type.Object({
    platformCustomerId: text('ID of the customer at the platform.', { minLength: 1 }),
    redirectUri,
  }),
  replies: { 200: KycLinkResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT'],
});
