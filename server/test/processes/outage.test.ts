// A server with an unavailable database, as observed by its clients and its operator.
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createPlatformWithToken } from '../../src/bootstrap.ts';
import { type App, compose } from '../../src/compose.ts';
import { systemEffects } from '../../src/runtime/config/system-effects.ts';
import { createLog } from '../../src/runtime/observability/log.ts';
import { createTestDatabase, type TestDatabase } from '../kit/app/database.ts';

/** A proxy to the database whose connections can be closed. */
async function startProxy(url: string) {
  const proxyUrl = new URL(url);
  const folder = proxyUrl.searchParams.get('host');
  const { port, hostname } = proxyUrl;
  const openSockets = new Set<net.Socket>();
  const server = net.createServer((clientSocket) => {
    const databaseSocket = folder
      ? net.connect(`${folder}/.s.PGSQL.${port}`)
      : net.connect(Number(port), hostname);
    for (const socket of [clientSocket, databaseSocket]) {
      openSockets.add(socket);
      socket.on('error', () => undefined).on('close', () => openSockets.delete(socket));
    }
    clientSocket.pipe(databaseSocket).pipe(clientSocket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  proxyUrl.searchParams.delete('host');
  proxyUrl.hostname = '127.0.0.1';
  proxyUrl.port = String((server.address() as net.AddressInfo).port);
  return {
    url: proxyUrl.href,
    closeConnections() {
      server.close();
      for (const socket of openSockets) socket.destroy();
    },
  };
}

describe('a database outage', () => {
  let database: TestDatabase;
  let proxy: Awaited<ReturnType<typeof startProxy>>;
  let app: App;
  let authorization: string;
  const lines: string[] = [];
  const folder = mkdtempSync(path.join(os.tmpdir(), 'outage-'));

  beforeAll(async () => {
    database = await createTestDatabase();
    proxy = await startProxy(database.url);
    const effects = systemEffects();
    const log = createLog(effects, 'warn', (line) => lines.push(line));
    const settings = {
      ...{ databaseUrl: proxy.url, masterKey: Buffer.alloc(32, 7), serviceNamePrefix: 'Service' },
      files: { folder },
    };
    app = await compose(settings, effects, log);
    app.start();
    const { clientId, clientSecret } = await createPlatformWithToken(app.runtime, {
      ...{ name: 'Shop', environment: 'sandbox', regulated: true, documentsOptional: false },
      ...{ currencies: ['USD'], fundingOf: () => undefined },
    });
    authorization = `Basic ${Buffer.from(`${clientId}:${clientSecret}`).toString('base64')}`;
  });
  afterAll(async () => {
    proxy.closeConnections();
    await app.stop();
    await database.drop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('causes replies with 503, and at most one log line per kind and second', async () => {
    app.readiness.markStarted();
    const request = (url: string, headers = {}) =>
      app.server.inject({ method: 'GET', url, headers });
    const requestCustomers = () => request('/2025-10-13/customers', { authorization });
    expect((await requestCustomers()).statusCode).toBe(200);
    expect((await request('/readyz')).statusCode).toBe(200);
    expect(lines).toEqual([]);
    proxy.closeConnections();
    const startMs = performance.now();
    for (let round = 0; round < 20; round++) {
      const replies = await Promise.all(Array.from({ length: 50 }, requestCustomers));
      expect(new Set(replies.map(({ statusCode }) => statusCode))).toEqual(new Set([503]));
    }
    await sleep(1_100);
    const seconds = (performance.now() - startMs) / 1_000;
    expect((await request('/readyz')).statusCode).toBe(503);
    const allEntries = lines.map((line) => JSON.parse(line));
    const dependencyFailures = allEntries.filter(({ message }) => message === 'dependency failed');
    const countedErrors = dependencyFailures.reduce((sum, { count = 1 }) => sum + count, 0);
    expect(countedErrors).toBe(1_000);
    const countsByKind = new Map<string, number>();
    for (const { message, err } of allEntries) {
      const kind = `${message} ${err?.code} ${err?.cause?.code}`;
      countsByKind.set(kind, (countsByKind.get(kind) ?? 0) + 1);
    }
    for (const [kind, times] of countsByKind)
      expect([kind, times <= seconds + 1]).toEqual([kind, true]);
    expect(allEntries.length).toBeLessThan(60);
  }, 60_000);
});
