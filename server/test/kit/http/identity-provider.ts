// An OpenID Connect identity provider: a local HTTP server with a discovery document and a key set,
// and keys that sign real tokens. A test can rotate its keys, replace its replies, and count its
// requests.
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { CompactSign, type CryptoKey, exportJWK, generateKeyPair, type JWK } from 'jose';

type Alg = 'RS256' | 'ES256';

/** A header or claims as a part of a token. */
export const segment = (value: unknown): string =>
  Buffer.from(JSON.stringify(value)).toString('base64url');

/** The nonce of a token for this key: the SHA-256 of its text, in hexadecimal. */
export const nonceOf = (clientPublicKey: string): string =>
  createHash('sha256').update(clientPublicKey).digest('hex');

export interface ProviderKey {
  alg: Alg;
  jwk: JWK;
  privateKey: CryptoKey;
}

export async function providerKey(kid: string, alg: Alg = 'RS256'): Promise<ProviderKey> {
  const { publicKey, privateKey } = await generateKeyPair(alg);
  return { alg, jwk: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' }, privateKey };
}

export const signToken = (
  { privateKey, alg, jwk }: ProviderKey,
  claims: object,
  header: object = {},
): Promise<string> =>
  new CompactSign(Buffer.from(JSON.stringify(claims)))
    .setProtectedHeader({ alg, kid: jwk.kid, ...header } as { alg: string })
    .sign(privateKey);

type ScriptedReply = (reply: ServerResponse, request: IncomingMessage) => void;

const json =
  (value: unknown): ScriptedReply =>
  (reply) =>
    reply.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(value));

export type IdentityProvider = Awaited<ReturnType<typeof startIdentityProvider>>;

export async function startIdentityProvider(keys: readonly ProviderKey[] = []) {
  let providerKeys = keys;
  let requestedPaths: string[] = [];
  /** Replies that replace the correct replies, by path. */
  const replacements = new Map<string, ScriptedReply>();
  const server = createServer((request, reply) => {
    const path = request.url as string;
    requestedPaths.push(path);
    const correctReplies: Record<string, ScriptedReply> = {
      '/.well-known/openid-configuration': json({ issuer, jwks_uri: `${issuer}/keys` }),
      '/keys': json({ keys: providerKeys.map(({ jwk }) => jwk) }),
    };
    const response = replacements.get(path) ?? correctReplies[path];
    if (response) response(reply, request);
    else reply.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    issuer,
    /** Replaces the keys of the key set. */
    show(...newKeys: ProviderKey[]) {
      providerKeys = newKeys;
    },
    spoil: (path: string, response: ScriptedReply | object) =>
      replacements.set(
        path,
        typeof response === 'function' ? (response as ScriptedReply) : json(response),
      ),
    restore: () => replacements.clear(),
    /** Paths requested since the last call. */
    takeRequests(): string[] {
      const takenPaths = requestedPaths;
      requestedPaths = [];
      return takenPaths;
    },
    close: () =>
      new Promise<void>((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
