// Sends a request and repeats it while that can help: attempts, deadlines, hooks and errors.
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
  const missing = auth === 'agent' ? '`agentToken`' : '`clientId` and `clientSecret`';
  throw clientError('INVALID_CLIENT_INPUT', `The client has no ${missing}.`, { operationId: id });
}

/** One attempt: everything that does not change between attempts. */
interface Attempted {
  readonly settings: Settings;
  readonly operation: Operation;
  readonly options: CallOptions;
  readonly parts: RequestParts;
  readonly headers: Record<string, string>;
  readonly authorization: string | undefined;
}

async function exchange(call: Attempted, info: RequestInfo, ms: number) {
  const { settings, operation, options, parts, authorization } = call;
  const { signal } = options;
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), ms);
  const forward = () => controller.abort(signal?.reason);
  // Aborted since the start of the call, such as by a hook.
  if (signal?.aborted) forward();
  signal?.addEventListener('abort', forward, { once: true });
  const init: RequestInit & { duplex?: 'half' } = {
    method: operation.method,
    headers: authorization ? { ...info.headers, authorization } : info.headers,
    signal: controller.signal,
  };
  if (parts.encoded) {
    init.body = parts.encoded.body;
    // Required for streams.
    if (typeof parts.encoded.body === 'object') init.duplex = 'half';
  }
  try {
    const response = await settings.fetch(info.url, init);
    return { response, text: await response.text() };
  } catch (cause) {
    if (signal?.aborted) throw signal.reason;
    const operationId = operation.id;
    if (controller.signal.aborted) {
      const reason = `No reply within ${ms} ms.`;
      throw clientError('TIMEOUT', reason, { operationId, retryable: true, cause });
    }
    const reason = `The server cannot be reached: ${describe(cause)}`;
    throw clientError('CONNECTION_FAILED', reason, { operationId, retryable: true, cause });
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', forward);
  }
}

/** `fetch failed` has the reason in its cause. */
function describe(error: unknown): string {
  const { cause, message } = error as Partial<Error>;
  const { code, message: inner } = (cause ?? {}) as { code?: string; message?: string };
  return `${inner || code || message || String(error)}.`;
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
  const known = {
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
  if (!code) return clientError('UNEXPECTED_RESPONSE', `The reply has status ${status}.`, known);
  return new RailheadError<ErrorCode>({ ...known, code, reason: reason ?? code, details });
}

/** A path for output: codes and invitations in it are credentials. */
const shown = ({ path }: Operation) => path.replaceAll(/\{(\w*[cC]ode)\}/g, '…');

async function attempt(call: Attempted, number: number, ms: number): Promise<AnyReply> {
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
  const started = performance.now();
  const { response, text } = await exchange(call, info, ms);
  const { status, headers } = response;
  const requestId = headers.get(REQUEST_ID) ?? undefined;
  if (log || hooks.onResponse) {
    const durationMs = performance.now() - started;
    hooks.onResponse?.({ ...info, status, requestId, durationMs });
    const details = `${status} ${Math.round(durationMs)} ms attempt ${number} ${requestId ?? ''}`;
    log?.(`railhead ${operation.id} ${operation.method} ${shown(operation)} ${details}`);
  }
  const data = parse(text);
  if (!response.ok) throw errorOf(operation, response, data);
  if (typeof data === 'string') {
    const known = { status, requestId, operationId: operation.id };
    throw clientError('UNEXPECTED_RESPONSE', 'The reply is not JSON.', known);
  }
  return { status, data, headers, requestId };
}

/** Milliseconds for one attempt; a request that waits for events may take as long as it waits. */
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
  if (parts.encoded) headers['content-type'] = parts.encoded.contentType;
  const call = { settings, operation, options, parts, headers, authorization };
  const timeout = timeoutOf(settings, options, input);
  const end = performance.now() + Math.max(options.deadline ?? settings.deadline, 0);
  const retries =
    parts.encoded?.isRepeatable === false ? 0 : (options.maxRetries ?? settings.maxRetries);
  const isIdempotent = operation.method !== 'POST' || operation.acceptsKey;
  for (let number = 1; ; number++) {
    const left = end - performance.now();
    try {
      return await attempt(call, number, Math.ceil(Math.min(timeout, left)));
    } catch (error) {
      if (!isRailheadError(error) || number > retries) throw error;
      if (!isRepeatable(error, isIdempotent)) throw error;
      const delayMs = delayOf(error, number);
      if (delayMs === undefined || performance.now() + delayMs >= end) throw error;
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
