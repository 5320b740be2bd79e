// Calls to the adapter as Railhead makes them: signed, with a deadline. A check can alter the
// signature or the request, and can abort a call before the response.
import { setTimeout as sleep } from 'node:timers/promises';
import { type SignatureKey, signRequest } from '../kernel/crypto/http-signatures.ts';
import type { Effects } from '../kernel/effects.ts';

/** The deadline of Railhead for a response. */
const DEADLINE_MS = 15_000;
const MAX_BYTES = 1_048_576;
/** Default time between the last byte of an aborted request and the closing of its connection. */
const ABORT_AFTER_MS = 20;

export interface Reply {
  readonly status: number;
  readonly body: string;
  readonly durationMs: number;
}

interface SentRequest {
  url: string;
  headers: Record<string, string>;
  body: string;
}

/** Differences of a call from a correct one. */
export interface Alteration {
  key?: SignatureKey;
  /** Age of the signature in milliseconds. */
  ageMs?: number;
  /** Components that the signature covers. */
  components?: readonly string[];
  /** Changes only the request over which the signature is computed. */
  changeSigned?(request: SentRequest): void;
  /** Changes the request after it was signed. */
  changeSent?(request: SentRequest): void;
}

export interface Calls {
  call(path: string, body: object | string, alteration?: Alteration): Promise<Reply>;
  /** Closes the connection during the request, or after it and before the response. */
  abort(path: string, body: object, phase: 'during' | 'after', waitMs?: number): Promise<void>;
}

const textOf = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body));

export function callsTo(effects: Effects, url: string, key: SignatureKey): Calls {
  async function signedRequest(path: string, body: object | string, alteration: Alteration = {}) {
    const { ageMs = 0, components } = alteration;
    // A connection from before a restart of the adapter must not be reused.
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const request: SentRequest = { url: url + path, headers, body: textOf(body) };
    const requestToSign = { ...request };
    alteration.changeSigned?.(requestToSign);
    const signable = { method: 'POST', ...requestToSign };
    const createdAt = effects.now() - ageMs;
    request.headers = await signRequest(alteration.key ?? key, signable, createdAt, components);
    alteration.changeSent?.(request);
    return request;
  }
  return {
    async call(path, body, alteration) {
      const request = await signedRequest(path, body, alteration);
      const start = effects.now();
      const { status, body: text } = await effects.http({
        ...request,
        method: 'POST',
        timeoutMs: DEADLINE_MS,
        maxBytes: MAX_BYTES,
        publicOnly: false,
      });
      return { status, body: text, durationMs: effects.now() - start };
    },
    async abort(path, body, phase, waitMs = ABORT_AFTER_MS) {
      const { url: target, headers, body: text } = await signedRequest(path, body);
      const bytes = Buffer.from(text);
      async function* content() {
        yield phase === 'after' ? bytes : bytes.subarray(0, bytes.length / 2);
        await sleep(waitMs);
        throw new Error('aborted');
      }
      const request = {
        ...{ url: target, method: 'POST' as const, body: content() },
        headers: { ...headers, 'content-length': String(bytes.length) },
        ...{ timeoutMs: DEADLINE_MS, deadlineMs: DEADLINE_MS },
      };
      // A response that arrives earlier is discarded.
      const reply = await effects.stream(request).catch(() => undefined);
      for await (const _ of reply?.body ?? []) break;
    },
  };
}
