// Title, servers, tags and credentials of an OpenAPI document, which do not follow from contracts.
import type { Naming } from '../../catalog/naming.ts';
import { DEFAULT_MAX_BODY } from '../../kernel/contract/operation.ts';
import type { Code } from '../../kernel/fault.ts';
import { ERROR_GUIDE, type Guide } from '../error-guide.ts';
import { TAGS } from '../tags.ts';

type Json = Record<string, unknown>;

/** The part of a document that does not follow from contracts. */
export interface DocumentHead {
  openapi: string;
  info: Json;
  externalDocs?: Json;
  servers: Json[];
  tags: Json[];
  securitySchemes(naming: Naming): Json;
  /** Cause and remedy of each error code. */
  errorGuide: Readonly<Record<Code, Guide>>;
}

const HEAD: Omit<DocumentHead, 'securitySchemes' | 'errorGuide'> = {
  openapi: '3.1.0',
  info: {
    title: 'Railhead',
    version: '2025-10-13',
    description:
      'API of a payments platform: customers and their verification, accounts, quotes, ' +
      'transfers, wallets, cards, agents, stablecoins and webhooks, with a sandbox. ' +
      'Amounts are in minor units of their currency. The JSON body of a request has at ' +
      `most ${DEFAULT_MAX_BODY} bytes unless the operation states another limit.`,
    license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
  },
  externalDocs: { description: 'Guides, concepts, errors and webhooks', url: '/docs' },
  servers: [{ url: '/2025-10-13' }],
  tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
};

const securitySchemesOf = (naming: Naming) => ({
  BasicAuth: {
    type: 'http',
    scheme: 'basic',
    description: 'API token of the platform: client ID and client secret.',
  },
  AgentAuth: {
    type: 'http',
    scheme: 'bearer',
    description: 'Access token of an agent, from `redeemAgentDeviceCode`.',
  },
  WebhookSignature: {
    type: 'apiKey',
    in: 'header',
    name: naming.webhookSignatureHeader,
    description:
      'ECDSA P-256 signature (SHA-256, DER, base64) over the raw body of the webhook. The header ' +
      `\`${naming.webhookKeyIdHeader}\` has the ID of its key, which is listed at ` +
      '`/.well-known/webhook-keys.json`.',
  },
});

/** The head of the document for platforms. */
export const PLATFORM_HEAD: DocumentHead = {
  ...HEAD,
  securitySchemes: securitySchemesOf,
  errorGuide: ERROR_GUIDE,
};
