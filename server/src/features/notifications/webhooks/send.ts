// One delivery attempt, for the deliverer, a test of the endpoint or a synchronous webhook. Errors
// are part of the result and never thrown.

import type { Naming } from '../../../catalog/naming.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { Mode } from '../../../kernel/mode.ts';
import { endpointProblem, mustBePublic } from '../../../kernel/net/endpoint.ts';
import { maskBody, maskHeader } from '../../../runtime/observability/received-text.ts';
import type { SigningKeys } from '../../../runtime/security/key-ring.ts';
import type { Vault } from '../../../runtime/security/vault.ts';
import {
  createEndpointSigner,
  type EndpointKey,
  type EndpointSigner,
  type EventFormat,
} from '../endpoints/index.ts';
import {
  bodyOf,
  createSignatures,
  headersOf,
  type Signatures,
  type StoredEvent,
  signatureOf,
  signedText,
  standardHeaders,
  standardSignature,
} from './envelope.ts';
import { ANSWER_TIMEOUT_MS } from './schedule.ts';

export interface SendDeps {
  effects: Effects;
  keys: SigningKeys;
  naming: Naming;
  /** Whether sandbox platforms may use loopback endpoints. */
  loopbackWebhooks: boolean;
  /** Defaults to `ANSWER_TIMEOUT_MS`. Shorter in tests. */
  answerTimeoutMs?: number;
  /** Signs for endpoints with their own keys. */
  signWithKeys?: EndpointSigner;
  /** The service's signatures of recent events. If absent, each signature is computed. */
  signatures?: Signatures;
}

/** Target and format of a delivery. */
export interface Target {
  url: string;
  environment: Mode;
  /** Whether the delivery has the headers of Standard Webhooks. Defaults to true. */
  standard?: boolean;
  /** Defaults to FULL. */
  format?: EventFormat;
  /**
   * Keys that sign the headers of Standard Webhooks. If absent or null, the keys of the service.
   */
  keys?: EndpointKey[] | null;
}

/** Result of an attempt. Either `status` or `error` is set. */
export interface AttemptOutcome {
  /** Start of the attempt. */
  at: Time;
  status: number | null;
  error: string | null;
  ms: number;
  headers: Record<string, string>;
  /** Response body, up to `MAX_RESPONSE_BYTES`. */
  responseText: string | null;
}

/**
 * Maximum number of bytes to read. It exceeds the stored length, so that connections remain open
 * after ordinary responses.
 */
const MAX_RESPONSE_BYTES = 16_384;
const MAX_STORED_RESPONSE_BYTES = 1_024;
const MAX_STORED_ERROR_LENGTH = 200;

/** PostgreSQL text cannot contain a NUL character. */
const withoutNul = (text: string) => text.replaceAll('\0', '');

/** The stored part of a response: at most 1 KB, masked. */
export function excerptOf(responseText: string | null): string | null {
  if (responseText === null) return null;
  // The body is masked before it is cut, because a cut secret would not be recognized.
  const bytes = Buffer.from(withoutNul(maskBody(responseText)));
  if (bytes.length <= MAX_STORED_RESPONSE_BYTES) return bytes.toString('utf8');
  // The last character may be incomplete.
  return bytes.toString('utf8', 0, MAX_STORED_RESPONSE_BYTES).replace(/\uFFFD$/, '');
}

function errorText(error: unknown): string {
  const { code, message } = error as { code?: unknown; message?: unknown };
  const parts = [code, message].filter((each) => typeof each === 'string' && each !== '');
  return withoutNul(parts.join(': ') || 'the request failed').slice(0, MAX_STORED_ERROR_LENGTH);
}

/** Headers of the connection, and headers without information beyond the attempt. */
const OMITTED_HEADERS = new Set(['connection', 'keep-alive', 'transfer-encoding', 'date']);
const MAX_STORED_HEADER_BYTES = 1_024;

