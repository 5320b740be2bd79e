// Connections with TLS verification, and connections through PgBouncer in session mode. The
// database is a single PostgreSQL of Debian. The certificates are created by this test.
import { execFileSync, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createCommitter } from '../../src/runtime/committer/committer.ts';
import { connectDatabase } from '../../src/runtime/db/connections/connect.ts';
import { openDatabase } from '../../src/runtime/db/database.ts';
import { connectLane } from '../../src/runtime/db/lane.ts';
import { accountInfos } from '../kit/app/fixtures.ts';
import { postgresBinaries } from '../kit/cluster/packages.ts';
import { freePorts, start, stop, waitUntil } from '../kit/cluster/processes.ts';
import { createServerProcess, SERVER_ENV, type ServerProcess } from '../kit/cluster/servers.ts';
import { callOrThrow } from '../kit/crash/load.ts';
import type { Running } from '../kit/crash/server.ts';

/** Creates two certificate authorities. The first authority certifies `localhost` only. */
function createCertificates(folder: string): void {
  const runOpenssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
  const createAuthority = (name: string) =>
    runOpenssl(
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
      ...['-days', '2', '-subj', `/CN=${name}`, '-keyout', `${name}.key`, '-out', `${name}.pem`],
    );
  createAuthority('ca');
  createAuthority('another-ca');
  runOpenssl(
    ...['req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes'],
    ...['-subj', '/CN=localhost', '-keyout', 'server.key', '-out', 'server.csr'],
  );
  fs.writeFileSync(path.join(folder, 'names'), 'subjectAltName=DNS:localhost\n');
  runOpenssl(
    ...['x509', '-req', '-in', 'server.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key'],
    ...['-CAcreateserial', '-days', '2', '-extfile', 'names', '-out', 'server.pem'],
  );
}

