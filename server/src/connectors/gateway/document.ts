// The OpenAPI document of the provider protocol: the calls that a provider implements, and, as a
// webhook, the message that this server accepts. The document is derived from the schemas of the
// protocol.
import type { TSchema } from '@sinclair/typebox';
import { toOpenApi } from '../../kernel/schema.ts';
import {
  CardChanged,
  CardDetailsInput,
  CardIdInput,
  CardIssuing,
  CardNumber,
  ChangeCard,
  IssueCard,
} from '../ports/providers/cards.ts';
import { CUSTODY_CALLS } from '../ports/providers/custody.ts';
import type { ProviderCall } from '../ports/providers/fields.ts';
import { FIRM_QUOTE_CALLS } from '../ports/providers/firm-quotes.ts';
import {
  Balances,
  CancelResult,
  Capabilities,
  Message,
  MessageResult,
  NoInput,
  PROTOCOL_VERSION,
  StatementDay,
  StatementPage,
  Transfer,
  TransferId,
  TransferState,
} from '../ports/providers/protocol.ts';
import { RECALL_CALLS } from '../ports/providers/recalls.ts';
import { SERVICE_CALLS } from '../ports/providers/services.ts';
import { STABLECOIN_CALLS } from '../ports/providers/stablecoins.ts';

const CALLS: Readonly<Record<string, ProviderCall>> = {
  '/capabilities': {
    operationId: 'getCapabilities',
    summary: 'Return the capabilities of the provider',
    input: NoInput,
    output: Capabilities,
  },
  '/balances': {
    operationId: 'getBalances',
    summary: 'Return the prefunded balances',
    input: NoInput,
    output: Balances,
  },
  '/transfers/send': {
    operationId: 'sendTransfer',
    summary: 'Execute a transfer. Repeated calls execute it only once',
    input: Transfer,
    output: TransferState,
  },
  '/transfers/state': {
    operationId: 'getTransferState',
    summary: 'Return the state of a transfer, or 404 if the transfer is unknown',
    input: TransferId,
    output: TransferState,
  },
  '/transfers/cancel': {
    operationId: 'cancelTransfer',
    summary: 'Cancel a transfer that has not been executed yet',
    input: TransferId,
    output: CancelResult,
  },
  ...RECALL_CALLS,
  ...FIRM_QUOTE_CALLS,
  ...SERVICE_CALLS,
  ...STABLECOIN_CALLS,
  ...CUSTODY_CALLS,
  '/statements/day': {
    operationId: 'getStatement',
    summary: 'Return a page of the statement of a day, or 404 before the end of the day',
    input: StatementDay,
    output: StatementPage,
  },
  '/cards/issue': {
    operationId: 'issueCard',
    summary: 'Issue a card. Repeated calls issue only one card',
    input: IssueCard,
    output: CardIssuing,
  },
  '/cards/state': {
    operationId: 'getCardState',
    summary: 'Return the state of an order, or 404 if it is unknown',
    input: CardIdInput,
    output: CardIssuing,
  },
  '/cards/change': {
    operationId: 'changeCard',
    summary: 'Set the state, limits and stand-in rules of a card',
    input: ChangeCard,
    output: CardChanged,
  },
  '/cards/details': {
    operationId: 'getCardDetails',
    summary: 'Return number, expiry and security code of a card',
    input: CardDetailsInput,
    output: CardNumber,
  },
};

const SIGNATURE =
  'Every request is signed with HTTP Message Signatures (RFC 9421), with Ed25519 over ' +
  '`@method`, `@authority`, `@path` and `content-digest` (RFC 9530). See docs/guides/providers.md.';

const HEADERS = Object.entries({
  'Content-Digest': 'SHA-256 digest of the body (RFC 9530).',
  'Signature-Input': 'Signed components, time, ID of the key and algorithm (RFC 9421).',
  Signature: 'Signature of the components (RFC 9421).',
}).map(([name, description]) => ({
  name,
  in: 'header',
  required: true,
  description,
  schema: { type: 'string' },
}));

function operationOf(
  { operationId, summary, input, output }: ProviderCall,
  components: Record<string, unknown>,
  errors: Record<string, string>,
) {
  const json = (schema: TSchema) => ({
    content: { 'application/json': { schema: toOpenApi(schema, components) } },
  });
  const responses = Object.entries(errors).map(([status, description]) => [
    status,
    { description },
  ]);
  return {
    operationId,
    summary,
    parameters: HEADERS,
    requestBody: { required: true, ...json(input) },
    responses: {
      200: { description: 'Result of the call.', ...json(output) },
      ...Object.fromEntries(responses),
    },
  };
}

const CALL_ERRORS = {
  401: 'The signature is missing or invalid.',
  404: 'The resource of the call does not exist at the provider.',
};
const MESSAGE_ERRORS = {
  400: 'The message is invalid. `details.errors` contains all invalid fields with the reasons.',
  401: 'The signature is missing or invalid.',
  409: 'The message contradicts the recorded state. Do not send it again.',
  429: 'Too many messages. Send the message again later.',
};

export function providerDocument(): { paths: Record<string, unknown> } & Record<string, unknown> {
  const schemas: Record<string, unknown> = {};
  const paths = Object.fromEntries(
    Object.entries(CALLS).map(([path, call]) => [
      path,
      { post: operationOf(call, schemas, CALL_ERRORS) },
    ]),
  );
  const receive = {
    operationId: 'receiveMessage',
    summary: 'Send a message to Railhead, at /connectors/{providerId}',
    input: Message,
    output: MessageResult,
  };
  const webhooks = { message: { post: operationOf(receive, schemas, MESSAGE_ERRORS) } };
  return {
    openapi: '3.1.0',
    info: {
      title: 'Railhead provider protocol',
      version: PROTOCOL_VERSION,
      description: `The calls that a provider implements, and the messages that it sends. ${SIGNATURE}`,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'https://provider.example.com', description: 'URL of the provider.' }],
    paths,
    webhooks,
    components: { schemas },
  };
}
