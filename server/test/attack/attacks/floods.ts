// Floods of a server with its default limits: idle and slow connections, slow and large bodies,
// invalid credentials, and one tenant at its limit. The payments of another tenant must succeed
// during each flood.
import { setMaxListeners } from 'node:events';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BASE } from '../target/tenants.ts';

interface Flood {
  port: number;
  /** A valid credential, for the floods of a tenant. */
  authorization: string;
  stop: AbortSignal;
  /** Called for each request or connection. */
  count(): void;
}

interface Client {
  socket: net.Socket;
  whenClosed: Promise<unknown>;
}

function connect({ port, count }: Flood): Client {
  count();
  const socket = net.connect(port, '127.0.0.1');
  socket.on('error', () => undefined);
  socket.resume();
  return { socket, whenClosed: new Promise((resolve) => socket.on('close', resolve)) };
}

/** Keeps this number of connections until the signal. A connection is replaced when `use` resolves. */
async function holdConnections(
  flood: Flood,
  connections: number,
  use: (client: Client) => Promise<void>,
) {
  const runConnection = async () => {
    while (!flood.stop.aborted) {
      const client = connect(flood);
      const whenEnded = new Promise((resolve) => flood.stop.addEventListener('abort', resolve));
      await Promise.race([use(client), client.whenClosed, whenEnded]);
      client.socket.destroy();
      await sleep(10);
    }
  };
  await Promise.all(Array.from({ length: connections }, runConnection));
}

/** Writes one character every 100 ms until the signal or the end of the connection. */
async function writeSlowly({ socket }: Client, { stop }: Flood, text: string): Promise<void> {
  for (const letter of text) {
    if (stop.aborted || socket.destroyed) return;
    socket.write(letter);
    await sleep(100);
  }
}

const requestHead = (authorization: string, length: number) =>
  `POST ${BASE}/customers HTTP/1.1\r\nhost: localhost\r\nauthorization: ${authorization}\r\n` +
  `content-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;

const waitForStop = ({ stop }: Flood) =>
  new Promise<void>((resolve) => stop.addEventListener('abort', () => resolve()));

/** The floods by name. Each resolves after the signal. */
const FLOODS: Record<string, (flood: Flood) => Promise<void>> = {
  'idle connections': (flood) => holdConnections(flood, 150, () => waitForStop(flood)),
  'slow heads': (flood) =>
    holdConnections(flood, 50, (client) =>
      writeSlowly(
        client,
        flood,
        `GET ${BASE}/config HTTP/1.1\r\nhost: localhost\r\na: ${'x'.repeat(9_999)}`,
      ),
    ),
  'slow bodies': (flood) =>
    holdConnections(flood, 50, async (client) => {
      client.socket.write(requestHead(flood.authorization, 10_000));
      await writeSlowly(client, flood, 'x'.repeat(10_000));
    }),
  'large bodies without a credential': (flood) =>
    holdConnections(flood, 16, async ({ socket, whenClosed }) => {
      socket.write(requestHead('Basic eDp5', 800_000));
      socket.write(Buffer.alloc(800_000, 'x'));
      await whenClosed;
    }),
  'large bodies with a credential': (flood) =>
    holdConnections(flood, 4, async ({ socket, whenClosed }) => {
      const body = JSON.stringify({ a: Array.from({ length: 20_000 }, () => 1) });
      socket.write(requestHead(flood.authorization, body.length) + body);
      await Promise.race([whenClosed, sleep(50)]);
    }),
  'invalid credentials': (flood) =>
    holdConnections(flood, 16, async ({ socket, whenClosed }) => {
      const request = `GET ${BASE}/config HTTP/1.1\r\nhost: x\r\nauthorization: Basic eDp5\r\n\r\n`;
      for (let count = 0; count < 20 && !socket.destroyed; count++) {
        flood.count();
        socket.write(request);
        await Promise.race([whenClosed, sleep(5)]);
      }
    }),
  'a tenant at its limit': (flood) =>
    holdConnections(flood, 8, async ({ socket, whenClosed }) => {
      const request =
        `GET ${BASE}/transactions?limit=100 HTTP/1.1\r\nhost: x\r\n` +
        `authorization: ${flood.authorization}\r\n\r\n`;
      for (let count = 0; count < 200 && !socket.destroyed; count++) {
        flood.count();
        socket.write(request);
        await Promise.race([whenClosed, sleep(4)]);
      }
    }),
  'malformed requests': (flood) =>
    holdConnections(flood, 8, async ({ socket, whenClosed }) => {
      socket.write('\u0000 /\r\n\r\n'.repeat(20));
      await Promise.race([whenClosed, sleep(50)]);
    }),
};

/** Runs all floods concurrently for this time. Returns the number of their requests and connections. */
export async function flood(port: number, authorization: string, ms: number): Promise<number> {
  const stop = AbortSignal.timeout(ms);
  setMaxListeners(0, stop);
  let total = 0;
  const count = () => void total++;
  const runningFloods = Object.values(FLOODS).map((start) =>
    start({ port, authorization, stop, count }),
  );
  await Promise.all(runningFloods);
  return total;
}
