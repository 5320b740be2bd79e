// Forwards webhooks to a receiver that replies, to one that closes the connection, and to addresses
// without a receiver.
import http from 'node:http';
import net from 'node:net';
import { afterAll, describe, expect, it } from 'vitest';
import { forward } from './forward.ts';

const servers: (http.Server | net.Server)[] = [];
afterAll(() => {
  for (const server of servers) server.close();
});

async function listen(server: http.Server | net.Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return (server.address() as net.AddressInfo).port;
}

const send = (url: string) => forward(new URL(url), { headers: {}, body: '{}' });

describe('forward', () => {
  it('returns the status of the reply', async () => {
    const port = await listen(http.createServer((_, response) => response.writeHead(204).end()));
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'replied', status: 204 });
  });

  it.each(['http://127.0.0.1:9/', 'http://localhost:9/', 'http://receiver.invalid/'])(
    'returns the kind refused if no connection to %s can be opened',
    async (url) => {
      expect(await send(url)).toMatchObject({ kind: 'refused' });
    },
  );

  it('returns the kind failed if the connection ends without a reply', async () => {
    const port = await listen(
      net.createServer((socket) => socket.once('data', () => socket.end())),
    );
    expect(await send(`http://127.0.0.1:${port}/`)).toMatchObject({ kind: 'failed' });
  });
});
