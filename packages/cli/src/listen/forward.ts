// Sends a webhook to the receiver, with the headers and the body that the server has signed.
import http from 'node:http';
import https from 'node:https';
import { usageError } from '../exit.ts';

export interface Webhook {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export type Forwarded =
  | { readonly kind: 'replied'; readonly status: number; readonly ms: number }
  /** No connection: the receiver has not received the event. */
  | { readonly kind: 'refused'; readonly error: string }
  /** The receiver may have received the event. */
  | { readonly kind: 'failed'; readonly error: string; readonly ms: number };

const TIMEOUT_MS = 30_000;
/**
 * Whether no connection existed, so that no data was sent. An AggregateError has the failures of all
 * addresses of a name.
 */
const isBeforeConnection = (error: NodeJS.ErrnoException): boolean =>
  error instanceof AggregateError || ['getaddrinfo', 'connect'].includes(error.syscall ?? '');

/** Completes `3000/hook` and `localhost:3000/hook` to a URL. */
export function receiverOf(text: string): URL {
  const hint = 'Example: localhost:3000/webhooks';
  if (/^(?!https?:)[a-z][a-z\d+.-]*:\/\//i.test(text)) {
    throw usageError(`--forward-to: ${text} is neither an http nor an https URL.`, hint);
  }
  const withHost = /^\d+(\/|$)/.test(text) ? `localhost:${text}` : text;
  const withScheme = /^https?:\/\//i.test(withHost) ? withHost : `http://${withHost}`;
  try {
    return new URL(withScheme);
  } catch {
    throw usageError(`--forward-to: ${text} is not a URL.`, hint);
  }
}

export function forward(url: URL, { headers, body }: Webhook): Promise<Forwarded> {
  const startedAt = performance.now();
  const ms = () => Math.round(performance.now() - startedAt);
  const { request } = url.protocol === 'https:' ? https : http;
  return new Promise((resolve) => {
    const outgoingRequest = request(url, {
      method: 'POST',
      headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      // A connection that is kept could be closed by the receiver while the event is sent.
      agent: false,
      timeout: TIMEOUT_MS,
    });
    outgoingRequest.once('response', (response) => {
      response.resume();
      // Resolves immediately, to shorten the time in which a kill leaves the result uncertain.
      resolve({ kind: 'replied', status: response.statusCode ?? 0, ms: ms() });
    });
    outgoingRequest.once('timeout', () => {
      const syscall = outgoingRequest.socket?.connecting ? 'connect' : 'read';
      const error = new Error(`no reply within ${TIMEOUT_MS / 1_000} s`);
      outgoingRequest.destroy(Object.assign(error, { syscall }));
    });
    outgoingRequest.once('error', (error: NodeJS.ErrnoException) => {
      const text = error.message || error.code || 'failed';
      resolve(
        isBeforeConnection(error)
          ? { kind: 'refused', error: text }
          : { kind: 'failed', error: text, ms: ms() },
      );
    });
    outgoingRequest.end(body);
  });
}
