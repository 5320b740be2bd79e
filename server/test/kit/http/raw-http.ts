// HTTP written byte by byte to a socket, for requests that client libraries do not send.
import net, { type AddressInfo } from 'node:net';
import type { FastifyInstance } from 'fastify';

interface RawReply {
  status: number;
  headers: Record<string, string>;
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
  body: any;
  /** The complete output, including further replies. */
  text: string;
}

/** The first reply in the output of a server. */
export function readReply(text: string): RawReply {
  const [head = '', remainder = ''] = text.split('\r\n\r\n', 2);
  const [line = '', ...fields] = head.split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => {
      const [name = '', ...value] = field.split(':');
      return [name.toLowerCase(), value.join(':').trim()];
    }),
  );
  const isJson = headers['content-type']?.includes('json');
  const body = isJson
    ? JSON.parse(remainder.slice(0, Number(headers['content-length'])))
    : remainder;
  return { status: Number(line.split(' ')[1]), headers, body, text };
}

/** Sends the parts. Returns the first reply when the server has closed the connection. */
export function sendRaw(port: number, ...parts: (string | Buffer)[]): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => {
      for (const part of parts) socket.write(part);
    });
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
    });
    // A reset after the reply does not affect it.
    socket.on('error', (error) => (text ? undefined : reject(error)));
    socket.on('close', () => resolve(readReply(text)));
  });
}

/** The port of a server on loopback, which is started if necessary. */
export async function portOf(server: FastifyInstance): Promise<number> {
  if (!server.server.listening) await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}
