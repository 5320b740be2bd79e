// Local servers that complete no reply until a test sets a status. They send no byte, only the
// headers, or single bytes at intervals.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

type HangingMode = 'silent' | 'head' | 'trickle';

export interface HangingServer {
  url: string;
  /** Requests received. */
  requests(): number;
  /** Maximum number of concurrent connections. */
  peak(): number;
  /** Responds to every request from now on with this status. Undefined stops the replies again. */
  respondWith(status: number | undefined): void;
  close(): Promise<void>;
}

const TRICKLE_MS = 20;

function sendIncomplete(mode: HangingMode, response: http.ServerResponse): void {
  if (mode === 'silent') return;
  response.writeHead(200, { 'content-type': 'application/json' });
  response.flushHeaders();
  if (mode === 'head') return;
  const trickle = setInterval(() => response.write(' '), TRICKLE_MS);
  response.on('close', () => clearInterval(trickle));
}

export async function startHanging(mode: HangingMode = 'silent'): Promise<HangingServer> {
  const sockets = new Set<Socket>();
  let [requestCount, peakConnections] = [0, 0];
  let status: number | undefined;
  const server = http.createServer((request, response) => {
    requestCount++;
    request.resume();
    if (status === undefined) sendIncomplete(mode, response);
    else response.writeHead(status, { 'content-length': '0' }).end();
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    peakConnections = Math.max(peakConnections, sockets.size);
    socket.on('close', () => sockets.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/`,
    requests: () => requestCount,
    peak: () => peakConnections,
    respondWith(next) {
      status = next;
    },
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
