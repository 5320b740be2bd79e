// `railhead-server doctor` on a real database: each defect is reported, and no data is changed.
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { main } from '../../operator.ts';

const app = testApp();
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-doctor-'));
let client: pg.Client;

beforeAll(async () => {
  client = new pg.Client({ connectionString: app.databaseUrl });
  await client.connect();
});
afterAll(async () => {
  await client.end();
  fs.rmSync(folder, { recursive: true, force: true });
});

interface Finding {
  check: string;
  status: string;
  detail: string;
  remedy?: string;
}

async function run(argv: string[] = [], env: Record<string, string | undefined> = {}) {
  const output = { out: '', err: '' };
  const code = await main(['doctor', ...argv], {
    env: {
      DATABASE_URL: app.databaseUrl,
      RAILHEAD_MASTER_KEY: '07'.repeat(32),
      RAILHEAD_DATA_DIR: folder,
      ...env,
    },
    out: (text) => {
      output.out += text;
    },
    err: (text) => {
      output.err += text;
    },
  });
  return { code, ...output };
}

async function readFindings(env: Record<string, string | undefined> = {}): Promise<Finding[]> {
  const { out, err } = await run(['--json'], env);
  expect(err).toBe('');
  return JSON.parse(out).findings;
}

const find = async (check: string, env: Record<string, string | undefined> = {}) =>
  (await readFindings(env)).find((each) => each.check === check) as Finding;

const REJECTION = 'sorry, too many clients already';

/** PostgreSQL's response to a connection beyond `max_connections`. */
function rejectionMessage(): Buffer {
  const fields = ['SFATAL', 'VFATAL', 'C53300', `M${REJECTION}`, ''];
  const content = Buffer.from(fields.map((field) => `${field}\0`).join(''));
  const length = Buffer.alloc(4);
  length.writeInt32BE(content.length + 4);
  return Buffer.concat([Buffer.from('E'), length, content]);
}

