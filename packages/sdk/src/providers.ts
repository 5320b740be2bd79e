// Entry `railhead-sdk/providers`: for adapters of banks, processors and issuers. Verifies calls of
// Railhead and signs messages to Railhead (RFC 9421, Ed25519). Only Web Crypto is used, so that the
// entry runs in every runtime with `fetch` and Ed25519. The types are generated from
// docs/providers/openapi.json.
import { type Bytes, fromBase64, toBase64Url, utf8 } from './crypto/bytes.ts';
import type { Message, paths } from './generated/providers.ts';

export type * from './generated/providers.ts';

type Json<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type InputOf<Path extends keyof paths> = Json<paths[Path]['post']['requestBody']>;
type OutputOf<Path extends keyof paths> = Json<paths[Path]['post']['responses'][200]>;

/** The calls that an adapter serves, by path. `undefined` means that the subject is unknown. */
export type ProviderCalls = {
  readonly [Path in keyof paths]?: (
    input: InputOf<Path>,
  ) => OutputOf<Path> | undefined | Promise<OutputOf<Path> | undefined>;
};

/** A received call, independent of the HTTP server. */
export interface ProviderRequest {
  readonly method: string;
  /** The URL that Railhead calls. Its host and path are signed. */
  readonly url: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** The raw body. */
  readonly body: string;
}

export interface ProviderResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface ProviderHandlerOptions {
  /** Public keys of Railhead for this provider, as PEM. Several during a rotation. */
  readonly keys: string | readonly string[];
  /** Functions that serve the calls. */
  readonly calls: ProviderCalls;
  /** Current time in milliseconds since 1970. For tests. */
  readonly now?: () => number;
}

const WINDOW_MS = 300_000;
const COVERED_COMPONENTS = '("@method" "@authority" "@path" "content-digest")';

const derOf = (pem: string): Bytes => fromBase64(pem.replaceAll(/-----[^-]+-----|\s/g, ''));

const toBase64 = (bytes: ArrayBuffer | Uint8Array): string =>
  btoa(Array.from(new Uint8Array(bytes), (each) => String.fromCharCode(each)).join(''));

const sha256 = (text: string): Promise<ArrayBuffer> => crypto.subtle.digest('SHA-256', utf8(text));

const digestOf = async (body: string) => `sha-256=:${toBase64(await sha256(body))}:`;

/** The JWK thumbprint (RFC 7638) of an Ed25519 key. */
const keyIdOf = async (x: string) =>
  toBase64Url(await sha256(JSON.stringify({ crv: 'Ed25519', kty: 'OKP', x })));

/** The text that is signed (RFC 9421, section 2.5). */
const baseOf = (method: string, url: string, digest: string, parameters: string): Bytes => {
  const { host, pathname } = new URL(url);
  const lines = [
    `"@method": ${method}`,
    `"@authority": ${host}`,
    `"@path": ${pathname}`,
    `"content-digest": ${digest}`,
    `"@signature-params": ${parameters}`,
  ];
  return utf8(lines.join('\n'));
};

async function publicKeyOf(pem: string) {
  const key = await crypto.subtle.importKey('spki', derOf(pem), 'Ed25519', true, ['verify']);
  const x = toBase64Url(await crypto.subtle.exportKey('raw', key));
  return { key, id: await keyIdOf(x) };
}

type PublicKey = Awaited<ReturnType<typeof publicKeyOf>>;

/** The reason why a request is not signed by one of the keys, or undefined if it is. */
async function signatureProblem(
  { method, url, headers, body }: ProviderRequest,
  keys: readonly PublicKey[],
  now: number,
): Promise<string | undefined> {
  const header = (name: string) => String(headers[name] ?? '');
  const [, label = '', parameters = ''] =
    /^([a-z*][\w.*-]*)=(.*)$/.exec(header('signature-input')) ?? [];
  const [, signedLabel, signature = ''] =
    /^([a-z*][\w.*-]*)=:([A-Za-z0-9+/=]+):$/.exec(header('signature')) ?? [];
  const createdAt = Number(/;created=(\d+)(;|$)/.exec(parameters)?.[1] ?? Number.NaN) * 1_000;
  const keyId = /;keyid="([^"]*)"/.exec(parameters)?.[1];
  const digest = header('content-digest');
  if (label === '' || label !== signedLabel || !parameters.startsWith(`${COVERED_COMPONENTS};`)) {
    return `The request has no signature over ${COVERED_COMPONENTS}.`;
  }
  if (digest !== (await digestOf(body))) return 'Content-Digest is not the digest of the body.';
  // The negated comparison also rejects a missing time.
  if (!(Math.abs(now - createdAt) <= WINDOW_MS))
    return 'The signature is too old, or the clocks differ by more than 5 minutes.';
  const knownKey = keys.find(({ id }) => id === keyId);
  if (!knownKey) return 'The signing key is unknown. Add the key of Railhead to `keys`.';
  const base = baseOf(method, url, digest, parameters);
  const isValid = await crypto.subtle.verify('Ed25519', knownKey.key, fromBase64(signature), base);
  return isValid ? undefined : 'The signature does not match the request.';
}