describe('connections', () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-connections-'));
  const dataFolder = path.join(folder, 'data');
  const logFile = path.join(folder, 'log');
  const servers: ServerProcess[] = [];
  const pids: number[] = [];
  let port = 0;
  let poolerPort = 0;

  const urlOf = (host: string, query = '') =>
    `postgresql://postgres@${host}:${port}/postgres${query}`;
  const verificationQuery = (authority = 'ca') =>
    `?sslmode=verify-full&sslrootcert=${path.join(folder, `${authority}.pem`)}`;
  const poolerUrl = () => `postgresql://postgres@127.0.0.1:${poolerPort}/postgres`;

  async function startPostgres(): Promise<void> {
    const binaries = postgresBinaries();
    const initdbCommand = [`${binaries}/initdb`, '-D', dataFolder, '-U', 'postgres', '-A', 'trust'];
    const userFlags = ['--reuid=postgres', '--regid=postgres', '--clear-groups'];
    const { status, stderr } = spawnSync(
      'setpriv',
      [...userFlags, ...initdbCommand, '--locale=C.UTF-8'],
      {
        cwd: folder,
        encoding: 'utf8',
      },
    );
    if (status !== 0) throw new Error(stderr);
    for (const name of ['server.key', 'server.pem']) {
      fs.copyFileSync(path.join(folder, name), path.join(dataFolder, name));
      const { uid, gid } = fs.statSync(dataFolder);
      fs.chownSync(path.join(dataFolder, name), uid, gid);
      fs.chmodSync(path.join(dataFolder, name), 0o600);
    }
    // PgBouncer connects to 127.0.0.1 without TLS. Servers connect to `localhost`.
    fs.writeFileSync(
      path.join(dataFolder, 'pg_hba.conf'),
      'hostnossl all all 127.0.0.1/32 trust\nhostssl all all samehost trust\n',
    );
    const settings = [
      ...[`port=${port}`, 'listen_addresses=localhost', 'unix_socket_directories='],
      ...['ssl=on', 'ssl_cert_file=server.pem', 'ssl_key_file=server.key', 'fsync=off'],
    ];
    const flags = settings.flatMap((setting) => ['-c', setting]);
    const child = start([`${binaries}/postgres`, '-D', dataFolder, ...flags], {
      ...{ log: logFile, asPostgres: true, cwd: folder },
    });
    pids.push(child.pid as number);
    await waitUntil('PostgreSQL', () =>
      connectDatabase(urlOf('127.0.0.1'), { name: 'wait' }).then(
        async (client) => {
          await client.end();
          return true;
        },
        () => false,
      ),
    );
  }

  async function startPooler(): Promise<void> {
    const file = path.join(folder, 'pgbouncer.ini');
    const settings = [
      ...['[databases]', `postgres = host=127.0.0.1 port=${port}`],
      ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${poolerPort}`],
      ...['unix_socket_dir =', 'auth_type = any', 'pool_mode = session'],
      ...['default_pool_size = 40', 'max_client_conn = 200'],
    ];
    // With `auth_type = any`, the user of the connection is the user in the database line.
    settings[1] += ' user=postgres';
    fs.writeFileSync(file, settings.join('\n'));
    const child = start(['pgbouncer', file], { log: logFile, asPostgres: true, cwd: folder });
    pids.push(child.pid as number);
    await waitUntil('PgBouncer', () =>
      connectDatabase(poolerUrl(), { name: 'wait' }).then(
        async (client) => {
          await client.end();
          return true;
        },
        () => false,
      ),
    );
  }

  beforeAll(async () => {
    fs.chmodSync(folder, 0o755);
    fs.writeFileSync(logFile, '');
    fs.mkdirSync(dataFolder);
    execFileSync('chown', ['postgres:postgres', dataFolder]);
    createCertificates(folder);
    [port = 0, poolerPort = 0] = await freePorts(2);
    await startPostgres();
    await startPooler();
  }, 120_000);

  afterAll(async () => {
    await Promise.all(servers.map((server) => server.remove()));
    for (const pid of pids.reverse()) await stop(pid, 'SIGINT');
    fs.rmSync(folder, { recursive: true, force: true });
  }, 60_000);

  async function startServer(name: string, databaseUrl: string): Promise<Running> {
    const [port = 0] = await freePorts(1);
    const env = { LOG_LEVEL: 'error', RAILHEAD_DATABASE_CONNECTION_AGE: '60' };
    const server = createServerProcess(name, { port, databaseUrl, env });
    servers.push(server);
    return server.start();
  }

  /**
   * Funds an account and pays from the account. Returns the statuses of the payment and of the
   * repeated request.
   */
  async function pay(server: Running): Promise<[number, number]> {
    const { id } = await callOrThrow(server, 'POST', '/customers', {
      ...{ customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' },
    });
    const query = `customerId=${id}&currency=USD`;
    const accounts = await callOrThrow(server, 'GET', `/customers/internal-accounts?${query}`);
    const accountId = accounts.data[0].id;
    await callOrThrow(server, 'POST', `/sandbox/internal-accounts/${accountId}/fund`, {
      amount: 100_00,
    });
    const externalAccountBody = {
      customerId: id,
      currency: 'USD',
      accountInfo: accountInfos.USD?.('000'),
    };
    const payee = await callOrThrow(
      server,
      'POST',
      '/customers/external-accounts',
      externalAccountBody,
    );
    const key = randomUUID();
    const { RAILHEAD_CLIENT_ID, RAILHEAD_CLIENT_SECRET } = SERVER_ENV;
    const basicCredentials = Buffer.from(
      `${RAILHEAD_CLIENT_ID}:${RAILHEAD_CLIENT_SECRET}`,
    ).toString('base64');
    const send = async () => {
      const reply = await fetch(`${server.credentials.baseUrl}/transfer-out`, {
        method: 'POST',
        headers: {
          authorization: `Basic ${basicCredentials}`,
          'content-type': 'application/json',
          'idempotency-key': key,
        },
        body: JSON.stringify({
          source: { accountId: accountId },
          destination: { accountId: payee.id },
          amount: 1_00,
        }),
      });
      await reply.text();
      return reply.status;
    };
    return [await send(), await send()];
  }

  describe('with TLS verification', () => {
    it('are encrypted for all purposes', async () => {
      const server = await startServer('verified', urlOf('localhost', verificationQuery()));
      expect(await pay(server)).toEqual([201, 201]);
      const client = new pg.Client({ connectionString: urlOf('127.0.0.1') });
      await client.connect();
      const { rows } = await client.query(
        `select a.application_name as name, bool_and(s.ssl) as encrypted
         from pg_stat_activity a join pg_stat_ssl s using (pid)
         where a.application_name like 'railhead%' group by 1 order by 1`,
      );
      await client.end();
      expect(rows.length).toBeGreaterThanOrEqual(2);
      expect(rows.filter(({ encrypted }) => !encrypted)).toEqual([]);
    }, 120_000);

    it.each([
      [
        'a host name that the certificate does not contain',
        () => urlOf('127.0.0.1', verificationQuery()),
      ],
      [
        'a certificate of another authority',
        () => urlOf('localhost', verificationQuery('another-ca')),
      ],
      ['an unknown authority', () => urlOf('localhost', '?sslmode=verify-full')],
      ['an unknown authority and sslmode=require', () => urlOf('localhost', '?sslmode=require')],
      ['a missing file of the authority', () => urlOf('localhost', verificationQuery('absent'))],
    ])('are rejected with %s', async (_, url) => {
      await expect(connectDatabase(url(), { name: 'rejected' })).rejects.toThrow(
        /altnames|IP|certificate|self-signed|ENOENT/,
      );
      const database = openDatabase({ url: url() });
      await expect(database.ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
      await database.close();
    });

    it('are not downgraded to connections without TLS', async () => {
      const plainUrl = `postgresql://postgres@127.0.0.1:${poolerPort}/postgres${verificationQuery()}`;
      await expect(connectDatabase(plainUrl, { name: 'rejected' })).rejects.toThrow(/SSL/);
    });
  });

  describe('through PgBouncer in session mode', () => {
    it('serve payments and replays', async () => {
      const server = await startServer('pooled', poolerUrl());
      expect(await pay(server)).toEqual([201, 201]);
      expect(await fetch(`${server.origin}/readyz`).then(({ status }) => status)).toBe(200);
    }, 120_000);

    it('prepare statements again on a connection that another client used', async () => {
      for (let round = 0; round < 3; round++) {
        const committer = createCommitter({ connect: () => connectLane(poolerUrl()) });
        const database = openDatabase({ url: poolerUrl() });
        expect(await database.query('select $1::int4 as one', [1])).toEqual([{ one: 1 }]);
        await waitUntil('a lane', () => committer.stats().lanes > 0);
        await committer.close();
        await database.close();
      }
    });
  });
});
