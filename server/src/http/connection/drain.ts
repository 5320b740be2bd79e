// Handles a request body that is still arriving when its answer is ready. Closing a connection with
// unread data resets it, and the client may lose the answer. A short rest is read and the
// connection kept. Otherwise the answer announces the close, our side is shut down after it, and
// input is discarded up to limits per connection, per address and per process. Beyond them nothing
// is read: the connection stays open for a moment, so that a reading client receives its answer.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { createMeter } from '../admission/bucket.ts';

/** Bytes of a body that are read to keep the connection. */
const KEPT = 65_536;
/** Bytes discarded on one connection. */
const MAX_DISCARDED = 16 * 1_048_576;
/** Bytes discarded per second, and at once: for one address, and for all. */
const OF_ADDRESS = { perSecond: 4 * 1_048_576, burst: 32 * 1_048_576 };
const OF_ALL = { perSecond: 32 * 1_048_576, burst: 64 * 1_048_576 };
/** Minimum that a chunk counts: a chunk of one byte costs as much to read as a large one. */
const MIN_DISCARDED = 4_096;
const MAX_MS = 5_000;
const MAX_SILENCE_MS = 1_000;
/** How long a connection that is not read stays open after its answer. */
const UNREAD_MS = 1_000;
/** Connections that stay open unread; further ones are closed at once. */
const MAX_UNREAD = 512;

const ALL = '';

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined ||
  (headers['content-length'] !== undefined && headers['content-length'] !== '0');

export interface Drain {
  /** Called before an answer is sent; sets `connection: close` if the connection cannot be kept. */
  prepare(request: IncomingMessage, response: ServerResponse, address: string): void;
  /** Whether the last answer on this connection was sent, so that further input is no request. */
  isClosing(socket: object): boolean;
}

interface Discarding {
  socket: Socket;
  request: IncomingMessage;
  /** Whether input may still be read; permanently false at a limit. */
  isReading(): boolean;
}

/** Counts and discards further input as long as `take` allows it. */
function discard(socket: Socket, request: IncomingMessage, take: (bytes: number) => boolean) {
  let left = MAX_DISCARDED;
  let reading = take(0);
  request.on('data', (chunk: Buffer) => {
    const cost = Math.max(chunk.length, MIN_DISCARDED);
    left -= cost;
    if (!reading || (left >= 0 && take(cost))) return;
    reading = false;
    request.pause();
  });
  // Takes the first chunk now: Node discards the input of an unread request automatically.
  request.read();
  if (reading) request.resume();
  else request.pause();
  return { socket, request, isReading: () => reading };
}

export function createDrain(now: () => number = () => performance.now()): Drain {
  const addresses = createMeter(OF_ADDRESS.perSecond, OF_ADDRESS.burst, now);
  const process = createMeter(OF_ALL.perSecond, OF_ALL.burst, now);
  const closing = new WeakSet<object>();
  let unread = 0;

  const takeFor = (address: string) => (bytes: number) => {
    const buckets = [addresses.of(address), process.of(ALL)];
    if (buckets.some(({ left }) => left <= 0)) return false;
    for (const bucket of buckets) bucket.left -= bytes;
    return true;
  };

  /** Closes a connection after its answer; `destroy` sends what is written and then closes it. */
  function close({ socket, request, isReading }: Discarding, destroy: () => void): void {
    if (request.complete || (!isReading() && unread >= MAX_UNREAD)) return void destroy();
    socket.end();
    const end = () => {
      clearTimeout(all);
      clearTimeout(silence);
      destroy();
    };
    const all = setTimeout(end, isReading() ? MAX_MS : UNREAD_MS);
    const silence = setTimeout(end, MAX_SILENCE_MS);
    request.on('data', () => isReading() && silence.refresh());
    request.once('end', end);
    if (!isReading()) unread += 1;
    const wasUnread = !isReading();
    socket.once('close', () => {
      clearTimeout(all);
      clearTimeout(silence);
      if (wasUnread) unread -= 1;
    });
  }

  return {
    prepare(request, response, address) {
      const { socket, headers } = request;
      if (request.complete || !hasBody(request) || !(socket instanceof Socket)) return;
      if (closing.has(socket) || response.headersSent) return;
      const take = takeFor(address);
      const announced = Number(headers['content-length'] ?? Infinity);
      if (announced <= KEPT && take(announced)) {
        request.on('data', () => undefined).resume();
        return;
      }
      closing.add(socket);
      response.setHeader('connection', 'close');
      const state = discard(socket, request, take);
      const destroySoon = socket.destroySoon.bind(socket);
      // Node calls this when the last answer of a connection is sent.
      socket.destroySoon = () => close(state, destroySoon);
    },
    isClosing: (socket) => closing.has(socket),
  };
}
