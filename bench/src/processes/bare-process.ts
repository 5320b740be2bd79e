// The minimum of a Fastify server: one route that returns given bytes. The difference to the
// server's own route is the cost of reading, validation and presentation.
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
