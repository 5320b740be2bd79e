// All request errors, as one class and one table from code to HTTP status. A decline, a return or a
// failed payment is a state of a resource, never a Fault. Clients switch on the codes. New codes
// are added in this table only.

/** All error codes with their HTTP status. */
export const STATUS_OF = {
  // 400
  INVALID_INPUT: 400,
  END_USER_TERMS_VERSION_NOT_FOUND: 400,
  MISSING_MANDATORY_USER_INFO: 400,
  INVITATION_ALREADY_CLAIMED: 400,
  INVITATIONS_NOT_CONFIGURED: 400,
  INVALID_UMA_ADDRESS: 400,
  INVITATION_CANCELLED: 400,
  QUOTE_REQUEST_FAILED: 400,
  INVALID_PAYREQ_RESPONSE: 400,
  INVALID_RECEIVER: 400,
  PARSE_PAYREQ_RESPONSE_ERROR: 400,
  CERT_CHAIN_INVALID: 400,
  CERT_CHAIN_EXPIRED: 400,
  INVALID_PUBKEY_FORMAT: 400,
  MISSING_REQUIRED_UMA_PARAMETERS: 400,
  SENDER_NOT_ACCEPTED: 400,
  AMOUNT_OUT_OF_RANGE: 400,
  INVALID_CURRENCY: 400,
  INVALID_TIMESTAMP: 400,
  INVALID_NONCE: 400,
  INVALID_REQUEST_FORMAT: 400,
  INVALID_BANK_ACCOUNT: 400,
  SELF_PAYMENT: 400,
  LOOKUP_REQUEST_FAILED: 400,
  PARSE_LNURLP_RESPONSE_ERROR: 400,
  INVALID_AMOUNT: 400,
  WEBHOOK_ENDPOINT_NOT_SET: 400,
  WEBHOOK_DELIVERY_ERROR: 400,
  LOW_QUALITY: 400,
  DATA_MISMATCH: 400,
  EXPIRED: 400,
  SUSPECTED_FRAUD: 400,
  UNSUITABLE_DOCUMENT: 400,
  INCOMPLETE: 400,
  EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS: 400,
  SMS_OTP_CREDENTIAL_ALREADY_EXISTS: 400,
  PASSKEY_CREDENTIAL_ALREADY_EXISTS: 400,
  STABLECOIN_PROVIDER_ACCOUNT_INVALID: 400,
  STABLECOIN_PROVIDER_ACCOUNT_REVOKED: 400,
  STABLECOIN_PROVIDER_ACCOUNT_SELECTION_REQUIRED: 400,
  CARDHOLDER_KYC_NOT_APPROVED: 400,
  TRANSACTION_SIZE_LIMIT_EXCEEDED: 400,
  EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED: 400,
  FUNDING_SOURCE_INELIGIBLE: 400,
  INSUFFICIENT_FUNDS: 400,
  QUOTE_EXPIRED: 400,
  QUOTE_RATE_UNAVAILABLE: 400,
  STABLECOIN_AMOUNT_NOT_REPRESENTABLE: 400,
  STABLECOIN_BURN_SOURCE_NOT_SUPPORTED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_LINK_FAILED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_LINK_METHOD_REQUIRED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_LINKED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_SUPPORTED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_FAILED: 400,
  STABLECOIN_EXTERNAL_ACCOUNT_PROVIDER_LINK_REQUIRED: 400,
  STABLECOIN_SERVICE_OPERATIONS_NOT_ENABLED: 400,
  STABLECOIN_NOT_PROVISIONED: 400,
  STABLECOIN_OPERATION_NOT_SUPPORTED: 400,
  STABLECOIN_PROVIDER_ERROR: 400,
  STABLECOIN_PROVIDER_SOURCE_NOT_LINKED: 400,
  STABLECOIN_VERIFICATION_FAILED: 400,
  // 401
  UNAUTHORIZED: 401,
  INVALID_SIGNATURE: 401,
  WALLET_SIGNATURE_MISSING: 401,
  WALLET_SIGNATURE_MALFORMED: 401,
  WALLET_SIGNATURE_BODY_MISMATCH: 401,
  WALLET_SIGNATURE_INVALID: 401,
  REQUEST_ID_MISSING: 401,
  // 403
  FORBIDDEN: 403,
  USER_NOT_READY: 403,
  COUNTERPARTY_NOT_ALLOWED: 403,
  VELOCITY_LIMIT_EXCEEDED: 403,
  END_USER_TERMS_NOT_ACCEPTED: 403,
  // 404
  TRANSACTION_NOT_FOUND: 404,
  INVITATION_NOT_FOUND: 404,
  USER_NOT_FOUND: 404,
  QUOTE_NOT_FOUND: 404,
  LOOKUP_REQUEST_NOT_FOUND: 404,
  TOKEN_NOT_FOUND: 404,
  BULK_UPLOAD_JOB_NOT_FOUND: 404,
  REFERENCE_NOT_FOUND: 404,
  UMA_NOT_FOUND: 404,
  STABLECOIN_PROVIDER_ACCOUNT_NOT_FOUND: 404,
  ACCOUNT_NOT_FOUND: 404,
  AUTH_METHOD_NOT_FOUND: 404,
  CUSTOMER_NOT_FOUND: 404,
  DOCUMENT_HOLDER_NOT_FOUND: 404,
  NOT_FOUND: 404,
  PAYMENT_URL_NOT_FOUND: 404,
  PLATFORM_NOT_FOUND: 404,
  REQUEST_NOT_FOUND: 404,
  SESSION_NOT_FOUND: 404,
  STABLECOIN_EXTERNAL_ACCOUNT_NOT_FOUND: 404,
  STABLECOIN_NOT_FOUND: 404,
  STABLECOIN_OPERATION_NOT_FOUND: 404,
  VERIFICATION_NOT_FOUND: 404,
  // 405
  METHOD_NOT_ALLOWED: 405,
  // 408
  REQUEST_TIMEOUT: 408,
  // 409
  TRANSACTION_NOT_PENDING_PLATFORM_APPROVAL: 409,
  TRANSACTION_NOT_CANCELLABLE: 409,
  UMA_ADDRESS_EXISTS: 409,
  EMAIL_OTP_EMAIL_ALREADY_EXISTS: 409,
  EMAIL_OTP_CREDENTIAL_SET_CHANGED: 409,
  PASSKEY_ALREADY_ENROLLED: 409,
  SCA_SESSION_REQUIRED: 409,
  BENEFICIARY_TRUSTED: 409,
  INVALID_STATE_TRANSITION: 409,
  CARD_ALREADY_CLOSED: 409,
  CARD_NOT_MUTABLE: 409,
  CONFLICT: 409,
  BANK_ACCOUNT_VALIDATION_PENDING: 409,
  CARD_LIMIT_REACHED: 409,
  STABLECOIN_SERVICE_ENABLEMENT_NOT_REQUESTABLE: 409,
  DOCUMENT_ALREADY_EXISTS: 409,
  DUPLICATE_EXTERNAL_ACCOUNT: 409,
  DUPLICATE_PAY_REQUEST: 409,
  SMS_OTP_CREDENTIAL_SET_CHANGED: 409,
  SMS_OTP_PHONE_NUMBER_ALREADY_EXISTS: 409,
  STABLECOIN_SYMBOL_ALREADY_EXISTS: 409,
  STABLECOIN_TOKEN_IDENTIFIER_ALREADY_EXISTS: 409,
  WALLET_NOT_PROVISIONED: 409,
  // 410
  CUSTOMER_DELETED: 410,
  LINK_ENDED: 410,
  // 412
  UNSUPPORTED_UMA_VERSION: 412,
  // 417
  EXPECTATION_FAILED: 417,
  // 423
  ACCOUNT_LOCKED: 423,
  // 424
  PAYREQ_REQUEST_FAILED: 424,
  COUNTERPARTY_PUBKEY_FETCH_ERROR: 424,
  NO_COMPATIBLE_UMA_VERSION: 424,
  LNURLP_REQUEST_FAILED: 424,
  EMAIL_OTP_CREDENTIAL_SYNC_FAILED: 424,
  // 429
  RATE_LIMITED: 429,
  DAILY_VOLUME_LIMIT_EXCEEDED: 429,
  // 431
  HEADERS_TOO_LARGE: 431,
  // 500
  SERVICE_SWITCH_ERROR: 500,
  INTERNAL_ERROR: 500,
  // 501
  UNRECOGNIZED_MANDATORY_PAYEE_DATA_KEY: 501,
  NOT_IMPLEMENTED: 501,
  // 503
  SERVICE_UNAVAILABLE: 503,
} as const;

