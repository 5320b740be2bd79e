// Calls of the operator API with the session of the browser.
import createClient from 'openapi-fetch';
import { OPERATIONS, type OperationId } from '../generated/operations.ts';
import type { operations, paths } from '../generated/schema.d.ts';
import { TEXTS } from '../texts/texts.ts';

export interface FieldError {
  field: string;
  message: string;
}

/** A rejection by the server, or a request without a reply, for which `status` is 0. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly fields: readonly FieldError[];
  readonly requestId: string | undefined;
  /** ID of the pending approval of the same change. */
  readonly approvalId: string | undefined;

  constructor(
    status: number,
    code: string,
    reason: string,
    fields: readonly FieldError[],
    ids: { requestId?: string | undefined; approvalId?: string | undefined } = {},
  ) {
    super(reason);
    this.status = status;
    this.code = code;
    this.fields = fields;
    this.requestId = ids.requestId;
    this.approvalId = ids.approvalId;
  }
}

type Content<T> = T extends { content: { 'application/json': infer Body } } ? Body : never;
type Responses<Id extends OperationId> = operations[Id]['responses'];

/** The reply of an operation, except the reply to a change that needs approval. */
export type Reply<Id extends OperationId> =
  Responses<Id> extends { 200: infer R }
    ? Content<R>
    : Responses<Id> extends { 201: infer R }
      ? Content<R>
      : unknown;

export type Query<Id extends OperationId> = NonNullable<operations[Id]['parameters']['query']>;

/** An item of a list. Lists without pages contain their items in `keys` or `deliveries`. */
export type Item<Id extends OperationId> =
  Reply<Id> extends { data: readonly (infer Each)[] }
    ? Each
    : Reply<Id> extends { keys: readonly (infer Each)[] }
      ? Each
      : Reply<Id> extends { deliveries: readonly (infer Each)[] }
        ? Each
        : never;

export interface Input {
  path?: Readonly<Record<string, string>>;
  query?: Readonly<Record<string, unknown>>;
  body?: unknown;
  /** Idempotency key, which is reused when a change is retried after a lost connection. */
  key?: string;
  signal?: AbortSignal;
}

let csrfToken: string | undefined;

/** Sets the CSRF token of the session, required for changes. */
export const setCsrfToken = (token: string): void => {
  csrfToken = token;
};

const listeners = new Set<() => void>();

/** Calls `listener` on each reply with status 401. Returns a function that removes the listener. */
export function onSessionEnd(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const client = createClient<paths>({
  baseUrl: '/operator/v1',
  querySerializer: { array: { style: 'form', explode: false } },
});

interface ErrorBody {
  code?: string;
  reason?: string;
  details?: { errors?: FieldError[]; approvalId?: string };
}

function errorOf(response: Response, body: ErrorBody | undefined): ApiError {
  const retry = response.headers.get('retry-after');
  const reason =
    response.status === 429 && retry ? TEXTS.errors.rateLimited(Number(retry)) : body?.reason;
  return new ApiError(
    response.status,
    body?.code ?? 'INTERNAL_ERROR',
    reason ?? TEXTS.errors.failed,
    body?.details?.errors ?? [],
    {
      requestId: response.headers.get('x-request-id') ?? undefined,
      approvalId: body?.details?.approvalId,
    },
  );
}

const removeEmpty = (query: Readonly<Record<string, unknown>> = {}) =>
  Object.fromEntries(
    Object.entries(query).filter(([, value]) => value !== undefined && value !== ''),
  );

async function send(id: OperationId, { path, query, body, key, signal }: Input) {
  const { method, path: route } = OPERATIONS[id];
  const headers = {
    ...(csrfToken && method !== 'GET' && { 'x-csrf-token': csrfToken }),
    ...(key && { 'idempotency-key': key }),
  };
  // The table of operations has the method and path of `id`. The types cannot express this relation.
  const request = client.request as unknown as (
    method: string,
    path: string,
    init: object,
  ) => Promise<{ data?: unknown; error?: ErrorBody; response: Response }>;
  try {
    return await request(method.toLowerCase(), route, {
      params: { path, query: removeEmpty(query) },
      ...(body !== undefined && { body }),
      headers,
      signal,
    });
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new ApiError(0, 'UNREACHABLE', TEXTS.errors.unreachable, []);
  }
}

export interface Outcome<Id extends OperationId> {
  body: Reply<Id>;
  /** ID of the pending approval of a change. */
  approvalId?: string;
}

/** Calls an operation. Throws an `ApiError` if it is rejected or there is no reply. */
export async function callWithOutcome<Id extends OperationId>(
  id: Id,
  input: Input = {},
): Promise<Outcome<Id>> {
  const { data, error, response } = await send(id, input);
  if (response.ok) {
    const body = data as Reply<Id>;
    if (response.status !== 202) return { body };
    return { body, approvalId: (data as { id: string }).id };
  }
  if (response.status === 401) for (const listener of listeners) listener();
  throw errorOf(response, error);
}

export const call = async <Id extends OperationId>(id: Id, input: Input = {}): Promise<Reply<Id>> =>
  (await callWithOutcome(id, input)).body;
