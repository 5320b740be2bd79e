// Minimal Fastify servers with one route each. The route returns fixed bytes, or the rows of fixed
// statements. The difference from the server's routes is the cost of authentication, validation and
// presentation, and with fixed bytes also of reading.
import type { AddressInfo } from 'node:net';
import Fastify from 'fastify';
import { serveJobs } from '../machine/worker-channel.ts';
import { openPool } from './interactive.ts';

export interface ListOptions {
  url: string;
  poolSize: number;
  path: string;
  /**
   * Statements of one page. The first statement returns the rows of the page. The first row of an
   * optional second statement, such as a count, is added to the body.
   */
  statements: { text: string; values: unknown[] }[];
}

async function listen(body: string): Promise<number> {
  const server = Fastify({ logger: false });
  server.get('/2025-10-13/transactions/:transactionId', (_request, reply) => {
    void reply.header('content-type', 'application/json; charset=utf-8').send(body);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

async function listenWithRows({ url, poolSize, path, statements }: ListOptions): Promise<number> {
  const pool = openPool(url, poolSize);
  const server = Fastify({ logger: false });
  server.get(path, async (_request, reply) => {
    const [page, count] = await Promise.all(
      statements.map(({ text, values }, index) =>
        pool.query({ name: `list_${index}`, text, values }),
      ),
    );
    const body = JSON.stringify({ data: page?.rows, ...count?.rows[0] }, (_key, value) =>
      typeof value === 'bigint' ? Number(value) : value,
    );
    return reply.header('content-type', 'application/json; charset=utf-8').send(body);
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  return (server.server.address() as AddressInfo).port;
}

serveJobs({ listen, listenWithRows });
