// Sends replies as JSON, and errors in one format. Compiled serializers for all schemas would cost seconds
// at the start, so tests check each reply against its schema.
import type { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import type { Naming } from '../catalog/naming.ts';
import { Fault, retryAdvice } from '../kernel/fault.ts';
import { faultBody } from './fault-body.ts';

/** Faults of requests that Fastify rejects before a route runs. */
function faultOfFramework(error: { statusCode?: number; code?: string }): Fault | null {
  if (error.code === 'FST_ERR_MAX_PARAM_LENGTH') {
    return new Fault(
      'NOT_FOUND',
      'The resource was not found, because an ID in the path is too long. Check the ID.',
    );
  }
  if (error.statusCode && error.statusCode >= 400 && error.statusCode < 500) {
    return new Fault(
      'INVALID_INPUT',
      'The request is malformed and cannot be read. Check the URL and the headers.',
    );
  }
  return null;
}

export function faultOf(error: unknown): Fault {
  if (error instanceof Fault) return error;
  const frameworkFault = faultOfFramework(error as { statusCode?: number; code?: string });
  if (frameworkFault) return frameworkFault;
  return new Fault(
    'INTERNAL_ERROR',
    'An internal error occurred. Retry the request later.',
    undefined,
    {
      cause: error,
    },
  );
}

const RETRY = 'x-should-retry';

/** Sets the headers that state whether and when the request should be repeated. */
export function setRetryHeaders(reply: FastifyReply, fault: Fault): void {
  if (fault.retryAfterS) reply.header('retry-after', String(fault.retryAfterS));
  const advice = retryAdvice(fault);
  if (advice) reply.header(RETRY, advice);
}

export function send(reply: FastifyReply, status: number, body: unknown): void {
  reply.code(status);
  reply.header('X-Request-Id', reply.request.id);
  // A stopping server no longer listens. Its last reply on a connection closes the connection.
  if (!reply.server.server.listening) reply.header('connection', 'close');
  // A 409 without other advice is final, as is a stored 409.
  if (status === 409 && !reply.hasHeader(RETRY)) reply.header(RETRY, 'false');
  if (body === undefined || body === null) void reply.send();
  else
    void reply.header('content-type', 'application/json; charset=utf-8').send(JSON.stringify(body));
}

/** Sends server-sent events as they occur. Proxies must not buffer them. */
export function sendStream(reply: FastifyReply, status: number, stream: Readable): void {
  reply.code(status);
  reply.header('X-Request-Id', reply.request.id);
  reply.header('x-accel-buffering', 'no');
  void reply.header('content-type', 'text/event-stream; charset=utf-8').send(stream);
}

/** Sends the retry headers and the error body of a fault. */
export function sendFault(reply: FastifyReply, naming: Naming, fault: Fault): void {
  setRetryHeaders(reply, fault);
  send(reply, fault.status, naming.toApiNames(faultBody(naming, fault)));
}
