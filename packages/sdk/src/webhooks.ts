// Entry `railhead-sdk/webhooks`: verifies that a webhook comes from the server and parses it. Both
// signature schemes use Web Crypto: the scheme of the server, and Standard Webhooks.
import { type Bytes, concat, fromBase64, fromUtf8, utf8 } from './crypto/bytes.ts';
import { verificationKey, verifyDer } from './crypto/ecdsa.ts';
import { clientError } from './error.ts';
import type { EventType, WebhookEvent } from './events.ts';

export { isRailheadError, RailheadError } from './error.ts';
export type { EventType, WebhookEvent } from './events.ts';
export type { EventDataByType } from './generated/events.ts';

type HeaderValue = string | readonly string[] | undefined;

/** A webhook as received, and the keys that may have signed it. */
export interface VerifyOptions {
  /** The raw body as received, as text or bytes. */
  readonly body: string | Uint8Array | ArrayBuffer;
  /** Headers of the request: `Headers` of `fetch`, or an object as in Node.js. */
  readonly headers: Headers | Readonly<Record<string, HeaderValue>>;
  /**
   * Accepted keys: public keys of the server (PEM), secrets of an endpoint (`whsec_…`), or the
   * public key of Standard Webhooks (`whpk_…`). One of them must have signed the webhook. Pass
   * several during a rotation.
   */
  readonly keys: string | readonly string[];
  /** Maximum age of a Standard Webhooks signature, in seconds. Default: 300. */
  readonly tolerance?: number;
  /** Current time, in milliseconds since 1970. For tests. */
  readonly now?: number;
}

interface Message {
  readonly body: Bytes;
  readonly id: string;
  readonly timestamp: string;
  readonly standard: readonly string[];
  readonly service: readonly string[];
}

interface Verifier {
  readonly signsTime: boolean;
  /** Whether the message is signed by the key, or undefined without a signature of its scheme. */
  check(message: Message): Promise<boolean | undefined>;
}

const DEFAULT_TOLERANCE_S = 300;
const ED25519_SPKI_LENGTH = 44;

const bytesOf = (body: VerifyOptions['body']): Bytes =>
  typeof body === 'string' ? utf8(body) : new Uint8Array(body);

const invalidError = (reason: string) => clientError('WEBHOOK_INVALID', reason);

function headersOf(headers: VerifyOptions['headers']): Map<string, string> {
  const entries =
    typeof (headers as Headers).entries === 'function'
      ? [...(headers as Headers).entries()]
      : Object.entries(headers as Record<string, HeaderValue>);
  return new Map(
    entries.flatMap(([name, value]) =>
      value === undefined ? [] : [[name.toLowerCase(), String(value)] as const],
    ),
  );
}

function messageOf({ body, headers }: VerifyOptions): Message {
  const parsedHeaders = headersOf(headers);
  // An operator can replace the prefix `Service`.
  const service = [...parsedHeaders].filter(([name]) => /^x-\w+-signature$/.test(name));
  return {
    body: bytesOf(body),
    id: parsedHeaders.get('webhook-id') ?? '',
    timestamp: parsedHeaders.get('webhook-timestamp') ?? '',
    standard: (parsedHeaders.get('webhook-signature') ?? '').split(' ').filter(Boolean),
    service: service.map(([, value]) => value),
  };
}

function decodeKey(text: string): Bytes | undefined {
  try {
    return fromBase64(text);
  } catch {
    return undefined;
  }
}

const someAsync = async <T>(items: readonly T[], test: (each: T) => Promise<boolean>) => {
  for (const each of items) if (await test(each)) return true;
  return false;
};

/** A verifier of signatures of one version of Standard Webhooks. */
const standardVerifier = (version: string, key: CryptoKey, algorithm: string): Verifier => ({
  signsTime: true,
  async check({ id, timestamp, body, standard: standardSignatures }) {
    const signatures = standardSignatures.filter((each) => each.startsWith(`${version},`));
    if (signatures.length === 0) return undefined;
    const signedText = concat(utf8(`${id}.${timestamp}.`), body);
    return someAsync(signatures, async (labeledSignature) => {
      const signature = decodeKey(labeledSignature.slice(version.length + 1));
      return signature ? crypto.subtle.verify(algorithm, key, signature, signedText) : false;
    });
  },
});

