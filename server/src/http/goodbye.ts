// How a server that stops lets go of its connections.
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';

const SWEEP_MS = 50;

/**
 * A stopping server waits for replies and not for clients that merely keep a connection: the last reply on
 * each ends it, and those without a request are closed. Node's own close overlooks a connection whose reply
 * is just going out, and any on which nothing was ever sent.
 */
export function sayGoodbye(server: FastifyInstance): void {
  const http = server.server;
  const open = new Set<Socket>();
  http.on('connection', (socket) => {
    open.add(socket);
    socket.once('close', () => open.delete(socket));
  });
  server.addHook('preClose', (done) => {
    if (!http.listening) return done();
    const sweep = setInterval(() => {
      http.closeIdleConnections();
      for (const socket of open) if (socket.bytesRead === 0) socket.destroy();
    }, SWEEP_MS);
    http.once('close', () => clearInterval(sweep));
    done();
  });
}
