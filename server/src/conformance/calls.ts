// Calls to the adapter as Railhead makes them: signed, with a deadline. A check can alter what is
// signed and what is sent, and can hang up before the response.
import { setTimeout as sleep } from 'node:timers/promises';
import { type SignatureKey, signRequest } from '../kernel/crypto/http-signatures.ts';
import type { Effects } from '../kernel/effects.ts';

/** As long as Railhead waits for a response. */
const DEADLINE_MS = 15_000;
const MAX_BYTES = 1_048_576;
/** Time between the end of a request and the end of its connection. */
const HANG_UP_MS = 20;

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

/** How a call differs from one of Railhead. */
export interface Alteration {
  key?: SignatureKey;
  /** Milliseconds by which the signature is older. */
  ageMs?: number;
  /** Components that the signature covers. */
  components?: readonly string[];
  /** Changes the request that is signed, but not sent. */
  signed?(request: SentRequest): void;
  /** Changes the signed request before it is sent. */
  sent?(request: SentRequest): void;
}

export interface Calls {
  call(path: string, body: object | string, alteration?: Alteration): Promise<Reply>;
  /** Closes the connection in the middle of the request, or after it and before its response. */
  hangUp(path: string, body: object, when: 'during' | 'after'): Promise<void>;
}

const textOf = (body: object | string) => (typeof body === 'string' ? body : JSON.stringify(body));

export function callsTo(effects: Effects, url: string, key: SignatureKey): Calls {
  async function signed(path: string, body: object | string, alteration: Alteration = {}) {
    const { ageMs = 0, components } = alteration;
    // A connection from before a restart of the adapter must not be used again.
    const headers = { 'content-type': 'application/json', connection: 'close' };
    const request: SentRequest = { url: url + path, headers, body: textOf(body) };
    const toSign = { ...request };
    alteration.signed?.(toSign);
    const signable = { method: 'POST', ...toSign };
    const created = effects.now() - ageMs;
    request.headers = await signRequest(alteration.key ?? key, signable, created, components);
    alteration.sent?.(request);
    return request;
  }
  return {
    async call(path, body, alteration) {
      const request = await signed(path, body, alteration);
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
    async hangUp(path, body, when) {
      const { url: target, headers, body: text } = await signed(path, body);
      const bytes = Buffer.from(text);
      async function* content() {
        yield when === 'after' ? bytes : bytes.subarray(0, bytes.length / 2);
        await sleep(HANG_UP_MS);
        throw new Error('hung up');
      }
      const request = {
        ...{ url: target, method: 'POST' as const, body: content() },
        headers: { ...headers, 'content-length': String(bytes.length) },
        ...{ timeoutMs: DEADLINE_MS, deadlineMs: DEADLINE_MS },
      };
      // A response that arrives earlier is closed unread.
      const reply = await effects.stream(request).catch(() => undefined);
      for await (const _ of reply?.body ?? []) break;
    },
  };
}