export type Code = keyof typeof STATUS_OF;

/**
 * Statuses of temporary errors and of errors that the client did not cause, in addition to statuses
 * from 500 on.
 */
const TRANSIENT_STATUSES: readonly number[] = [408, 424, 429];

/**
 * Temporary codes with a status that is not temporary. A limit was reached, or another party has not
 * responded or finished.
 */
const TRANSIENT_CODES: readonly Code[] = [
  'VELOCITY_LIMIT_EXCEEDED',
  'QUOTE_REQUEST_FAILED',
  'WEBHOOK_DELIVERY_ERROR',
  'BANK_ACCOUNT_VALIDATION_PENDING',
  'WALLET_NOT_PROVISIONED',
  'STABLECOIN_NOT_PROVISIONED',
];

/**
 * Whether the same request may succeed later without a change by the client. An error that the
 * client can fix, such as a low balance or an expired quote, is not transient.
 */
export const isTransient = (code: Code): boolean => {
  const status = STATUS_OF[code];
  return status >= 500 || TRANSIENT_STATUSES.includes(status) || TRANSIENT_CODES.includes(code);
};

/**
 * The value of `x-should-retry`, which some clients evaluate before the status. `false` only if a
 * repetition within minutes cannot succeed. Undefined if the status is sufficient.
 */
