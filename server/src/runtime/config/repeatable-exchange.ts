// HTTP requests that may be sent twice, such as webhook deliveries, whose receivers detect a
// repeated id. They use undici, which costs half the processor time of  the client of Node.js but does
// not show whether a connection was used before. A request is sent once more if its connection
// broke before the response and the receiver may have closed it as idle.
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { HttpReply, HttpRequest } from '../../kernel/effects.ts';

interface ExchangeOptions {
  lookup: LookupFunction;
  /** Sockets to one receiver. */
  maxSockets: number;
  /** How long an unused socket remains open. */
  idleMs: number;
}

const MAX_ORIGINS = 10_000;

type Settle = (error: Error | null, reply?: HttpReply) => void;

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

const codeOf = (error: Error) => (error as { code?: string }).code ?? '';

/** undici's code for a connection that was closed early is not a system code. */
const publicError = (error: Error): Error =>
  codeOf(error) === 'UND_ERR_SOCKET' ? failure('ECONNRESET', 'closed without a response') : error;

const isBroken = (error: Error) =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));

const joinValues = (
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );

/** Collects one response, up to `maxBytes`. A longer one is truncated and its connection closed. */
function handlerOf(maxBytes: number, settle: Settle): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  let remaining = maxBytes;
  let head: Omit<HttpReply, 'body'> | undefined;
  const finish = () => {
    if (head) settle(null, { ...head, body: Buffer.concat(chunks).toString('utf8') });
  };
  return {
    onRequestStart: () => undefined,
    onResponseStart(_controller, status, headers) {
      head = { status, headers: joinValues(headers) };
    },
    onResponseData(controller, chunk) {
      chunks.push(chunk.subarray(0, remaining));
      if (chunk.length > remaining) {
        finish();
        controller.abort(failure('ETOOLARGE', 'the response is too long'));
      }
      remaining -= chunk.length;
    },
    onResponseEnd() {
      // undici frees the connection in an immediate that is scheduled after this call. A request that
      // started earlier would open another connection.
      queueMicrotask(() => setImmediate(finish));
    },
    onResponseError(_controller, error) {
      settle(error);
    },
  };
}

/** Exchanges on separate connections. They reject like exchanges of `Effects.http`. */
export function repeatableExchanges({ lookup, maxSockets, idleMs }: ExchangeOptions) {
  const settings = {
    connections: maxSockets,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    // Each exchange has its own deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup, noDelay: true },
  };
  const pooled = new Agent({ ...settings, pipelining: 1 });
  // Opens a connection for each request: another pooled one may be closing as well.
  const unpooled = new Agent({ ...settings, pipelining: 0 });

  /** Time of the last response of each receiver. */
  const responses = new Map<string, number>();

  function recordResponse(origin: string): void {
    if (responses.size >= MAX_ORIGINS) responses.clear();
    responses.set(origin, performance.now());
  }

  const mayBeIdle = (origin: string) =>
    performance.now() - (responses.get(origin) ?? -idleMs) < idleMs;

  return ({ url, method, headers, body = '', timeoutMs, maxBytes }: HttpRequest) =>
    new Promise<HttpReply>((resolve, reject) => {
      const { origin, pathname, search } = new URL(url);
      const options = { origin, path: pathname + search, method, headers, body };
      let isOpen = true;
      let controller: Dispatcher.DispatchController | undefined;
      const settle = (act: () => void) => {
        if (!isOpen) return;
        isOpen = false;
        clearTimeout(timer);
        act();
      };
      const timer = setTimeout(() => {
        const lateFailure = failure('ETIMEDOUT', `no complete response within ${timeoutMs} ms`);
        settle(() => reject(lateFailure));
        controller?.abort(lateFailure);
      }, timeoutMs);
      const send = (isFirst: boolean) => {
        let replied = false;
        const handler = handlerOf(maxBytes, (error, reply) => {
          if (reply) settle(() => resolve(reply));
          else if (error && isOpen && isReusedConnectionError(error)) send(false);
          else if (error) settle(() => reject(publicError(error)));
        });
        const isReusedConnectionError = (error: Error) =>
          isFirst && !replied && isBroken(error) && mayBeIdle(origin);
        (isFirst ? pooled : unpooled).dispatch(options, {
          ...handler,
          onRequestStart(started) {
            controller = started;
            if (!isOpen) started.abort(failure('ETIMEDOUT', 'the deadline has passed'));
          },
          onResponseStart(...head) {
            replied = true;
            recordResponse(origin);
            handler.onResponseStart?.(...head);
          },
        });
      };
      send(true);
    });
}
