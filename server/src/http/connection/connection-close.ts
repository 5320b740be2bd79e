// Closes connections when the server stops. Requests in progress get a share of the stop time.
// Connections that are still open are then destroyed, so that no client can delay the end of the
// process. Before that, connections can be drained: each is closed with its next reply, which
// clients do not report as a failure.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Fault } from '../../kernel/fault.ts';
import { stopListening } from './listen.ts';

const SWEEP_MS = 50;
/** Maximum time for the completion of a request head that has begun to arrive. */
const HEAD_MS = 1_000;
/** Time for requests in progress: their remaining bodies, their work and the sending of their replies. */
const REQUESTS_MS = 5_000;

export interface Draining {
  /** Maximum duration. */
  ms: number;
  /**
   * Whether connections are still accepted, for the whole duration: a load balancer needs time to
   * detect that the process is not ready. Otherwise draining completes with the last connection. */
  accepts: boolean;
}

const drains = new WeakMap<FastifyInstance, (draining: Draining) => Promise<void>>();

/** Announces the closing of each connection with its next reply. Completes before the server is closed. */
export async function drainConnections(server: FastifyInstance, draining: Draining): Promise<void> {
  await drains.get(server)?.(draining);
}

/**
 * Closes, once the server stops: immediately every connection without a request, after HEAD_MS
 * those with only part of a request head, after REQUESTS_MS all others. Node's own close waits for
 * each of them without a limit, because it also stops the timers that limit slow requests.
 */
export function addCloseHooks(server: FastifyInstance): void {
  const http = server.server;
  const open = new Set<Socket>();
  /** The latest reply on each connection. When it is closed, the earlier replies are closed too. */
  const latest = new WeakMap<Socket, ServerResponse>();
  http.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  http.on('request', (request, reply) => {
    latest.set(request.socket, reply);
  });
  const isResponding = (socket: Socket) => latest.get(socket)?.closed === false;

  let draining = false;
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (draining) reply.header('connection', 'close');
    done();
  });
  drains.set(server, async ({ ms, accepts }) => {
    draining = true;
    if (accepts) return void (await sleep(ms));
    stopListening(server);
    for (let waited = 0; waited < ms && open.size > 0; waited += SWEEP_MS) await sleep(SWEEP_MS);
  });

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
    // A server that was drained has stopped listening, and may have connections.
    if (!http.listening && open.size === 0) return done();
    const startMs = performance.now();
    const sweep = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      http.closeIdleConnections();
      for (const socket of open) {
        const headIsLate = elapsedMs >= HEAD_MS && !isResponding(socket);
        if (socket.bytesRead === 0 || headIsLate || elapsedMs >= REQUESTS_MS) socket.destroy();
      }
    }, SWEEP_MS);
    http.once('close', () => clearInterval(sweep));
    done();
  });
}