export function retryAdvice(fault: Pick<Fault, 'code' | 'status' | 'isRetryable'>) {
  // A daily limit is reset at midnight. A client that repeats a 429 would wait until then.
  if (fault.code === 'DAILY_VOLUME_LIMIT_EXCEEDED') return 'false';
  if (fault.status !== 409) return undefined;
  return fault.isRetryable ? 'true' : 'false';
}

/** Expected form of a field. */
export interface FieldConstraint {
  format?: string;
  pattern?: string;
  enum?: string[];
  minLength?: number;
  maxLength?: number;
}

/** An invalid field of a request: a path into the body, separated by dots, or the parameter's name. */
export interface FieldError {
  field: string;
  constraint?: FieldConstraint;
  message: string;
}

/**
 * A rejected request. `reason` is a sentence for a person. `details` is sent to the client with the
 * names of the API.
 */
export class Fault extends Error {
  readonly code: Code;
  readonly details: Record<string, unknown> | undefined;
  /** Seconds, sent as `Retry-After`. */
  readonly retryAfterS: number | undefined;
  /** Defaults to `isTransient` of the code. Set if a code is transient in some cases only. */
  readonly isRetryable: boolean;

  constructor(
    code: Code,
    reason: string,
    details?: Record<string, unknown>,
    options?: { retryAfterS?: number; cause?: unknown; isRetryable?: boolean },
  ) {
    super(reason, { cause: options?.cause });
    this.name = 'Fault';
    this.code = code;
    this.details = details;
    this.retryAfterS = options?.retryAfterS;
    this.isRetryable = options?.isRetryable ?? isTransient(code);
  }

  get status(): number {
    return STATUS_OF[this.code];
  }
}

/**
 * Whether the database, a provider or capacity was unavailable. The error is independent of the input and
 * the state, so it is never a reason to reject or fail a resource.
 */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof Fault && error.code === 'SERVICE_UNAVAILABLE';

/** The message of an error with the message of its root cause, for operators. */
export function messageWithCause(error: Error): string {
  let cause: unknown = error;
  while (cause instanceof Error && cause.cause !== undefined) cause = cause.cause;
  const text = cause instanceof Error ? cause.message : String(cause);
  return cause === error || error.message.includes(text)
    ? error.message
    : `${error.message} ${text}`;
}

/** Conflict of concurrent requests. A retry may succeed. */
export const contentionFault = (reason: string): Fault =>
  new Fault('SERVICE_UNAVAILABLE', `${reason} Try again.`, undefined, { retryAfterS: 1 });

/** A 400 with all invalid fields. */
export function invalid(errors: FieldError[], code: Code = 'INVALID_INPUT'): Fault {
  const fields = errors.map((error) => error.field || 'body').join(', ');
  return new Fault(code, `Invalid request: ${fields}`, { errors });
}

/** Shorthand for one invalid field. */
export function invalidField(field: string, message: string, code: Code = 'INVALID_INPUT'): Fault {
  return new Fault(code, `${field}: ${message}`, { errors: [{ field, message }] });
}
