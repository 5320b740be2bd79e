// The public keys that verify webhooks, as a JSON Web Key Set at a well-known address. The address needs no
// credential and is outside the versioned base path. The list may be cached, because a key is listed before
// it signs.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { iso } from '../../kernel/effects.ts';
import { MODES, type Mode } from '../../kernel/mode.ts';
import { jwkOf, type PublicKeyView } from '../../runtime/security/keys.ts';

const PATH = '/.well-known/webhook-keys.json';
/** Seconds for which a reply may be cached. Much less than the default overlap of a rotation. */
const MAX_AGE_S = 300;

const ALG = { 'P-256': 'ES256', Ed25519: 'EdDSA' } as const;

const present = (key: PublicKeyView) => ({
  kid: key.keyId,
  use: 'sig',
  alg: ALG[key.algorithm],
  ...jwkOf(key.publicKeyPem),
  environment: key.environment,
  status: key.status.toUpperCase(),
  activeFrom: iso(key.activeFrom),
  ...(key.retiredAt === null ? {} : { expiresAt: iso(key.retiredAt) }),
});

const sendJson = (reply: FastifyReply, type: string, body: string) =>
  reply.header('content-type', type).send(body);

function rejectQuery(reply: FastifyReply, message: string) {
  const body = { status: 400, code: 'INVALID_INPUT', message };
  return sendJson(reply.code(400), 'application/json; charset=utf-8', JSON.stringify(body));
}

/** Adds the list. `publishedKeys` returns the keys, newest first. */
export function addWebhookKeys(
  server: FastifyInstance,
  publishedKeys: () => Promise<readonly PublicKeyView[]>,
): void {
  server.get(PATH, async ({ query, headers }, reply) => {
    const { environment, ...otherParameters } = query as Record<string, unknown>;
    const [unknownName] = Object.keys(otherParameters);
    if (unknownName !== undefined)
      return rejectQuery(
        reply,
        `${unknownName}: unknown query parameter. Only environment is supported.`,
      );
    if (environment !== undefined && !MODES.includes(environment as Mode)) {
      return rejectQuery(reply, `environment: must be ${MODES.join(' or ')}.`);
    }
    const keys = await publishedKeys();
    const selectedKeys = keys.filter(
      (key) => environment === undefined || key.environment === environment,
    );
    const body = JSON.stringify({ keys: selectedKeys.map(present) });
    const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
    reply.header('cache-control', `public, max-age=${MAX_AGE_S}`).header('etag', etag);
    if (headers['if-none-match'] === etag) return reply.code(304).send();
    return sendJson(reply, 'application/jwk-set+json', body);
  });
}