const response = (status: number, body: unknown): ProviderResponse => ({
  status,
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify(body),
});

function parse(body: string): unknown {
  try {
    return JSON.parse(body);
  } catch {
    return undefined;
  }
}

/**
 * Serves the calls of Railhead: 401 without a valid signature, 400 for a body that is not JSON, 404
 * for an unknown path or subject. An error of a call is thrown. Respond to it with 500, so that
 * Railhead repeats the call.
 */
export function providerHandler({ keys, calls, now = Date.now }: ProviderHandlerOptions) {
  const importedKeys = Promise.all([keys].flat().map((each) => publicKeyOf(each)));
  // An invalid key is reported by the first call.
  importedKeys.catch(() => undefined);
  return async (request: ProviderRequest): Promise<ProviderResponse> => {
    const problem = await signatureProblem(request, await importedKeys, now());
    if (problem !== undefined) return response(401, { message: problem });
    const { pathname } = new URL(request.url);
    const path = Object.keys(calls).find((each) => pathname.endsWith(each)) as
      | keyof ProviderCalls
      | undefined;
    // Each function takes the input of its path.
    const call = path && (calls[path] as ((input: unknown) => unknown) | undefined);
    const input = parse(request.body);
    if (input === undefined) return response(400, { message: 'The body is not JSON.' });
    const output = await call?.(input);
    return output === undefined
      ? response(404, { message: 'The path or the subject is unknown.' })
      : response(200, output);
  };
}

export interface MessageSenderOptions {
  /** Address at Railhead: `https://…/connectors/NAME`. */
  readonly url: string;
  /** Private key of the adapter, as PEM (PKCS #8). */
  readonly key: string;
  /** Replaces the global `fetch`. */
  readonly fetch?: typeof fetch;
  /** Current time in milliseconds since 1970. For tests. */
  readonly now?: () => number;
}

/** Maximum time of one attempt. */
const TIMEOUT_MS = 15_000;

/**
 * Sends signed messages. `delivered`: Railhead has processed the message. `rejected`: the message is
 * invalid or contradictory. Do not send it again. `later`: send the message again with the same
 * `id`.
 */
export function messageSender({
  url,
  key,
  fetch: send = fetch,
  now = Date.now,
}: MessageSenderOptions) {
  async function importKey() {
    const privateKey = await crypto.subtle.importKey('pkcs8', derOf(key), 'Ed25519', true, [
      'sign',
    ]);
    const { x = '' } = await crypto.subtle.exportKey('jwk', privateKey);
    return { privateKey, keyId: await keyIdOf(x) };
  }
  const keyPromise = importKey();
  // An invalid key is reported by the first message.
  keyPromise.catch(() => undefined);
  return async (message: Message): Promise<'delivered' | 'rejected' | 'later'> => {
    const { privateKey, keyId } = await keyPromise;
    const body = JSON.stringify(message);
    const digest = await digestOf(body);
    const createdAt = Math.floor(now() / 1_000);
    const parameters = `${COVERED_COMPONENTS};created=${createdAt};keyid="${keyId}";alg="ed25519"`;
    const base = baseOf('POST', url, digest, parameters);
    const signature = toBase64(await crypto.subtle.sign('Ed25519', privateKey, base));
    const headers = {
      'content-type': 'application/json',
      'content-digest': digest,
      'signature-input': `railhead=${parameters}`,
      signature: `railhead=:${signature}:`,
    };
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const status = await send(url, { method: 'POST', headers, body, signal }).then(
      async (reply) => {
        await reply.body?.cancel();
        return reply.status;
      },
      () => 0,
    );
    if (status === 200) return 'delivered';
    return status === 400 || status === 409 ? 'rejected' : 'later';
  };
}

/** A request of a server of Node.js. */
interface IncomingRequest extends AsyncIterable<Uint8Array> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

interface OutgoingResponse {
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  end(body: string): unknown;
}

async function bodyOf(request: IncomingRequest): Promise<string | undefined> {
  const decoder = new TextDecoder();
  let body = '';
  try {
    for await (const chunk of request) body += decoder.decode(chunk, { stream: true });
  } catch {
    return undefined;
  }
  return body + decoder.decode();
}

/**
 * A listener for `http.createServer` of Node.js. Behind a proxy that changes the header `Host`,
 * `origin` is the public origin, for example `https://adapter.example.com`.
 */
export function providerListener(
  handle: (request: ProviderRequest) => Promise<ProviderResponse>,
  { origin }: { readonly origin?: string } = {},
) {
  return async (request: IncomingRequest, outgoingResponse: OutgoingResponse): Promise<void> => {
    const { method = '', url = '', headers } = request;
    const body = await bodyOf(request);
    // The connection was closed during the call. Railhead repeats the call.
    if (body === undefined) return;
    const base = origin ?? `http://${headers.host ?? ''}`;
    const reply = await handle({ method, url: base + url, headers, body }).catch((error) => {
      console.error(error);
      return response(500, { message: 'The call failed. See the log of the adapter.' });
    });
    outgoingResponse.writeHead(reply.status, reply.headers);
    outgoingResponse.end(reply.body);
  };
}
