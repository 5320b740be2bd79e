// HTTP requests that may be repeated, such as webhook deliveries, whose receivers detect a repeated ID. The
// client is undici, which needs 50 % of the processor time of the client of Node.js. A request is repeated
// once if its connection broke before the response and the receiver may have closed it as idle.
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import type { HttpReply, HttpRequest } from '../../kernel/effects.ts';

interface ExchangeOptions {
  lookup: LookupFunction;
  /** Maximum sockets to one receiver. */
  maxSockets: number;
  /** Time for which an unused socket remains open. */
  idleMs: number;
}

const MAX_ORIGINS = 10_000;

type Settle = (error: Error | null, reply?: HttpReply) => void;

const failure = (code: string, message: string) => Object.assign(new Error(message), { code });

const codeOf = (error: Error) => (error as { code?: string }).code ?? '';

/** Converts the code of undici for a connection that was closed early to a system code. */
const toSystemError = (error: Error): Error =>
  codeOf(error) === 'UND_ERR_SOCKET'
    ? failure('ECONNRESET', 'the connection was closed without a response')
    : error;

const isBroken = (error: Error) =>
  ['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET'].includes(codeOf(error));

const joinValues = (
  headers: Record<string, string | string[] | undefined>,
): Record<string, string> =>
  Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, [value ?? ''].flat().join(', ')]),
  );

/** Collects one response, up to `maxBytes`. A longer response is truncated and its connection closed. */
function handlerOf(maxBytes: number, settle: Settle): Dispatcher.DispatchHandler {
  const chunks: Buffer[] = [];
  let remainingBytes = maxBytes;
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
      chunks.push(chunk.subarray(0, remainingBytes));
      if (chunk.length > remainingBytes) {
        finish();
        controller.abort(failure('ETOOLARGE', 'the response is too long'));
      }
      remainingBytes -= chunk.length;
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

/** Exchanges on separate connections, which reject like exchanges of `Effects.http`. */
export function repeatableExchanges({ lookup, maxSockets, idleMs }: ExchangeOptions) {
  const settings = {
    connections: maxSockets,
    keepAliveTimeout: idleMs,
    keepAliveMaxTimeout: idleMs,
    // Each exchange has a separate deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: { lookup, noDelay: true },
  };
  const pooledAgent = new Agent({ ...settings, pipelining: 1 });
  // Opens a connection for each request, because other pooled connections may be closing as well.
  const unpooledAgent = new Agent({ ...settings, pipelining: 0 });

  /** Time of the last response of each receiver. */
  const responseTimes = new Map<string, number>();

  function recordResponse(origin: string): void {
    if (responseTimes.size >= MAX_ORIGINS) responseTimes.clear();
    responseTimes.set(origin, performance.now());
  }

  const mayBeIdle = (origin: string) =>
    performance.now() - (responseTimes.get(origin) ?? -idleMs) < idleMs;

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
        let hasReplied = false;
        const handler = handlerOf(maxBytes, (error, reply) => {
          if (reply) settle(() => resolve(reply));
          else if (error && isOpen && isReusedConnectionError(error)) send(false);
          else if (error) settle(() => reject(toSystemError(error)));
        });
        const isReusedConnectionError = (error: Error) =>
          isFirst && !hasReplied && isBroken(error) && mayBeIdle(origin);
        (isFirst ? pooledAgent : unpooledAgent).dispatch(options, {
          ...handler,
          onRequestStart(requestController) {
            controller = requestController;
            if (!isOpen) requestController.abort(failure('ETIMEDOUT', 'the deadline has passed'));
          },
          onResponseStart(...head) {
            hasReplied = true;
            recordResponse(origin);
            handler.onResponseStart?.(...head);
          },
        });
      };
      send(true);
    });
}