/** A proxy of the database that rejects the connections of this name. */
async function databaseThatRejects(name: string) {
  const { username, password, pathname, hostname, port, searchParams } = new URL(app.databaseUrl);
  const folder = searchParams.get('host');
  const sockets = new Set<net.Socket>();
  const server = net.createServer((socket) => {
    sockets.add(socket.on('error', () => undefined));
    socket.once('data', (startup) => {
      if (startup.includes(name)) return void socket.end(rejectionMessage());
      const upstream = folder
        ? net.connect(`${folder}/.s.PGSQL.${port}`)
        : net.connect(Number(port || 5432), hostname);
      sockets.add(upstream.on('error', () => undefined));
      upstream.write(startup);
      socket.pipe(upstream).pipe(socket);
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port: proxyPort } = server.address() as net.AddressInfo;
  const credentials = password ? `${username}:${password}` : username;
  return {
    url: `postgresql://${credentials}@127.0.0.1:${proxyPort}${pathname}`,
    close() {
      server.close();
      for (const each of sockets) each.destroy();
    },
  };
}

describe('doctor', () => {
  it('has a finding for every check, and a remedy for every finding that is not OK', async () => {
    const checkResults = await readFindings();
    expect(checkResults.map(({ check }) => check)).toEqual([
      ...['node', 'settings', 'data-folder', 'disk', 'master-key', 'database', 'durability'],
      ...['replica', 'connections', 'clock', 'backup', 'transactions', 'migrations'],
      ...['partitions', 'jobs', 'keys', 'providers', 'deliveries'],
    ]);
    for (const { status, remedy } of checkResults)
      expect(remedy === undefined).toBe(status === 'OK');
  });

  it('exits with 1 after an error, here in the settings of the test database', async () => {
    const { code, out } = await run();
    expect(out).toMatch(/^ERROR {4}durability {4}fsync is off\./m);
    expect(out).toMatch(/^OK {7}migrations {4}All migrations/m);
    expect(out).toMatch(/^ +Correct postgresql\.conf, /m);
    expect(code).toBe(1);
  });

  it('needs no database', async () => {
    const { code, out } = await run([], {
      ...{ DATABASE_URL: undefined, RAILHEAD_MASTER_KEY: undefined },
      RAILHEAD_DATA_DIR: path.join(folder, 'none'),
    });
    expect(out).toMatch(/^OK +database +There is no database yet/m);
    expect(out).toMatch(/^OK +master-key +There is no key yet/m);
    expect(code).toBe(0);
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('reports an unreachable database', async () => {
    const { code, out } = await run([], { DATABASE_URL: 'postgres://127.0.0.1:1/none' });
    expect(out).toMatch(/^ERROR +database +/m);
    expect(code).toBe(1);
  });

  it('prints why PostgreSQL rejected a connection', async () => {
    const database = await databaseThatRejects('railhead reader');
    try {
      expect(await find('database', { DATABASE_URL: database.url })).toMatchObject({
        ...{ status: 'ERROR', detail: expect.stringContaining(REJECTION) },
      });
    } finally {
      database.close();
    }
  });

  it('reports every invalid setting', async () => {
    const { code, out } = await run(['--port', 'none'], { RAILHEAD_ROLES: 'unknown' });
    expect(out.match(/^ERROR +settings/gm)).toHaveLength(2);
    expect(code).toBe(1);
  });

  it('rejects an unknown flag, and has help', async () => {
    expect(await run(['--fix'])).toMatchObject({ code: 2, out: '' });
    expect((await run(['--help'])).out).toContain('Usage: railhead-server doctor');
  });
});

describe('a defect', () => {
  let undoStatements: string[] = [];
  afterEach(async () => {
    for (const text of undoStatements) await client.query(text);
    undoStatements = [];
  });

  async function withChange(change: string, undo: string) {
    undoStatements.push(undo);
    await client.query(change);
  }

  it('of the master key is an error', async () => {
    const otherKey = { RAILHEAD_MASTER_KEY: '99'.repeat(32) };
    expect(await find('keys', otherKey)).toMatchObject({ status: 'ERROR' });
    const noKey = { RAILHEAD_MASTER_KEY: undefined };
    expect(await find('keys', noKey)).toMatchObject({
      ...{ status: 'ERROR', detail: 'The master key of this database is missing.' },
    });
    expect(fs.readdirSync(folder)).toEqual([]);
  });

  it('of production is a missing key, replica, archive or address', async () => {
    const productionEnv = { NODE_ENV: 'production', RAILHEAD_MASTER_KEY: undefined };
    const checkResults = await readFindings(productionEnv);
    const statusOf = (name: string) => checkResults.find(({ check }) => check === name)?.status;
    expect(['master-key', 'replica', 'backup', 'settings'].map(statusOf)).toEqual([
      ...['ERROR', 'WARNING', 'WARNING', 'WARNING'],
    ]);
  });

  it('of migrations is a warning if one is missing, and an error if one is unknown', async () => {
    const { rows } = await client.query(
      'select name, applied_at, checksum, phase from schema_migrations order by name desc limit 1',
    );
    const [{ name, checksum, phase }] = rows;
    await withChange(
      `delete from schema_migrations where name = '${name}'`,
      `insert into schema_migrations (name, applied_at, checksum, phase)
        values ('${name}', now(), '${checksum}', ${phase === null ? 'null' : `'${phase}'`})`,
    );
    expect(await find('migrations')).toMatchObject({
      ...{ status: 'WARNING', detail: expect.stringContaining(name) },
    });
    await withChange(
      `insert into schema_migrations values ('9999_later.sql', now(), 'x', 'contract')`,
      `delete from schema_migrations where name = '9999_later.sql'`,
    );
    expect(await find('migrations')).toMatchObject({
      ...{ status: 'ERROR', detail: expect.stringContaining('9999_later.sql') },
    });
  });

  it('of background work is a dead job or an overdue delivery', async () => {
    await withChange(
      `insert into jobs (id, kind, input, due_at, state, failed_at, platform_id)
        values ('Job:doctor', 'payout.send', '{}', now(), 'dead', now(), '')`,
      `delete from jobs where id = 'Job:doctor'`,
    );
    await withChange(
      `insert into webhook_queue (event_id, platform_id, due_at)
        values ('Webhook:doctor', 'none', now() - interval '2 hours')`,
      `delete from webhook_queue where event_id = 'Webhook:doctor'`,
    );
    const checkResults = await readFindings();
    const detailOf = (name: string) => checkResults.find(({ check }) => check === name)?.detail;
    expect(detailOf('jobs')).toBe('Jobs that have failed permanently: 1.');
    expect(detailOf('deliveries')).toBe('A delivery has been due for 120 minutes.');
  });

  it('of a provider is shown without control sequences of its text', async () => {
    await withChange(
      `insert into providers (id, environment, url, private_address, status, status_since, terms,
          problem, created_at, updated_at, version)
        values ('bank', 'sandbox', 'https://bank.example', false, 'ACTIVE', now(), '{}',
          E'refused\\u001b[2J', now(), now(), 1)`,
      `delete from providers where id = 'bank'`,
    );
    const { out } = await run();
    expect(out).toMatch(/^WARNING {2}providers {5}bank: refused\ufffd\[2J$/m);
  });

  it('of partitions is a warning if one is missing', async () => {
    const { rows } = await client.query(
      `select relname as name from pg_class where relnamespace = 'partitions'::regnamespace
        and relname ~ '^events_[0-9]+$' order by relname desc limit 1`,
    );
    const [{ name }] = rows;
    await client.query('begin');
    await client.query(`drop table partitions.${name}`);
    await client.query('commit');
    expect(await find('partitions')).toMatchObject({ status: 'WARNING' });
  });
});
