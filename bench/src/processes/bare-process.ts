// The least a Fastify server can do: one route that answers the bytes it was given. What our own route is
// slower than this is what reading, checking and presenting cost.
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { answer } from '../machine/answer.ts';

async function listen(body: string): Promise<number> {
  const server = Fastify({ logger: false });
  server.get('/2025-10-13/transactions/:transactionId', (_request, reply) => {
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

answer({ listen });
