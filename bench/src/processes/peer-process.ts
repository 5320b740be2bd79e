// The conventional implementation of quote execution, as a peer: one interactive transaction per
// request, on a route with authentication only. The peer runs the operation of the server.
// `interactive.ts` writes its rows to the database.

import type { AddressInfo } from 'node:net';
import Fastify, { type FastifyInstance } from 'fastify';
import type pg from 'pg';
import { connectorRegistry } from '../../../server/src/connectors/registry.ts';
import { quoteOperations } from '../../../server/src/features/payments/quotes/operations.ts';
import type { Caller } from '../../../server/src/kernel/caller.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { createContext } from '../../../server/src/runtime/operation/context.ts';
import { createVault } from '../../../server/src/runtime/security/vault.ts';
import { serveJobs } from '../machine/worker-channel.ts';
import {
  insert,
  openPool,
  readerOf,
  writeEvents,
  writeRows,
  writeTransfers,
} from './interactive.ts';

export interface PeerOptions {
  url: string;
  poolSize: number;
  platformId: string;
  authorization: string;
}

const effects = systemEffects();
const vault = createVault(effects, () => {
  throw new Error('the vault was used, but the execution of a quote decrypts no personal data');
});
const operation = quoteOperations({
  connectors: connectorRegistry(effects),
  origin: () => '',
  pendingActionOf: async () => undefined,
}).find(({ contract }) => contract.operationId === 'executeQuote');

/** Rows that an execution changes are locked when read. */
const LOCKS = { transactions: 'for no key update' } as const;

async function execute(
  client: pg.PoolClient,
  caller: Caller,
  quoteId: string,
  key: string,
): Promise<string> {
  await client.query('begin');
  const time = { now: effects.now(), ownClock: false };
  const ctx = createContext({ effects, db: readerOf(client, LOCKS), vault }, caller, time);
  const input = { params: { quoteId }, query: {}, headers: {}, body: {} };
  const result = await operation?.run(ctx, input as never);
  if (!result || 'rejected' in result)
    throw new Error(`the quote was not executed: ${JSON.stringify(result)}`);
  const reply = JSON.stringify(result.body);
  await writeRows(client, ctx.set);
  const idempotencyValues = [`${caller.platformId} ${quoteId} ${key}`, '', result.status, reply];
  const columns = ['id', 'body_hash', 'status', 'reply', 'created_at'];
  await insert(client, 'idempotency', columns, [[...idempotencyValues, new Date(ctx.now)]]);
  const balances = await writeTransfers(client, ctx.set.transfers);
  await writeEvents(client, ctx.set.events, balances);
  await client.query('commit');
  return reply;
}

let openPeer: { pool: pg.Pool; server: FastifyInstance } | undefined;

async function close(): Promise<void> {
  await openPeer?.server.close();
  await openPeer?.pool.end();
  openPeer = undefined;
}

/** Listens with a pool of `poolSize` connections. Returns the port. */
async function listen(options: PeerOptions): Promise<number> {
  await close();
  const { url, poolSize, platformId, authorization } = options;
  const caller: Caller = {
    platformId,
    environment: 'sandbox',
    tokenId: null,
    permissions: ['VIEW', 'TRANSACT', 'MANAGE'],
  };
  const pool = openPool(url, poolSize);
  const server = Fastify({ logger: false, forceCloseConnections: true });
  server.post('/2025-10-13/quotes/:quoteId/execute', async (request, reply) => {
    if (request.headers.authorization !== authorization) return reply.code(401).send();
    const { quoteId } = request.params as { quoteId: string };
    const client = await pool.connect();
    try {
      const key = String(request.headers['idempotency-key']);
      const body = await execute(client, caller, quoteId, key);
      return reply.header('content-type', 'application/json; charset=utf-8').send(body);
    } catch (error) {
      await client.query('rollback');
      return reply.code(500).send(String(error));
    } finally {
      client.release();
    }
  });
  await server.listen({ port: 0, host: '127.0.0.1' });
  openPeer = { pool, server };
  return (server.server.address() as AddressInfo).port;
}

serveJobs({ listen, close });
