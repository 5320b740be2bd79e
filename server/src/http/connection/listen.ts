// Listening addresses of the server, and the address for clients on the same machine.
import net from 'node:net';
import type { FastifyInstance } from 'fastify';

/** The two addresses of the name localhost. Browsers bind passkeys to names only. */
const LOOPBACK = ['127.0.0.1', '::1'] as const;

const origins = new WeakMap<FastifyInstance, string>();
const secondListeners = new WeakMap<FastifyInstance, net.Server>();

const hostInUrl = (host: string) => (host.includes(':') ? `[${host}]` : host);

/** Accepts connections to the second loopback address and passes them to the server. */
function addSecondListener(server: FastifyInstance): net.Server {
  const secondServer = net.createServer({ allowHalfOpen: true, noDelay: true }, (socket) => {
    server.server.emit('connection', socket);
  });
  server.addHook('preClose', (done) => {
    if (secondServer.listening) secondServer.close(() => done());
    else done();
  });
  secondListeners.set(server, secondServer);
  return secondServer;
}

/** Whether the second address is served by this process, or does not exist on this machine. */
const ownsSecondAddress = (
  secondServer: net.Server,
  options: net.ListenOptions,
): Promise<boolean> =>
  new Promise((resolve) => {
    secondServer.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'EADDRINUSE'));
    secondServer.listen(options, () => resolve(true));
  });

const isLoopbackName = (host: string) =>
  host === 'localhost' || LOOPBACK.some((each) => each === host);

const addressOf = (host: string) => (host === 'localhost' ? LOOPBACK[0] : host);

/**
 * Listens briefly, before slower steps of the start, and returns the port. Rejects as `listenOn`
 * does, with an error for `listenProblem`.
 */
export function probeListen({ host, port }: { host: string; port: number }): Promise<number> {
  const probe = net.createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    probe.once('error', reject);
    probe.listen({ port, host: addressOf(host) }, () => {
      const { port: selectedPort } = probe.address() as net.AddressInfo;
      probe.close(() => resolve(selectedPort));
    });
  });
}

/**
 * Accepts no more connections. Open connections remain. The close method of the server would close idle
 * connections.
 */
export function stopListening(server: FastifyInstance): void {
  net.Server.prototype.close.call(server.server);
  secondListeners.get(server)?.close();
}

/**
 * Listens, and returns the port and the origin that clients use. With a loopback host the server listens
 * on both loopback addresses, and the origin is `http://localhost:PORT`. If another program uses the
 * second address, the name could resolve to that program, and the origin contains the IP address.
 */
export async function listenOn(
  server: FastifyInstance,
  address: { host: string; port: number },
): Promise<{ port: number; origin: string }> {
  const host = addressOf(address.host);
  const secondServer = isLoopbackName(address.host) ? addSecondListener(server) : undefined;
  await server.listen({ port: address.port, host });
  const { port } = server.server.address() as net.AddressInfo;
  const otherAddress = LOOPBACK.find((each) => each !== host);
  const usesLocalhost =
    secondServer !== undefined &&
    (await ownsSecondAddress(secondServer, { port, host: otherAddress }));
  const origin = `http://${usesLocalhost ? 'localhost' : hostInUrl(host)}:${port}`;
  origins.set(server, origin);
  return { port, origin };
}

/** The origin of a server that listens by `listenOn`. */
export const listeningOrigin = (server: FastifyInstance): string | undefined => origins.get(server);

const PROBLEMS: Record<string, (port: number, host: string) => string> = {
  EADDRINUSE: (port) =>
    `Port ${port} is in use. Choose another with --port, or stop the program that uses it.`,
  EACCES: (port) =>
    `This user is not permitted to listen on port ${port}. Choose one from 1024 to ` +
    '65535 with --port.',
  EADDRNOTAVAIL: (_port, host) =>
    `This machine has no address ${host} to listen on. Choose another with --host.`,
};

/** Error message for a failure to listen, or undefined for any other error. */
export function listenProblem(
  error: unknown,
  { host, port }: { host: string; port: number },
): string | undefined {
  const { code, syscall } = error as NodeJS.ErrnoException;
  return syscall === 'listen' || syscall === 'bind'
    ? PROBLEMS[code ?? '']?.(port, host)
    : undefined;
}
