// How a stopping server closes its connections. Requests in progress get a share of the stop time; what is
// then still open is cut, so that no client can delay the end of the process.
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { Fault } from '../../kernel/fault.ts';

const SWEEP_MS = 50;
/** Time for the rest of a request head that has begun to arrive. */
const HEAD_MS = 1_000;
/** Time for requests in progress: the rest of their bodies, their work and the sending of their replies. */
const REQUESTS_MS = 5_000;

/**
 * Closes, once the server stops: at once every connection without a request, after HEAD_MS those with only
 * part of a request head, after REQUESTS_MS all others. Node's own close waits for each of them without a
 * limit, because it also ends the timers that limit slow requests.
 */
export function sayGoodbye(server: FastifyInstance): void {
  const http = server.server;
  const open = new Set<Socket>();
  /** The latest reply on each connection; when it is closed, so are the ones before it. */
  const latest = new WeakMap<Socket, ServerResponse>();
  http.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  http.on('request', (request, reply) => {
    latest.set(request.socket, reply);
  });
  const isAnswering = (socket: Socket) => latest.get(socket)?.closed === false;

  let stopping = false;
  // Synchronous, as the next hook is: connections.ts stops the parser while it is in the same packet.
  server.addHook('onRequest', (_request, _reply, done) => {
    done(
      stopping
        ? new Fault('SERVICE_UNAVAILABLE', 'The server is shutting down. Retry the request.')
        : undefined,
    );
  });
  server.addHook('preClose', (done) => {
    stopping = true;
    if (!http.listening) return done();
    const startMs = performance.now();
    const sweep = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      http.closeIdleConnections();
      for (const socket of open) {
        const headIsLate = elapsedMs >= HEAD_MS && !isAnswering(socket);
        if (socket.bytesRead === 0 || headIsLate || elapsedMs >= REQUESTS_MS) socket.destroy();
      }
    }, SWEEP_MS);
    http.once('close', () => clearInterval(sweep));
    done();
  });
}
