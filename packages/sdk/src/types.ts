// Derives the types of a call from the types of its operation in the OpenAPI document.
import type { CommonErrorCode, OwnErrorCodes } from './generated/errors.ts';
import type { operations } from './generated/schemas.ts';

/** The name of an operation of the API. */
export type OperationId = keyof operations;

type Parameters<Id extends OperationId> = operations[Id]['parameters'];
type PathOf<Id extends OperationId> = Parameters<Id> extends { path: infer Path } ? Path : unknown;
type QueryOf<Id extends OperationId> =
  Parameters<Id> extends { query: infer Query }
    ? Query
    : Parameters<Id> extends { query?: infer Query }
      ? [NonNullable<Query>] extends [never]
        ? unknown
        : NonNullable<Query>
      : unknown;

type ContentOf<Body> = Body extends { content: infer Content } ? Content[keyof Content] : unknown;
type BodyOf<Id extends OperationId> = operations[Id] extends { requestBody: infer Body }
  ? ContentOf<Body>
  : operations[Id] extends { requestBody?: infer Body }
    ? [NonNullable<Body>] extends [never]
      ? unknown
      : Partial<ContentOf<NonNullable<Body>>>
    : unknown;

/** Input of an operation: path and query parameters and body fields. */
export type Input<Id extends OperationId> = PathOf<Id> & QueryOf<Id> & BodyOf<Id>;

type Responses<Id extends OperationId> = operations[Id]['responses'];
type DataOf<Response> = Response extends { content: { 'application/json': infer Data } }
  ? Data
  : undefined;

/** Result of an operation. */
export type Output<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: DataOf<Responses<Id>[Status]>;
}[keyof Responses<Id>];

/** The reply of an operation. `status` discriminates `data`. */
export type Reply<Id extends OperationId> = {
  [Status in keyof Responses<Id>]: {
    readonly status: Status;
    readonly data: DataOf<Responses<Id>[Status]>;
    readonly headers: Headers;
    /** `X-Request-Id`, which identifies the request in the request log. */
    readonly requestId: string | undefined;
  };
}[keyof Responses<Id>];

/** Type of the items of a list. `never` for other operations. */
export type Item<Id extends OperationId> =
  Output<Id> extends { data: readonly (infer Each)[] } ? Each : never;

/** Error codes of the client itself, for calls without an error reply of the API. */
export type ClientErrorCode =
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  | 'UNEXPECTED_RESPONSE'
  | 'INVALID_CLIENT_INPUT'
  | 'WEBHOOK_INVALID';

/** All error codes of an operation. */
export type ErrorCode<Id extends OperationId = OperationId> =
  | CommonErrorCode
  | OwnErrorCodes[Id]
  | ClientErrorCode;

/** Options of one call. */
export interface CallOptions {
  /** Replaces the generated `Idempotency-Key`, for example to repeat a call after a restart. */
  readonly idempotencyKey?: string;
  /** Aborts the call, which rejects with the reason of the signal. */
  readonly signal?: AbortSignal;
  /** Timeout of each attempt, in milliseconds. Default: the option of the client. */
  readonly timeout?: number;
  /** Timeout of the call with its retries, in milliseconds. Default: the option of the client. */
  readonly deadline?: number;
  /** Maximum number of retries. Default: the option of the client. */
  readonly maxRetries?: number;
  /** Further headers of the request. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Stamp of a wallet's session for a signed retry. See `railhead-sdk/wallets`. */
  readonly walletSignature?: string;
  /** `requestId` of the challenge of a signed retry. */
  readonly requestId?: string;
}

/** A call that was sent: a promise of its result. */
export interface Call<Id extends OperationId> extends Promise<Output<Id>> {
  /** The reply with its status, headers and request ID. */
  withResponse(): Promise<Reply<Id>>;
}

/** A call of a list operation. Further pages are requested during iteration. */
export interface ListCall<Id extends OperationId> extends Call<Id>, AsyncIterable<Item<Id>> {
  /** Iterates page by page. */
  pages(): AsyncIterable<Output<Id>>;
}

type CallOf<Id extends OperationId> = [Item<Id>] extends [never] ? Call<Id> : ListCall<Id>;

/** The function of an operation. */
export type Method<Id extends OperationId> =
  Record<never, never> extends Input<Id>
    ? (input?: Input<Id>, options?: CallOptions) => CallOf<Id>
    : (input: Input<Id>, options?: CallOptions) => CallOf<Id>;
