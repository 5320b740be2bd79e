// The route of a contract. Requests are admitted by their head before the body is read and the operation
// runs. All responses of operations are logged and sent in this file.

import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Naming } from '../catalog/naming.ts';
import type { Caller } from '../kernel/caller.ts';
import { type Contract, maxBodyOf, type ReplyHeaders } from '../kernel/contract/operation.ts';
import type { Fault } from '../kernel/fault.ts';
import type { Log } from '../runtime/observability/log.ts';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { RecordRequest, RequestRecord } from '../runtime/observability/request-record.ts';
import { inSpan, type Span } from '../runtime/observability/tracing/tracer.ts';
import type { Runtime } from '../runtime/operation/operate.ts';
import { type Admission, anonymousAt, bytesKeyOf } from './admission/admission.ts';
import type { Limiter } from './admission/rate-limit.ts';
import { recordsOf } from './admission/request-records.ts';
import type { Slots } from './admission/slots.ts';
import { type Operation, perform } from './bind.ts';
import { type JsonBody, parseJson, readBody } from './body/body.ts';
import { rejectUnreadableQuery, splitLists } from './body/query.ts';
import type { FormParts, Uploads } from './body/upload.ts';
import { expectationOf } from './connection/raw-errors.ts';
import { faultBody } from './fault-body.ts';
import { faultOf, send, sendStream, setRetryHeaders } from './replies.ts';

/** The header of a wallet stamp for operations, independent of the service name prefix. */
const STAMP_HEADER = 'service-wallet-signature';

export const BASE_PATH = '/2025-10-13';

/** Receives every reply of an operation, for tests. */
export type Watch = (contract: Contract, status: number, body: unknown) => void;

export interface RouteOptions {
  runtime: Runtime;
  naming: Naming;
  log: Log;
  metrics: Metrics;
  watch?: Watch | undefined;
  /** Receives the completed requests of platforms. */
  record?: RecordRequest | undefined;
  limiter?: Limiter | undefined;
  /** Limits concurrent changes. Without slots, their number is unlimited. */
  slots?: Slots | undefined;
}

/** Base of the operator API. */
export const OPERATOR_BASE_PATH = '/operator/v1';

const baseOf = ({ auth }: Contract): string => {
  if (auth === 'hosted') return '';
  return auth === 'operator' || auth === 'signIn' ? OPERATOR_BASE_PATH : BASE_PATH;
};

export const routeOf = (contract: Contract, naming: Naming) =>
  baseOf(contract) + naming.path(contract.path).replaceAll(/\{(\w+)\}/g, ':$1');

/** State of a request until its response is sent. */
interface Exchange {
  startMs: number;
  caller: Caller;
  /** The JSON body, once it was read. */
  body?: unknown;
  /** Absent without tracing, for a request that is not sampled, and if the operation waits. */
  span?: Span | undefined;
}

interface RouteResponse {
  status: number;
  body: unknown;
  replayed?: boolean;
  idleMs?: number;
  headers?: ReplyHeaders;
  stream?: Readable | undefined;
}

/**
 * Method, path template, status, error code and IDs. Other values of a request are excluded, because they
 * may be personal data.
 */
const spanAttributesOf = (record: RequestRecord) => ({
  'http.request.method': record.method,
  'http.route': record.path,
  'http.response.status_code': record.status,
  'railhead.request_id': record.requestId,
  ...(record.resourceId === undefined ? {} : { 'railhead.resource_id': record.resourceId }),
  ...(record.errorCode === undefined ? {} : { 'railhead.error_code': record.errorCode }),
});

/** Sends the responses of one contract and records its requests. */
function exchangesOf(contract: Contract, options: RouteOptions) {
  const { runtime, naming, log, metrics, watch, record } = options;
  const recordOf = recordsOf(contract, runtime, naming);
  const openExchanges = new WeakMap<FastifyRequest, Exchange>();

  /** The response to a failed request. */
  function failureResponse(
    error: unknown,
    request: FastifyRequest,
    reply: FastifyReply,
  ): RouteResponse {
    const fault = faultOf(error);
    setRetryHeaders(reply, fault);
    const logFields = { err: error, requestId: request.id };
    if (fault.status === 500) log.error(logFields, 'request failed');
    // An external dependency failed. The log names the dependency for the operator.
    else if (fault.cause !== undefined) log.warn(logFields, 'dependency failed');
    return { status: fault.status, body: faultBody(naming, fault) };
  }

  return {
    begin(request: FastifyRequest): Exchange {
      const { traceparent: parent } = request.headers as { traceparent?: string };
      // The duration of a request that waits for events is mainly waiting time.
      const span = contract.waits
        ? undefined
        : runtime.tracer?.start(contract.operationId, 'server', { parent });
      const exchange = { startMs: performance.now(), caller: anonymousAt(request.ip), span };
      openExchanges.set(request, exchange);
      return exchange;
    },
    of: (request: FastifyRequest) => openExchanges.get(request) as Exchange,
    failed: failureResponse,
    respond(request: FastifyRequest, reply: FastifyReply, response: RouteResponse): void {
      const { startMs, caller, body, span } = openExchanges.get(request) as Exchange;
      const ms = performance.now() - startMs;
      // The intended waiting time of a long poll does not count as latency.
      const busyMs = Math.max(0, ms - (response.idleMs ?? 0));
      reply.header('cache-control', 'no-store');
      metrics.request(contract.operationId, response.status, busyMs);
      watch?.(contract, response.status, response.body);
      if (response.stream) sendStream(reply, response.status, response.stream);
      else send(reply, response.status, naming.toApiNames(response.body));
      const requestRecord = recordOf(request, caller, response, ms);
      log.request(requestRecord);
      span?.end(spanAttributesOf(requestRecord), response.status >= 500);
      if (!record || requestRecord.platformId === '') return;
      const params = request.params as Record<string, unknown>;
      const query = request.query as Record<string, unknown>;
      record({
        record: requestRecord,
        contract,
        caller,
        params,
        query,
        body,
        reply: response.body,
      });
    },
  };
}

