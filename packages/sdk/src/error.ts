// The error of the SDK. `code` is an error code of the API or of the client (`ClientErrorCode`).
import type { ClientErrorCode, ErrorCode, OperationId } from './types.ts';

/** One invalid field of a request. */
export interface FieldError {
  /** A dot path into the body, or the name of a parameter. */
  readonly field: string;
  readonly message: string;
  readonly constraint?: Readonly<Record<string, unknown>>;
}

/** Details of an error reply: every rejected field in `errors`, and members that depend on the code. */
export interface ErrorDetails {
  readonly errors?: readonly FieldError[];
  readonly [name: string]: unknown;
}

interface ErrorFields<Code extends string> {
  readonly code: Code;
  readonly reason: string;
  readonly status?: number;
  readonly details?: ErrorDetails | undefined;
  readonly requestId?: string | undefined;
  readonly retryable?: boolean;
  readonly retryAfter?: number | undefined;
  readonly operationId?: OperationId | undefined;
  readonly headers?: Headers | undefined;
  readonly cause?: unknown;
}

/** Recognizes errors of another copy of this package, such as the CommonJS build. */
const BRAND: unique symbol = Symbol.for('railhead.error') as never;

export class RailheadError<Code extends string = ErrorCode> extends Error {
  override readonly name = 'RailheadError';
  readonly [BRAND] = true;
  /** Machine-readable error code. */
  readonly code: Code;
  /** Human-readable reason. The message also contains the code and the operation. */
  readonly reason: string;
  /** HTTP status. 0 without a reply. */
  readonly status: number;
  readonly details: ErrorDetails | undefined;
  /** The rejected fields of an invalid request. */
  readonly fields: readonly FieldError[];
  /** `X-Request-Id` of the reply. */
  readonly requestId: string | undefined;
  /** Whether the same call can succeed later. */
  readonly retryable: boolean;
  /** Seconds to wait before the next attempt, if the server sent `Retry-After`. */
  readonly retryAfter: number | undefined;
  readonly operationId: OperationId | undefined;
  readonly headers: Headers | undefined;

  constructor(fields: ErrorFields<Code>) {
    const { code, reason, operationId, requestId, cause } = fields;
    const prefix = operationId ? `${operationId}: ` : '';
    const request = requestId ? ` (request ${requestId})` : '';
    super(`${prefix}${code}: ${reason}${request}`, cause === undefined ? undefined : { cause });
    this.code = code;
    this.reason = reason;
    this.status = fields.status ?? 0;
    this.details = fields.details;
    this.fields = fields.details?.errors ?? [];
    this.requestId = requestId;
    this.retryable = fields.retryable ?? false;
    this.retryAfter = fields.retryAfter;
    this.operationId = operationId;
    this.headers = fields.headers;
  }
}

/**
 * Whether a caught value is an error of the SDK. With an operation name, also whether that operation
 * threw the error. `code` is then typed with the error codes of the operation.
 */
export function isRailheadError(error: unknown): error is RailheadError;
export function isRailheadError<Id extends OperationId>(
  error: unknown,
  operationId: Id,
): error is RailheadError<ErrorCode<Id>>;
export function isRailheadError(error: unknown, operationId?: OperationId): boolean {
  if (typeof error !== 'object' || error === null || !(BRAND in error)) return false;
  return (
    operationId === undefined || (error as { operationId?: unknown }).operationId === operationId
  );
}

/** An error that the client detects, such as a timeout or a missing credential. */
export const clientError = (
  code: ClientErrorCode,
  reason: string,
  overrides: Partial<ErrorFields<ErrorCode>> = {},
): RailheadError => new RailheadError<ErrorCode>({ ...overrides, code, reason });
