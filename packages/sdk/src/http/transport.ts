// Sends a request, with retries: attempts, deadlines, hooks and errors.
import { clientError, type ErrorDetails, isRailheadError, RailheadError } from '../error.ts';
import type { CallOptions, ErrorCode } from '../types.ts';
import { type Fields, type Operation, type RequestParts, requestParts } from './request.ts';
import { delayOf, isRepeatable, isTransient, pause, retryAfterOf } from './retry.ts';
import type { RequestInfo, Settings } from './settings.ts';

export interface AnyReply {
  readonly status: number;
  readonly data: unknown;
  readonly headers: Headers;
  readonly requestId: string | undefined;
}

const TIMED_OUT = Symbol('timeout');
const REQUEST_ID = 'x-request-id';

function headersOf(settings: Settings, operation: Operation, options: CallOptions) {
  const headers: Record<string, string> = { accept: 'application/json', ...settings.headers };
  if (operation.acceptsKey) {
    headers['Idempotency-Key'] = options.idempotencyKey ?? crypto.randomUUID();
  }
  if (options.walletSignature !== undefined) {
    headers[settings.signatureHeader] = options.walletSignature;
  }
  if (options.requestId !== undefined) headers['Request-Id'] = options.requestId;
  return options.headers ? Object.assign(headers, options.headers) : headers;
}

function authorizationOf({ authorization }: Settings, { auth, id }: Operation): string | undefined {
  if (auth === 'none') return undefined;
  const value = authorization[auth];
  if (value) return value;
  const missingName = auth === 'agent' ? '`agentToken`' : '`clientId` and `clientSecret`';
  const reason = `The client has no ${missingName}. Set every missing option of createClient.`;
  throw clientError('INVALID_CLIENT_INPUT', reason, { operationId: id });
}

/** The parts of a call that do not change between attempts. */
interface PreparedCall {
  readonly settings: Settings;
  readonly operation: Operation;
  readonly options: CallOptions;
  readonly parts: RequestParts;
  readonly headers: Record<string, string>;
  readonly authorization: string | undefined;
}