/** Aborted when the reply is complete or the connection closes. */
function closedSignalOf(reply: FastifyReply): AbortSignal {
  const controller = new AbortController();
  reply.raw.once('close', () => controller.abort());
  return controller.signal;
}

/** The JSON of a request, or undefined without a body. */
async function jsonOf(
  { body }: FastifyRequest,
  contract: Contract,
  count: (bytes: number) => void,
): Promise<JsonBody | undefined> {
  if (!body) return undefined;
  const maxBytes = maxBodyOf(contract);
  return parseJson(await readBody(body as IncomingMessage, maxBytes, count), maxBytes);
}

export function createOperationRoute(
  server: FastifyInstance,
  options: RouteOptions,
  admission: Admission,
  uploads: Uploads,
  operation: Operation,
): void {
  const { contract } = operation;
  const { runtime, naming, limiter, slots } = options;
  const toBody = (fault: Fault) => faultBody(naming, fault);
  const stampHeader = naming.walletSignatureHeader.toLowerCase();
  const exchanges = exchangesOf(contract, options);
  const isChange = contract.method !== 'GET' && !contract.waits && !contract.streams;

  async function run(request: FastifyRequest, reply: FastifyReply, exchange: Exchange) {
    const { caller } = exchange;
    rejectUnreadableQuery(request.query as Record<string, unknown>);
    const headers = { ...(request.headers as Record<string, string | undefined>) };
    if (contract.signedRetry) headers[STAMP_HEADER] = headers[stampHeader];
    const params = request.params as Record<string, string>;
    const query = splitLists(
      contract,
      naming.toNeutralNames(request.query) as Record<string, unknown>,
    );
    const { upload: rules, waits, streams } = contract;
    const disconnect = waits || streams ? closedSignalOf(reply) : undefined;
    const execute = (parts: FormParts) =>
      perform(runtime, caller, operation, { params, query, headers, disconnect, ...parts }, toBody);
    const isLink = contract.auth === 'hosted';
    const key = bytesKeyOf(caller);
    if (rules) {
      const throttle = (bytes: number) => limiter?.waitForBytes(key, bytes);
      return uploads.run({ caller, rules, isLink, request, throttle }, execute);
    }
    // The body of a known length was counted at admission.
    const isCounted = request.headers['content-length'] !== undefined;
    const parsedBody = await jsonOf(request, contract, (bytes) => {
      if (!isCounted) limiter?.takeBytes(key, bytes);
    });
    exchange.body = naming.toNeutralNames(parsedBody?.json);
    const parts = { body: exchange.body, rawBody: parsedBody?.raw ?? '' };
    return isChange && slots ? slots.run(key, () => execute(parts)) : execute(parts);
  }

  server.route({
    method: contract.method,
    url: routeOf(contract, naming),
    config: { isOperation: true },
    async onRequest(request, reply) {
      const exchange = exchanges.begin(request);
      try {
        await admission.check(contract, request, reply, (caller) => {
          exchange.caller = caller;
        });
        // With `Expect: 100-continue`, the client waits before it sends a large body.
        if (expectationOf(request.raw)) reply.raw.writeContinue();
      } catch (error) {
        exchanges.respond(request, reply, exchanges.failed(error, request, reply));
        return reply;
      }
    },
    async handler(request, reply) {
      let response: RouteResponse;
      try {
        const exchange = exchanges.of(request);
        const work = () => run(request, reply, exchange);
        const result = await inSpan(exchange.span, work);
        if (result.replayed) reply.header('Idempotency-Replayed', 'true');
        if (result.headers) reply.headers(result.headers);
        response = result;
      } catch (error) {
        response = exchanges.failed(error, request, reply);
      }
      exchanges.respond(request, reply, response);
      return reply;
    },
  });
}
