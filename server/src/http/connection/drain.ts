// Handles a request body that is still arriving when its response is ready. Closing a connection
// with unread data resets it, and the client may lose the response. A short body is therefore read
// completely. After the response to a longer body, input is discarded up to limits before the
// connection is closed.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createMeter } from '../admission/bucket.ts';

/** Maximum size of a body that is read completely, so that the connection can be reused. */
const MAX_DRAINED_BYTES = 65_536;
/** Maximum bytes discarded on one connection. */
const MAX_DISCARDED_BYTES = 16 * 1_048_576;
/** Maximum discarded bytes per second and burst, per address and per process. */
const ADDRESS_LIMIT = { perSecond: 4 * 1_048_576, burst: 32 * 1_048_576 };
const PROCESS_LIMIT = { perSecond: 32 * 1_048_576, burst: 64 * 1_048_576 };
/** Minimum cost of a chunk in bytes. A chunk of one byte costs as much to read as a large chunk. */
const MIN_CHUNK_COST_BYTES = 4_096;
const MAX_MS = 5_000;
const MAX_IDLE_MS = 1_000;
/** Time for which an unread connection remains open after its response. */
const UNREAD_MS = 1_000;
/** Maximum connections that remain open unread. Further connections are closed immediately. */
const MAX_UNREAD_CONNECTIONS = 512;

const PROCESS_KEY = '';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0');

export interface Drain {
  /**
   * Called before a response is sent. Sets `connection: close` if the connection cannot be kept.
   */
  prepare(request: IncomingMessage, response: ServerResponse, address: string): void;
  /** Whether this connection closes after its current response. Further input is then discarded. */
  isClosing(socket: object): boolean;
}

interface DiscardState {
  socket: Socket;
  request: IncomingMessage;
  /** Whether input may still be read. Permanently false at a limit. */
  isReading(): boolean;
}

/** Counts and discards further input as long as `take` allows it. */
function discard(socket: Socket, request: IncomingMessage, take: (bytes: number) => boolean) {
  let remainingBytes = MAX_DISCARDED_BYTES;
  let isReading = take(0);
  request.on('data', (chunk: Buffer) => {
    const cost = Math.max(chunk.length, MIN_CHUNK_COST_BYTES);
    remainingBytes -= cost;
    if (!isReading || (remainingBytes >= 0 && take(cost))) return;
    isReading = false;
    request.pause();
  });
  // Reads the first chunk, because Node discards the input of an unread request automatically.
  request.read();
  if (isReading) request.resume();
  else request.pause();
  return { socket, request, isReading: () => isReading };
}

export function createDrain(now: () => number = () => performance.now()): Drain {
  const addressMeter = createMeter(ADDRESS_LIMIT.perSecond, ADDRESS_LIMIT.burst, now);
  const processMeter = createMeter(PROCESS_LIMIT.perSecond, PROCESS_LIMIT.burst, now);
  const closingSockets = new WeakSet<object>();
  let unreadCount = 0;

  const takeFor = (address: string) => (bytes: number) => {
    const buckets = [addressMeter.bucketOf(address), processMeter.bucketOf(PROCESS_KEY)];
    if (buckets.some(({ tokens }) => tokens <= 0)) return false;
    for (const bucket of buckets) bucket.tokens -= bytes;
    return true;
  };

  /** Closes a connection after its response. `destroy` sends written data and then closes it. */
  function close({ socket, request, isReading }: DiscardState, destroy: () => void): void {
    if (request.complete || (!isReading() && unreadCount >= MAX_UNREAD_CONNECTIONS))
      return void destroy();
    socket.end();
    const finish = () => {
      clearTimeout(deadlineTimer);
      clearTimeout(idleTimer);
      destroy();
    };
    const deadlineTimer = setTimeout(finish, isReading() ? MAX_MS : UNREAD_MS);
    const idleTimer = setTimeout(finish, MAX_IDLE_MS);
    request.on('data', () => isReading() && idleTimer.refresh());
    request.once('end', finish);
    if (!isReading()) unreadCount += 1;
    const wasUnread = !isReading();
    socket.once('close', () => {
      clearTimeout(deadlineTimer);
      clearTimeout(idleTimer);
      if (wasUnread) unreadCount -= 1;
    });
  }

  return {
    prepare(request, response, address) {
      const { socket, headers } = request;
      if (request.complete || !hasBody(request) || !(socket instanceof Socket)) return;
      if (closingSockets.has(socket) || response.headersSent) return;
      const take = takeFor(address);
      const contentLength = Number(headers['content-length'] ?? Infinity);
      if (contentLength <= MAX_DRAINED_BYTES && take(contentLength)) {
        request.on('data', () => undefined).resume();
        return;
      }
      closingSockets.add(socket);
      response.setHeader('connection', 'close');
      const state = discard(socket, request, take);
      const destroySoon = socket.destroySoon.bind(socket);
      // Node calls this when the last response of a connection is sent.
      socket.destroySoon = () => close(state, destroySoon);
    },
    isClosing: (socket) => closingSockets.has(socket),
  };
}