async function exchange(call: PreparedCall, info: RequestInfo, timeoutMs: number) {
  const { settings, operation, options, parts, authorization } = call;
  const { signal } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), timeoutMs);
  const forward = () => controller.abort(signal?.reason);
  // A hook can abort the signal after the start of the call.
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  const init: RequestInit & { duplex?: 'half' } = {
    method: operation.method,
    headers: authorization ? { ...info.headers, authorization } : info.headers,
    signal: controller.signal,
  };
  if (parts.encodedBody) {
    init.body = parts.encodedBody.body;
    // `fetch` requires `duplex` for streams.
    if (typeof parts.encodedBody.body === 'object') init.duplex = 'half';
  }
  try {
    const response = await settings.fetch(info.url, init);
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const operationId = operation.id;
    if (controller.signal.aborted) {
      const reason = `No reply within ${timeoutMs} ms.`;
      throw clientError('TIMEOUT', reason, { operationId, retryable: true, cause });
    }
    const reason = `The server cannot be reached: ${describe(cause)}`;
    throw clientError('CONNECTION_FAILED', reason, { operationId, retryable: true, cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

/** The reason of a failed request, which is in the cause of `fetch failed`. */
function describe(error: unknown): string {
  const { cause, message } = error as Partial<Error>;
  const { code, message: innerMessage } = (cause ?? {}) as { code?: string; message?: string };
  return `${innerMessage || code || message || String(error)}.`;
}

function parse(text: string): unknown {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function errorOf(operation: Operation, response: Response, body: unknown): RailheadError {
  const { status, headers } = response;
  const errorFields = {
    status,
    headers,
    operationId: operation.id,
    requestId: headers.get(REQUEST_ID) ?? undefined,
    retryable: isTransient(status, headers),
    retryAfter: retryAfterOf(headers),
  };
  const { code, reason, details } =
    ((typeof body === 'object' ? body : undefined) as {
      code?: ErrorCode;
      reason?: string;
      details?: ErrorDetails;
    }) ?? {};
  if (!code) {
    const text = `The reply has status ${status} and no error code. Check the base URL.`;
    return clientError('UNEXPECTED_RESPONSE', text, errorFields);
  }
  return new RailheadError<ErrorCode>({ ...errorFields, code, reason: reason ?? code, details });
}

/** The path for log output, without invitation and device codes, which are credentials. */
const loggablePath = ({ path }: Operation) => path.replaceAll(/\{(\w*[cC]ode)\}/g, '…');

async function attempt(call: PreparedCall, number: number, timeoutMs: number): Promise<AnyReply> {
  const { settings, operation } = call;
  const { hooks, log, baseUrl } = settings;
  const info: RequestInfo = {
    operationId: operation.id,
    method: operation.method,
    url: baseUrl + call.parts.path,
    attempt: number,
    headers: { ...call.headers },
  };
  hooks.onRequest?.(info);
  const startedAt = performance.now();
  const { response, text } = await exchange(call, info, timeoutMs);
  const { status, headers } = response;
  const requestId = headers.get(REQUEST_ID) ?? undefined;
  if (log || hooks.onResponse) {
    const durationMs = performance.now() - startedAt;
    hooks.onResponse?.({ ...info, status, requestId, durationMs });
    const details = `${status} ${Math.round(durationMs)} ms attempt ${number} ${requestId ?? ''}`;
    log?.(`railhead ${operation.id} ${operation.method} ${loggablePath(operation)} ${details}`);
  }
  const data = parse(text);
  if (!response.ok) throw errorOf(operation, response, data);
  if (typeof data === 'string') {
    const errorFields = { status, requestId, operationId: operation.id };
    throw clientError(
      'UNEXPECTED_RESPONSE',
      'The reply is not JSON. Check the base URL.',
      errorFields,
    );
  }
  return { status, data, headers, requestId };
}

/** Timeout of one attempt in milliseconds. The waiting time of a request for events is added. */
const timeoutOf = (settings: Settings, options: CallOptions, input: Fields) =>
  (options.timeout ?? settings.timeout) + (typeof input.wait === 'number' ? input.wait * 1000 : 0);

export async function send(
  settings: Settings,
  operation: Operation,
  input: Fields,
  options: CallOptions,
): Promise<AnyReply> {
  options.signal?.throwIfAborted();
  const authorization = authorizationOf(settings, operation);
  const parts = await requestParts(operation, input);
  const headers = headersOf(settings, operation, options);
  if (parts.encodedBody) headers['content-type'] = parts.encodedBody.contentType;
  const call = { settings, operation, options, parts, headers, authorization };
  const timeout = timeoutOf(settings, options, input);
  const deadline = performance.now() + Math.max(options.deadline ?? settings.deadline, 0);
  const maxRetries =
    parts.encodedBody?.isRepeatable === false ? 0 : (options.maxRetries ?? settings.maxRetries);
  const isIdempotent = operation.method !== 'POST' || operation.acceptsKey;
  for (let number = 1; ; number++) {
    const remainingMs = deadline - performance.now();
    try {
      return await attempt(call, number, Math.ceil(Math.min(timeout, remainingMs)));
    } catch (error) {
      if (!isRailheadError(error) || number > maxRetries) throw error;
      if (!isRepeatable(error, isIdempotent)) throw error;
      const delayMs = delayOf(error, number);
      if (delayMs === undefined || performance.now() + delayMs >= deadline) throw error;
      const { status, code } = error;
      settings.log?.(`railhead ${operation.id} ${code} repeated in ${Math.round(delayMs)} ms`);
      settings.hooks.onRetry?.({
        operationId: operation.id,
        attempt: number,
        delayMs,
        status: status || undefined,
        code,
      });
      await pause(delayMs, options.signal);
    }
  }
}
