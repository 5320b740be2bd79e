// The embedded database on this machine, as the user that runs the tests. The tests cover its location, the
// process that may serve it, and the kill of any process. The branches of Windows and macOS are not
// covered.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { build } from 'esbuild';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../config/root.ts';
import { attachEmbedded, type Embedded, startEmbedded, withEmbedded } from './embedded.ts';
import { findBinaries } from './embedded-binaries.ts';

let base: string;
let socketFolder: string;
const { TMPDIR } = process.env;
let script: string;
const children: ChildProcess[] = [];

async function query<T extends object>(url: string, ...statements: string[]): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    let rows: T[] = [];
    for (const sql of statements) ({ rows } = await client.query<T>(sql));
    return rows;
  } finally {
    await client.end();
  }
}

const isAlive = (pid: number) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

async function waitUntilExited(pid: number): Promise<void> {
  for (let attempts = 0; isAlive(pid); attempts += 1) {
    if (attempts > 500) throw new Error(`process ${pid} is still running`);
    await sleep(10);
  }
}

async function waitUntilActive(url: string, text: string): Promise<void> {
  const activeSql = `select 1 from pg_stat_activity where state = 'active' and query like '${text}'
    and pid <> pg_backend_pid()`;
  for (let attempts = 0; (await query(url, activeSql)).length === 0; attempts += 1) {
    if (attempts > 100) throw new Error(`no query begins with ${text}`);
    await sleep(20);
  }
}

/** Starts another Node process that serves `dir`. */
async function startOtherProcess(dir: string) {
  const env = { ...process.env, NODE_PATH: path.join(projectRoot(), 'node_modules') };
  const child = spawn(process.execPath, [script, dir], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  children.push(child);
  for await (const line of createInterface({ input: child.stdout })) {
    return { child, ...(JSON.parse(line) as { url: string; pid: number }) };
  }
  throw new Error('the other process exited');
}

beforeAll(async () => {
  // If root runs the tests, the unprivileged user cannot enter these folders, because mkdtemp uses mode
  // 0700.
  base = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-embedded-'));
  // Sockets need a folder that the unprivileged user can enter. The folder is separate, so that it can be
  // removed.
  socketFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-sockets-'));
  fs.chmodSync(socketFolder, 0o755);
  process.env.TMPDIR = socketFolder;
  script = path.join(base, 'serve.mjs');
  const source = path.join(projectRoot(), 'server/src/runtime/postgres/embedded.ts');
  await build({
    stdin: {
      contents: `import { startEmbedded } from ${JSON.stringify(source)};
        const { url, pid } = await startEmbedded({ dir: process.argv[2] });
        console.log(JSON.stringify({ url, pid }));
        setInterval(() => undefined, 1000);`,
      resolveDir: base,
    },
    bundle: true,
    platform: 'node',
    format: 'esm',
    outfile: script,
  });
});

afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sleep(200);
  for (const folder of [base, socketFolder]) fs.rmSync(folder, { recursive: true, force: true });
  if (TMPDIR === undefined) delete process.env.TMPDIR;
  else process.env.TMPDIR = TMPDIR;
});

describe('startEmbedded', () => {
  it('serves a socket only, flushes every commit and keeps the data', async () => {
    const dir = path.join(base, 'plain');
    const firstDatabase = await startEmbedded({ dir });
    const [settings] = await query(
      firstDatabase.url,
      'create table t (n int)',
      `select current_setting('fsync') fsync, current_setting('synchronous_commit') wait,
        current_setting('full_page_writes') pages, current_setting('listen_addresses') tcp,
        inet_server_addr() address, (select datlocale from pg_database where datname = 'postgres')`,
    );
    expect(settings).toEqual({
      fsync: 'on',
      wait: 'on',
      pages: 'on',
      tcp: '',
      address: null,
      datlocale: 'C.UTF-8',
    });
    await Promise.all([firstDatabase.stop(), firstDatabase.stop()]);
    expect(isAlive(firstDatabase.pid)).toBe(false);
    const secondDatabase = await startEmbedded({ dir });
    expect(await query(secondDatabase.url, 'select * from t')).toEqual([]);
    await secondDatabase.stop();
  });

  it('serves two folders concurrently, under a path beyond the length of a socket', async () => {
    const nestedFolder = path.join(
      base,
      ...Array.from({ length: 8 }, () => 'a-rather-long-folder-name'),
    );
    const databases = await Promise.all(
      ['one', 'two'].map((name) =>
        startEmbedded({ dir: path.join(nestedFolder, name), durable: false }),
      ),
    );
    await Promise.all(databases.map(({ url }, i) => query(url, `create table t${i} ()`)));
    expect(await query(databases[0]!.url, `select to_regclass('t1') is null as separate`)).toEqual([
      { separate: true },
    ]);
    await Promise.all(databases.map((database) => database.stop()));
  });

  it('denies other users the socket and the data', async () => {
    const dir = path.join(base, 'plain');
    const database = await startEmbedded({ dir });
    const socket = new URL(database.url).searchParams.get('host')!;
    expect(fs.statSync(socket).mode & 0o777).toBe(0o700);
    expect(fs.statSync(dir).mode & 0o777).toBe(0o700);
    expect(fs.statSync(path.join(dir, 'postgres')).uid).not.toBe(0);
    await database.stop();
  });

  it('rejects with one line a folder that another process serves', async () => {
    const dir = path.join(base, 'plain');
    const { child, pid } = await startOtherProcess(dir);
    await expect(startEmbedded({ dir })).rejects.toMatchObject({
      name: 'DatabaseUnavailable',
      message:
        `The data folder ${dir} is already served by a running PostgreSQL (process ${pid}). ` +
        'Stop that server, or use another data folder.',
    });
    child.kill('SIGKILL');
    await waitUntilExited(pid);
  });

  it('succeeds for one of two starts on the same new folder', async () => {
    const dir = path.join(base, 'race');
    const results = await Promise.allSettled([startEmbedded({ dir }), startEmbedded({ dir })]);
    const startedServers = results.filter((each) => each.status === 'fulfilled') as {
      value: Embedded;
    }[];
    expect(startedServers).toHaveLength(1);
    const failure = results.find((each) => each.status === 'rejected') as PromiseRejectedResult;
    expect(failure.reason).toMatchObject({ message: expect.stringContaining('already served') });
    expect(fs.readdirSync(dir)).toEqual(['postgres']);
    await startedServers[0]!.value.stop();
  });

  it('removes the incomplete cluster of a killed first start', async () => {
    const dir = path.join(base, 'race');
    fs.mkdirSync(path.join(dir, 'postgres.new-4194305-abc'));
    await (await startEmbedded({ dir, durable: false })).stop();
    expect(fs.readdirSync(dir)).toEqual(['postgres']);
  });

  it('reports an unusable folder', async () => {
    const file = path.join(base, 'file');
    fs.writeFileSync(file, '');
    await expect(startEmbedded({ dir: path.join(file, 'x') })).rejects.toMatchObject({
      name: 'DatabaseUnavailable',
      message: expect.stringMatching(/^The embedded PostgreSQL cannot be started: [^\n]+$/),
    });
  });

  it('names DATABASE_URL if there is no build for the platform', () => {
    expect(() => findBinaries(undefined, 'linux-riscv64')).toThrow(
      'The embedded PostgreSQL does not support linux-riscv64. Set DATABASE_URL to a PostgreSQL ' +
        '15 or newer.',
    );
  });
});

