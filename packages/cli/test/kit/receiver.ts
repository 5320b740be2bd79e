// A webhook receiver on this machine that records all requests.
import http from 'node:http';
import type { AddressInfo } from 'node:net';

interface Arrival {
  readonly id: string;
  readonly type: string;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

export interface Receiver {
  readonly url: string;
  readonly port: number;
  readonly arrivals: Arrival[];
  /** HTTP status of the replies of the receiver. */
  status: number;
  close(): Promise<void>;
}

export async function startReceiver(port = 0): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const state = { status: 200 };
  const server = http.createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { id, type } = JSON.parse(body);
    arrivals.push({ id, type, headers: request.headers, body });
    response.writeHead(state.status).end();
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const { port: boundPort } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${boundPort}/hook`,
    port: boundPort,
    arrivals,
    get status() {
      return state.status;
    },
    set status(value) {
      state.status = value;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
