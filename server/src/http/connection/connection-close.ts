// Closes connections when the server stops. Requests in progress may complete within REQUESTS_MS.
// Open connections are then destroyed, so that no client can delay the end of the process. A drain
// before the stop closes each connection with its next reply, which clients do not report as a
// failure.

import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { Fault } from '../../kernel/fault.ts';
import { stopListening } from './listen.ts';

const SWEEP_MS = 50;
/** Maximum time for the completion of a request head that has begun to arrive. */
const HEAD_MS = 1_000;
/**
 * Time for requests in progress, to receive their bodies, run their work and send their replies.
 */
const REQUESTS_MS = 5_000;

export interface DrainOptions {
  /** Maximum duration. */
  ms: number;
  /**
   * Whether connections are still accepted, for the whole duration, because a load balancer needs
   * time to detect that the process is not ready. If false, draining completes with the last
   * connection.
   */
  accepts: boolean;
}

const drains = new WeakMap<FastifyInstance, (options: DrainOptions) => Promise<void>>();

/**
 * Announces the closing of each connection with its next reply. Must complete before the server is
 * closed.
 */
export async function drainConnections(
  server: FastifyInstance,
  options: DrainOptions,
): Promise<void> {
  await drains.get(server)?.(options);
}

/**
 * Closes connections when the server stops. A connection without a request is closed at the first
 * sweep, and a connection with part of a request head after HEAD_MS. Every other connection is
 * closed after REQUESTS_MS. The close method of Node waits for each connection without a limit,
 * because it also stops the timers that limit slow requests.
 */
export function addCloseHooks(server: FastifyInstance): void {
  const http = server.server;
  const openSockets = new Set<Socket>();
  /**
   * The latest reply on each connection. When it is closed, the earlier replies are closed as well.
   */
  const latestReplies = new WeakMap<Socket, ServerResponse>();
  http.on('connection', (socket) => {
    openSockets.add(socket);
    socket.once('close', () => openSockets.delete(socket));
  });
  http.on('request', (request, reply) => {
    latestReplies.set(request.socket, reply);
  });
  const isResponding = (socket: Socket) => latestReplies.get(socket)?.closed === false;

  let isDraining = false;
  server.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining) reply.header('connection', 'close');
    done();
  });
  drains.set(server, async ({ ms, accepts }) => {
    isDraining = true;
    if (accepts) return void (await sleep(ms));
    stopListening(server);
    for (let elapsedMs = 0; elapsedMs < ms && openSockets.size > 0; elapsedMs += SWEEP_MS)
      await sleep(SWEEP_MS);
  });

  let isStopping = false;
  // Synchronous, because connections.ts must stop the parser before it reads the next head of a
  // packet. The next hook is also synchronous.
  server.addHook('onRequest', (_request, _reply, done) => {
    done(
      isStopping
        ? new Fault('SERVICE_UNAVAILABLE', 'The server is shutting down. Retry the request.')
        : undefined,
    );
  });
  server.addHook('preClose', (done) => {
    isStopping = true;
    // A drained server has stopped listening and may have connections.
    if (!http.listening && openSockets.size === 0) return done();
    const startMs = performance.now();
    const sweepTimer = setInterval(() => {
      const elapsedMs = performance.now() - startMs;
      http.closeIdleConnections();
      for (const socket of openSockets) {
        const isHeadLate = elapsedMs >= HEAD_MS && !isResponding(socket);
        if (socket.bytesRead === 0 || isHeadLate || elapsedMs >= REQUESTS_MS) socket.destroy();
      }
    }, SWEEP_MS);
    http.once('close', () => clearInterval(sweepTimer));
    done();
  });
}
