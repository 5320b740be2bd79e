// A local webhook receiver of a platform, which records received webhooks. The test configures its
// replies.
import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  headers: Record<string, string>;
  body: string;
  id: string;
  type: string;
}

/** A status, or a function that may reply. */
type Behavior = number | ((response: http.ServerResponse, receivedWebhook: Received) => void);

export interface Receiver {
  readonly url: string;
  /** All received requests, in order. */
  readonly arrivals: Received[];
  behave(next: Behavior): void;
  /** Waits until `count` requests were received. */
  has(count: number): Promise<void>;
  /** Maximum number of concurrent requests. */
  readonly maxConcurrent: number;
  close(): Promise<void>;
}

function parseWebhook(headers: http.IncomingHttpHeaders, body: string): Received {
  const { id, type } = JSON.parse(body) as { id: string; type: string };
  return { headers: headers as Record<string, string>, body, id, type };
}

export async function startReceiver(firstBehavior: Behavior = 200): Promise<Receiver> {
  let behavior = firstBehavior;
  let inFlightCount = 0;
  let maxConcurrent = 0;
  const arrivals: Received[] = [];
  const server = http.createServer((request, response) => {
    maxConcurrent = Math.max(maxConcurrent, ++inFlightCount);
    response.on('close', () => inFlightCount--);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const receivedWebhook = parseWebhook(request.headers, Buffer.concat(chunks).toString('utf8'));
      arrivals.push(receivedWebhook);
      if (typeof behavior === 'number') response.writeHead(behavior).end('seen');
      else behavior(response, receivedWebhook);
      server.emit('received');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    arrivals,
    behave(next) {
      behavior = next;
    },
    async has(count) {
      while (arrivals.length < count) await once(server, 'received');
    },
    get maxConcurrent() {
      return maxConcurrent;
    },
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close').catch(() => undefined);
    },
  };
}