/**
 * The stored part of the response headers: up to about 1 KB of JSON, secrets masked, or null
 * without remaining headers.
 */
export function headOf(headers: Readonly<Record<string, string>>): string | null {
  let head = '';
  for (const name in headers) {
    if (OMITTED_HEADERS.has(name)) continue;
    const value = withoutNul(maskHeader(name, String(headers[name])));
    const member = `${JSON.stringify(withoutNul(name))}:${JSON.stringify(value)}`;
    if (Buffer.byteLength(head) + Buffer.byteLength(member) > MAX_STORED_HEADER_BYTES) continue;
    head = head ? `${head},${member}` : member;
  }
  return head ? `{${head}}` : null;
}

type SigningDeps = Pick<SendDeps, 'keys' | 'naming' | 'signatures' | 'signWithKeys'>;

/** Body and headers of a delivery. The body is identical in every attempt. */
function signDelivery(
  deps: SigningDeps,
  event: StoredEvent,
  target: Omit<Target, 'url'>,
  now: Time,
): { body: string; headers: Record<string, string> } {
  const { naming, keys, signatures, signWithKeys } = deps;
  const key = keys[target.environment];
  const format = target.format ?? 'FULL';
  const body = bodyOf(event, naming, format);
  const signature = signatures?.of(event.id, format, body, key) ?? signatureOf(body, key);
  const headers = headersOf(signature, key, naming);
  if (target.standard === false) return { body, headers };
  const text = signedText(event.id, body, now);
  const ownSignatures =
    target.keys && signWithKeys ? signWithKeys(target.keys, text, now) : undefined;
  return {
    body,
    headers: {
      ...headers,
      ...standardHeaders(event.id, now, ownSignatures ?? standardSignature(text, key)),
    },
  };
}

/** Body and signed headers of an event for an endpoint that receives no requests. */
export type DeliverySigner = (
  event: StoredEvent,
  target: Omit<Target, 'url'>,
  now: Time,
) => ReturnType<typeof signDelivery>;

export function createDeliverySigner(
  deps: Pick<SendDeps, 'keys' | 'naming'>,
  vault: Pick<Vault, 'openOwn'>,
): DeliverySigner {
  const signingDeps = {
    ...deps,
    signatures: createSignatures(),
    signWithKeys: createEndpointSigner(vault),
  };
  return (event, target, now) => signDelivery(signingDeps, event, target, now);
}

const failedAttempt = (startedAt: Time, ms: number, error: string): AttemptOutcome => ({
  at: startedAt,
  status: null,
  error,
  ms,
  headers: {},
  responseText: null,
});

/**
 * Sends an event. Takes up to `ANSWER_TIMEOUT_MS`. `traceparent` is the header of a sampled trace.
 */
export async function send(
  deps: SendDeps,
  event: StoredEvent,
  target: Target,
  traceparent?: string,
): Promise<AttemptOutcome> {
  const { effects } = deps;
  const { url, environment } = target;
  const startedAt = effects.now();
  const problem = endpointProblem(url, { environment, loopback: deps.loopbackWebhooks });
  if (problem) return failedAttempt(startedAt, 0, `EADDRREFUSED: the URL ${problem}`);
  try {
    const { body, headers } = signDelivery(deps, event, target, startedAt);
    const reply = await effects.http({
      ...{ url, method: 'POST', body },
      headers: traceparent === undefined ? headers : { ...headers, traceparent },
      timeoutMs: deps.answerTimeoutMs ?? ANSWER_TIMEOUT_MS,
      maxBytes: MAX_RESPONSE_BYTES,
      publicOnly: mustBePublic(url),
      repeatable: true,
    });
    const ms = effects.now() - startedAt;
    const { status } = reply;
    return {
      ...{ at: startedAt, status, error: null, ms },
      ...{ headers: reply.headers, responseText: reply.body },
    };
  } catch (error) {
    return failedAttempt(startedAt, effects.now() - startedAt, errorText(error));
  }
}
