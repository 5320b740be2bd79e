// Header parameters of requests and headers of replies that follow from the properties of a contract.
import { type Contract, idempotencyOf } from '../../kernel/contract/operation.ts';

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  description:
    'Unique key of the request, chosen by the client, such as a UUID. At most 255 ' +
    'characters. A repeated request with the same key and content is not executed again ' +
    'and receives the first reply.',
  schema: { type: 'string', maxLength: 255 },
};

/** The parameter `Idempotency-Key` of an operation. */
export const keyParameterOf = (contract: Contract) =>
  idempotencyOf(contract) === 'required'
    ? { ...IDEMPOTENCY_KEY, required: true, schema: { minLength: 1, ...IDEMPOTENCY_KEY.schema } }
    : IDEMPOTENCY_KEY;

/** Headers of the second request of a signed operation. */
export const SIGNED_RETRY = [
  {
    name: 'Service-Wallet-Signature',
    in: 'header',
    required: false,
    description:
      'Signature (stamp) of the wallet over `payloadToSign` of the challenge. Sent with ' +
      'each signed request.',
    schema: { type: 'string' },
  },
  {
    name: 'Request-Id',
    in: 'header',
    required: false,
    description: '`requestId` of the challenge. Sent with each signed request.',
    schema: { type: 'string' },
  },
];

const countHeader = (description: string) => ({ description, schema: { type: 'integer' } });

/** Headers of a 429 reply to a valid credential. */
const RATE_LIMIT_HEADERS = {
  'Retry-After': countHeader('Seconds to wait before sending the request again.'),
  'RateLimit-Limit': countHeader(
    'Maximum number of requests that the caller can send in one burst.',
  ),
  'RateLimit-Remaining': countHeader('Number of requests that remain in the burst.'),
  'RateLimit-Reset': countHeader('Seconds until the full burst is available again.'),
};

/** The `RateLimit` headers require a credential, because the limit belongs to a platform. */
export const headersOf = (contract: Contract, status: number): Record<string, unknown> => {
  const { 'Retry-After': retry } = RATE_LIMIT_HEADERS;
  const hasHourlyLimit = status === 403 && contract.errors.includes('VELOCITY_LIMIT_EXCEEDED');
  if (status === 503 || hasHourlyLimit) return { headers: { 'Retry-After': retry } };
  if (status !== 429) return {};
  return { headers: contract.permission ? RATE_LIMIT_HEADERS : { 'Retry-After': retry } };
};