describe('crash', () => {
  const count = (url: string) => query<{ count: string }>(url, 'select count(*) from stored_rows');
  let dir: string;

  beforeAll(async () => {
    dir = path.join(base, 'crash');
    const database = await startEmbedded({ dir });
    await query(database.url, 'create table stored_rows (n int)');
    await database.stop();
  });

  it('of Node stops PostgreSQL, and the next start succeeds without intervention', async () => {
    const { child, pid, url } = await startOtherProcess(dir);
    await query(url, 'insert into stored_rows values (1)');
    child.kill('SIGKILL');
    const server = await startEmbedded({ dir });
    expect(isAlive(pid)).toBe(false);
    expect(await count(server.url)).toEqual([{ count: '1' }]);
    await server.stop();
  });

  it('of PostgreSQL is reported to the caller and repaired by the next start', async () => {
    const database = await startEmbedded({ dir });
    await query(database.url, 'insert into stored_rows values (2)');
    process.kill(database.pid, 'SIGKILL');
    expect(await database.exited).toBe('PostgreSQL exited unexpectedly (137).');
    await database.stop();
    const nextServer = await startEmbedded({ dir });
    expect(await count(nextServer.url)).toEqual([{ count: '2' }]);
    await nextServer.stop();
  });

  it('of PostgreSQL during a query delays the next start until the query completes', async () => {
    const { child, pid, url } = await startOtherProcess(dir);
    const longQuery = query(url, 'select sum(i) from generate_series(1, 15000000) i').catch(
      () => [],
    );
    await waitUntilActive(url, 'select sum(i)%');
    child.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await waitUntilExited(pid);
    const lines: string[] = [];
    const nextServer = await startEmbedded({ dir, log: (line) => lines.push(line) });
    expect(lines).toContainEqual(expect.stringContaining('pre-existing shared memory block'));
    expect(await query(nextServer.url, 'select 1 as one')).toEqual([{ one: 1 }]);
    await longQuery;
    await nextServer.stop();
  });

  it('of Node and PostgreSQL is repaired by a start despite a reused process ID', async () => {
    const { child, pid, url } = await startOtherProcess(dir);
    await query(url, 'insert into stored_rows values (3)');
    child.kill('SIGKILL');
    process.kill(pid, 'SIGKILL');
    await waitUntilExited(pid);
    const cluster = path.join(dir, 'postgres');
    const { uid, gid } = fs.statSync(cluster);
    const otherProcess = spawn('sleep', ['60'], { uid, gid, stdio: 'ignore' });
    children.push(otherProcess);
    const socket = new URL(url).searchParams.get('host')!;
    const locks = [path.join(cluster, 'postmaster.pid'), path.join(socket, '.s.PGSQL.5432.lock')];
    for (const file of locks) {
      const text = fs.readFileSync(file, 'utf8');
      fs.writeFileSync(file, text.replace(/^\d+/, `${otherProcess.pid}`));
    }
    const nextServer = await startEmbedded({ dir });
    expect(await count(nextServer.url)).toEqual([{ count: '3' }]);
    expect(otherProcess.exitCode).toBe(null);
    await nextServer.stop();
  });
});

describe('attachEmbedded and withEmbedded', () => {
  it('use the PostgreSQL of another process, or start a PostgreSQL for the call', async () => {
    const dir = path.join(base, 'plain');
    expect(await attachEmbedded(path.join(base, 'none'))).toBe(undefined);
    expect(await attachEmbedded(dir)).toBe(undefined);
    const result = await withEmbedded({ dir }, async (url) => {
      expect(await attachEmbedded(dir)).toBe(url);
      return query(url, 'select 1 as one');
    });
    expect(result).toEqual([{ one: 1 }]);
    expect(await attachEmbedded(dir)).toBe(undefined);
    const { child, pid, url } = await startOtherProcess(dir);
    expect(await withEmbedded({ dir }, async (runningUrl) => runningUrl)).toBe(url);
    expect(isAlive(pid)).toBe(true);
    child.kill('SIGKILL');
    await waitUntilExited(pid);
  });
});
