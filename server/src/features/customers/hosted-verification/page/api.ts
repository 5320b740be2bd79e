// Requests to the server. Uses XMLHttpRequest, because fetch does not report the progress of an
// upload.
import type { FieldError, Json, Outcome, State } from './types.ts';

/** Rejection by the server, or the error of an unreachable server. */
export interface Rejection {
  rejected: true;
  status: number;
  code: string;
  reason: string;
  errors: FieldError[];
  /** Request ID for support. Absent if no reply was received. */
  requestId: string | undefined;
}

type ServerReply<T> = { rejected: false; body: T } | Rejection;

const UNREACHABLE_MESSAGE = 'The connection was lost. Check your connection, then try again.';

function rejectionOf(status: number, body: unknown, requestId: string | undefined): Rejection {
  const { code, reason, details } = (body ?? {}) as {
    code?: string;
    reason?: string;
    details?: { errors?: FieldError[] };
  };
  const rateLimitMessage =
    status === 429 ? 'Too many attempts. Wait a minute, then try again.' : '';
  return {
    rejected: true,
    status,
    code: code ?? 'UNREACHABLE',
    reason: rateLimitMessage || reason || UNREACHABLE_MESSAGE,
    errors: details?.errors ?? [],
    requestId,
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Sends a request to a path below the address of this page. `progress` receives shares from 0 to 1.
 */
export function callServer<T>(
  method: string,
  path: string,
  body?: Json | FormData,
  progress?: (share: number) => void,
): Promise<ServerReply<T>> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, `${location.pathname}/${path}`);
    request.addEventListener('loadend', () => {
      const body = parseJson(request.responseText);
      const { status } = request;
      if (status >= 200 && status < 300) resolve({ rejected: false, body: body as T });
      else {
        const requestId = request.getResponseHeader('x-request-id') ?? undefined;
        resolve(rejectionOf(status, body, requestId));
      }
    });
    if (progress) {
      request.upload.addEventListener('progress', ({ loaded, total, lengthComputable }) => {
        if (lengthComputable && total > 0) progress(loaded / total);
      });
    }
    if (body instanceof FormData) return request.send(body);
    if (body) request.setRequestHeader('content-type', 'application/json');
    request.send(body ? JSON.stringify(body) : null);
  });
}

export const readState = () => callServer<State>('GET', 'state');
export const submit = () => callServer<Outcome>('POST', 'submit');