const serviceVerifier = (key: CryptoKey): Verifier => ({
  signsTime: false,
  async check({ body, service: serviceSignatures }) {
    if (serviceSignatures.length === 0) return undefined;
    return someAsync(serviceSignatures, async (text) => {
      const der = decodeKey(text);
      return der ? verifyDer(key, der, body) : false;
    });
  },
});

async function ed25519Verifier(format: 'spki' | 'raw', key: Bytes): Promise<Verifier> {
  const importedKey = await crypto.subtle.importKey(format, key, 'Ed25519', false, ['verify']);
  return standardVerifier('v1a', importedKey, 'Ed25519');
}

async function verifierOf(key: string): Promise<Verifier> {
  if (key.startsWith('whsec_')) {
    const hmac = { name: 'HMAC', hash: 'SHA-256' };
    const secret = fromBase64(key.slice('whsec_'.length));
    const importedKey = await crypto.subtle.importKey('raw', secret, hmac, false, ['verify']);
    return standardVerifier('v1', importedKey, 'HMAC');
  }
  if (key.startsWith('whpk_')) return ed25519Verifier('raw', fromBase64(key.slice('whpk_'.length)));
  const spki = fromBase64(key.replaceAll(/-----[^-]+-----|\s/g, ''));
  if (spki.length === ED25519_SPKI_LENGTH) return ed25519Verifier('spki', spki);
  return serviceVerifier(await verificationKey('spki', spki));
}

const MAX_CACHED_VERIFIERS = 100;
const cache = new Map<string, Promise<Verifier>>();

/** Verifiers are cached, because importing a key takes longer than verifying with it. */
function verifierFor(key: string): Promise<Verifier> {
  const cachedVerifier = cache.get(key);
  if (cachedVerifier) return cachedVerifier;
  if (cache.size >= MAX_CACHED_VERIFIERS) cache.clear();
  const verifier = verifierOf(key).catch(() => {
    cache.delete(key);
    const forms = 'a public key in PEM, `whsec_…` or `whpk_…`';
    throw clientError('INVALID_CLIENT_INPUT', `A key is invalid. A key of a webhook is ${forms}.`);
  });
  cache.set(key, verifier);
  return verifier;
}

function checkTime({ timestamp }: Message, options: VerifyOptions): void {
  const { tolerance = DEFAULT_TOLERANCE_S, now = Date.now() } = options;
  const age = Math.abs(now / 1000 - Number(timestamp));
  // The negated comparison also rejects a timestamp that is not a number.
  if (!(age <= tolerance)) {
    throw invalidError(
      `The time of the signature differs from the clock by more than ${tolerance} s. ` +
        'Synchronize the clock of this machine.',
    );
  }
}

function parse(body: Bytes): WebhookEvent {
  try {
    return JSON.parse(fromUtf8(body)) as WebhookEvent;
  } catch {
    throw invalidError('The body is not JSON.');
  }
}

/**
 * Verifies a webhook and returns its event. Rejects with `WEBHOOK_INVALID` unless one of the keys
 * has signed it. Only Standard Webhooks signatures include the time of the delivery. With the
 * public key of the server alone, use the `id` of events to detect replays.
 */
export async function verify(options: VerifyOptions): Promise<WebhookEvent> {
  const message = messageOf(options);
  const keys = typeof options.keys === 'string' ? [options.keys] : options.keys;
  let hasSignature = false;
  for (const key of keys) {
    const verifier = await verifierFor(key);
    const hasSigned = await verifier.check(message);
    hasSignature ||= hasSigned !== undefined;
    if (!hasSigned) continue;
    if (verifier.signsTime) checkTime(message, options);
    return parse(message.body);
  }
  throw invalidError(
    hasSignature
      ? 'No key has signed this body. Verify the raw body, before it is parsed.'
      : 'The request has no signature by one of the keys.',
  );
}

/** Narrows an event to one or several types. */
export const isEvent = <Type extends EventType>(
  event: WebhookEvent,
  ...types: readonly Type[]
): event is Extract<WebhookEvent, { readonly type: Type }> => types.includes(event.type as Type);
