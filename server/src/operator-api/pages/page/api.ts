// Requests to the operator API on the same server.
import { TEXTS } from './texts.ts';

export interface FieldError {
  field: string;
  message: string;
}

/** A rejection by the server, or the reason why it was unreachable. */
export interface Rejection {
  isRejected: true;
  /** 0 without a reply. */
  status: number;
  code: string;
  reason: string;
  errors: FieldError[];
  /** For support. Absent without a reply. */
  requestId: string | undefined;
}

export type Reply<T> = { isRejected: false; body: T } | Rejection;

/** Base path of the operator API. A proxy may add a prefix. */
export const BASE = location.pathname.replace(/\/operator(\/[\w-]*)?$/, '');

let csrfToken: string | undefined;

/** Sets the CSRF token of the session, which changes require. */
export const useCsrfToken = (token: string): void => {
  csrfToken = token;
};

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function reasonOf(request: XMLHttpRequest, reason: string | undefined): string {
  const { status } = request;
  if (status === 0) return TEXTS.unreachable;
  if (status === 429) return TEXTS.rateLimited(Number(request.getResponseHeader('retry-after')));
  return status >= 500 || !reason ? TEXTS.failed : reason;
}

function rejectionOf(request: XMLHttpRequest): Rejection {
  const { code, reason, details } = (parseJson(request.responseText) ?? {}) as {
    code?: string;
    reason?: string;
    details?: { errors?: FieldError[] };
  };
  return {
    isRejected: true,
    status: request.status,
    code: code ?? 'UNREACHABLE',
    reason: reasonOf(request, reason),
    errors: details?.errors ?? [],
    requestId: request.getResponseHeader('x-request-id') ?? undefined,
  };
}

export const call = <T>(method: string, path: string, body?: object): Promise<Reply<T>> =>
  new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, `${BASE}/operator/v1${path}`);
    request.addEventListener('loadend', () => {
      if (request.status < 200 || request.status >= 300) return resolve(rejectionOf(request));
      resolve({ isRejected: false, body: parseJson(request.responseText) as T });
    });
    if (csrfToken) request.setRequestHeader('x-csrf-token', csrfToken);
    if (body) request.setRequestHeader('content-type', 'application/json');
    request.send(body ? JSON.stringify(body) : null);
  });
