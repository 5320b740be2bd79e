// The choice of a host that accepts writes and responds.
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../../test/kit/app/database.ts';
import { scratchFolder } from '../../../../test/kit/app/scratch.ts';
import { createReadiness } from '../../observability/readiness.ts';
import { type Embedded, startEmbedded } from '../../postgres/embedded.ts';
import { openDatabase } from '../database.ts';
import { connectLane, openLane } from '../lane.ts';
import { connectDatabase } from './connect.ts';
import { closeFormerConnections } from './former-primary.ts';

/** A port that forwards to a database, or accepts connections without a response. */
async function listen(url?: string) {
  const sockets = new Set<net.Socket>();
  const target = url === undefined ? undefined : new URL(url);
  const server = net.createServer((client) => {
    sockets.add(client.on('error', () => undefined));
    if (!target) return;
    const folder = target.searchParams.get('host');
    const upstream = folder
      ? net.connect(`${folder}/.s.PGSQL.${target.port}`)
      : net.connect(Number(target.port), target.hostname);
    sockets.add(upstream.on('error', () => undefined));
    client.pipe(upstream).pipe(client);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    host: `127.0.0.1:${(server.address() as net.AddressInfo).port}`,
    accepted: () => sockets.size,
    close() {
      server.close();
      for (const each of sockets) each.destroy();
    },
  };
}

type Listener = Awaited<ReturnType<typeof listen>>;

describe('connectDatabase with several hosts', () => {
  let database: TestDatabase;
  let dir: string;
  let standby: Embedded;
  let primaryPort: Listener;
  let standbyPort: Listener;
  let silentPort: Listener;
  let urlPrefix = '';
  let urlPath = '';

  /** A cluster in permanent recovery, which therefore accepts no writes. */
  async function startStandby(): Promise<Embedded> {
    dir = fs.mkdtempSync(path.join(scratchFolder(), 'standby-'));
    await (await startEmbedded({ dir })).stop();
    fs.writeFileSync(path.join(dir, 'postgres', 'standby.signal'), '');
    return startEmbedded({ dir });
  }

  beforeAll(async () => {
    database = await createTestDatabase();
    standby = await startStandby();
    primaryPort = await listen(database.url);
    standbyPort = await listen(standby.url);
    silentPort = await listen();
    urlPrefix = `postgresql://${new URL(database.url).username}@`;
    urlPath = new URL(database.url).pathname;
  }, 60_000);

  afterAll(async () => {
    for (const each of [primaryPort, standbyPort, silentPort]) each.close();
    await standby.stop();
    await database.drop();
    fs.rmSync(dir, { recursive: true, force: true });
  });

  const urlOf = (hosts: readonly string[], name = urlPath, query = '') =>
    `${urlPrefix}${hosts.join(',')}${name}${query}`;

  async function databaseOf(url: string): Promise<unknown> {
    const client = await connectDatabase(url, { name: 'test' });
    const { rows } = await client.query('select current_database() as name');
    await client.end();
    return rows[0].name;
  }

  it.each([
    ['a host that refuses connections', () => '127.0.0.1:1'],
    ['a host that does not respond', () => silentPort.host],
    ['a host without the database', () => standbyPort.host],
  ])('skips %s', async (_, host) => {
    expect(await databaseOf(urlOf([host(), primaryPort.host]))).toBe(urlPath.slice(1));
  });

  it('skips a standby unless the URL accepts any host', async () => {
    const hosts = [standbyPort.host, '127.0.0.1:1'];
    const connection = connectDatabase(urlOf(hosts, '/postgres'), { name: 'test' });
    await expect(connection).rejects.toMatchObject({
      code: '25006',
      message: expect.stringMatching(/no host of the database accepts writes: .*standby/),
    });
    const anyHostUrl = urlOf(hosts, '/postgres', '?target_session_attrs=any');
    expect(await databaseOf(anyHostUrl)).toBe('postgres');
    const standbyUrl = urlOf([standbyPort.host], '/postgres', '?target_session_attrs=read-write');
    await expect(connectDatabase(standbyUrl, { name: 'test' })).rejects.toMatchObject({
      code: '25006',
    });
  });

  it('tries the next host if a host does not respond, until the deadline', async () => {
    const startMs = performance.now();
    await databaseOf(urlOf([silentPort.host, silentPort.host, primaryPort.host]));
    expect(performance.now() - startMs).toBeLessThan(3_000);
    const connection = connectDatabase(urlOf([silentPort.host]), { name: 'test', timeoutMs: 200 });
    await expect(connection).rejects.toThrow('timeout');
  });

  it('rejects queries and reports a read-only database if only a standby responds', async () => {
    const url = urlOf([standbyPort.host], '/postgres', '?target_session_attrs=read-write');
    const db = openDatabase({ url });
    await expect(db.ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await db.close();
    const readiness = createReadiness({ url, hasLane: () => true });
    readiness.markStarted();
    expect(await readiness.check()).toBe('database read-only');
    readiness.stop();
  });
});

describe('a former primary that continues to run, first in the list of hosts', () => {
  const dirs: string[] = [];
  let former: Embedded;
  let primary: Embedded;
  let ports: readonly [Listener, Listener];
  let url: string;

  async function startInstance(): Promise<Embedded> {
    const dir = fs.mkdtempSync(path.join(scratchFolder(), 'instance-'));
    dirs.push(dir);
    return startEmbedded({ dir });
  }

  async function setReplicas(names: string): Promise<void> {
    const admin = await connectDatabase(former.url, { name: 'admin', confirmed: false });
    await admin.query(`alter system set synchronous_standby_names = '${names}'`);
    await admin.query('select pg_reload_conf()');
    await admin.end();
    await vi.waitUntil(
      async () => {
        const client = await connectDatabase(former.url, { name: 'admin', confirmed: false });
        const { rows } = await client.query('show synchronous_standby_names');
        await client.end();
        return rows[0].synchronous_standby_names === names;
      },
      { timeout: 15_000, interval: 50 },
    );
  }

  beforeAll(async () => {
    former = await startInstance();
    primary = await startInstance();
    ports = [await listen(former.url), await listen(primary.url)];
    const hosts = ports.map(({ host }) => host).join(',');
    url = `postgresql://${new URL(former.url).username}@${hosts}/postgres`;
  }, 60_000);
  afterEach(() => setReplicas(''));
  afterAll(async () => {
    for (const each of ports) each.close();
    await former.stop();
    await primary.stop();
    for (const dir of dirs) fs.rmSync(dir, { recursive: true, force: true });
  });

  it('is not probed by /readyz', async () => {
    await setReplicas('*');
    const readiness = createReadiness({ url, hasLane: () => true });
    readiness.markStarted();
    expect(await readiness.check()).toBe('ready');
    readiness.stop();
    const [{ host }] = ports;
    const formerUrl = `postgresql://${new URL(former.url).username}@${host},${host}/postgres`;
    const formerReadiness = createReadiness({ url: formerUrl, hasLane: () => true });
    formerReadiness.markStarted();
    expect(await formerReadiness.check()).toBe('database cannot commit');
    formerReadiness.stop();
  });

  it('loses its connections when a replica confirms a commit on the primary', async () => {
    const db = openDatabase({ url });
    const lane = openLane({ connect: () => connectLane(url), onUp() {}, timeoutMs: 5_000 });
    const readSystem = async () =>
      (await db.query('select system_identifier as id from pg_control_system()'))[0]?.id;
    const formerSystem = await readSystem();
    await vi.waitUntil(() => lane.isConnected);
    await setReplicas('*');
    const client = await connectDatabase(url, { name: 'test' });
    // No replica has confirmed a commit on the other instance either.
    expect([await readSystem(), lane.isConnected]).toEqual([formerSystem, true]);
    closeFormerConnections(client);
    expect(lane.isConnected).toBe(false);
    expect(await readSystem()).not.toBe(formerSystem);
    await vi.waitUntil(() => lane.isConnected, { timeout: 15_000 });
    await Promise.all([client.end(), lane.end(), db.close()]);
  }, 30_000);
});
