// Responses to requests that fail before routing. They are written to the bare connection and have the error
// body of the API. Violations of HTTP in a readable head are checked here as well.
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Naming } from '../../catalog/naming.ts';
import { Fault } from '../../kernel/fault.ts';
import { faultBody } from '../fault-body.ts';
import type { SecurityHeaders } from './security-headers.ts';

/** Time from a response to the end of its connection. */
const CLOSE_MS = 1_000;

const STATUS_LINES: Record<number, string> = {
  400: '400 Bad Request',
  408: '408 Request Timeout',
  431: '431 Request Header Fields Too Large',
};

function faultOfConnection(code: string | undefined): Fault {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return new Fault('REQUEST_TIMEOUT', 'The request was not received within 60 s.');
  }
  if (code === 'HPE_HEADER_OVERFLOW') {
    return new Fault('HEADERS_TOO_LARGE', 'The URL and headers of the request exceed 16 KiB.');
  }
  return new Fault('INVALID_INPUT', 'The request is not a valid HTTP request.');
}

/** Rejects unreadable input. `isUpload` returns whether a file arrives on a connection. */
export const rejectUnreadable =
  (naming: Naming, headers: SecurityHeaders, isUpload: (socket: Socket) => boolean) =>
  (error: { code?: string }, socket: Socket): void => {
    // Files have separate time limits.
    if (error.code === 'ERR_HTTP_REQUEST_TIMEOUT' && isUpload(socket)) return;
    if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
    const fault = faultOfConnection(error.code);
    const body = JSON.stringify(naming.toApiNames(faultBody(naming, fault)));
    const head = [
      `HTTP/1.1 ${STATUS_LINES[fault.status]}`,
      'content-type: application/json; charset=utf-8',
      `content-length: ${Buffer.byteLength(body)}`,
      ...headers.map(([name, value]) => `${name}: ${value}`),
      'connection: close',
    ];
    socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
    // Closes the connection of a client that does not read the response.
    setTimeout(() => socket.destroy(), CLOSE_MS).unref();
  };

function hostCountOf({ rawHeaders }: IncomingMessage): number {
  let hostCount = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    if (name.length === 4 && name.toLowerCase() === 'host') hostCount += 1;
  }
  return hostCount;
}

/** The expectation of a request. Ignored in HTTP/1.0 (RFC 9110, 10.1.1). */
export const expectationOf = ({ httpVersion, headers }: IncomingMessage): string | undefined =>
  httpVersion === '1.1' ? headers.expect?.toLowerCase() : undefined;

/** The violation of HTTP in a head, if any. */
export function headFault(request: IncomingMessage): Fault | undefined {
  const hostCount = hostCountOf(request);
  if (hostCount > 1 || (hostCount === 0 && request.httpVersion === '1.1')) {
    return new Fault('INVALID_INPUT', 'The request must have exactly one Host header.');
  }
  const isHttp11 = request.httpVersion === '1.1';
  // A proxy may compute another length of this request (RFC 9112, 6.1).
  if (!isHttp11 && request.headers['transfer-encoding'] !== undefined) {
    return new Fault('INVALID_INPUT', 'Transfer-Encoding requires HTTP/1.1.');
  }
  const expectation = expectationOf(request);
  if (expectation !== undefined && expectation !== '100-continue') {
    return new Fault('EXPECTATION_FAILED', 'The only supported expectation is 100-continue.');
  }
  return undefined;
}
