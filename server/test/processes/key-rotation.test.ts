// The commands of docs/guides/keys.md on two servers under load. The rotation is killed together
// with one of the servers, and continues. At the end no column contains a sealed value of an
// earlier key, and every customer is readable. A start with the old master key fails without a
// write.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { databaseUrl, execute } from '../kit/app/database.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';
import { blocksOf } from '../kit/guides/blocks.ts';

const GUIDE = 'docs/guides/keys.md';
const COMMAND = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');
const CLIENT = { id: 'rotation', secret: 'know-this' };
const AUTHORIZATION = `Basic ${btoa(`${CLIENT.id}:${CLIENT.secret}`)}`;
const name = `railhead_rotation_${process.pid}`;

let url: string;
let folders: DataFolder[];
let servers: Running[];
let client: pg.Client;
let cwd: string;
let env: Record<string, string>;
let isLoading = true;
const problems: string[] = [];
const fullNames = new Map<string, string>();

beforeAll(async () => {
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `create database ${name}`);
  url = databaseUrl(admin, name);
  folders = [createDataFolder('keys-one'), createDataFolder('keys-two')];
  cwd = fs.mkdtempSync(path.join(path.dirname((folders[0] as DataFolder).dir), 'guide-'));
  fs.symlinkSync(path.join(projectRoot(), 'server'), path.join(cwd, 'server'));
  fs.writeFileSync(path.join(cwd, 'master.key'), `${'07'.repeat(32)}\n`);
  env = {
    DATABASE_URL: url,
    RAILHEAD_MASTER_KEY_FILE: path.join(cwd, 'master.key'),
    RAILHEAD_CLIENT_ID: CLIENT.id,
    RAILHEAD_CLIENT_SECRET: CLIENT.secret,
    RAILHEAD_RATE_LIMIT: '0',
    RAILHEAD_RATE_LIMIT_QUOTES: '0',
    LOG_LEVEL: 'error',
  };
  servers = await Promise.all(folders.map((folder) => folder.start([], env)));
  client = new pg.Client({ connectionString: url });
  await client.connect();
}, 180_000);

afterAll(async () => {
  isLoading = false;
  await client?.end();
  await Promise.all((folders ?? []).map((folder) => folder.remove()));
  const admin = (inject('testServer') as { url: string }).url;
  await execute(admin, `drop database if exists ${name} with (force)`);
}, 60_000);

async function call(server: Running, method: string, route: string, body?: object) {
  const reply = await fetch(`${server.credentials.baseUrl}${route}`, {
    method,
    headers: {
      authorization: AUTHORIZATION,
      'content-type': 'application/json',
      ...(body && { 'idempotency-key': crypto.randomUUID() }),
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  const json = (await reply.json()) as { id: string; fullName: string };
  if (!reply.ok) throw new Error(`${method} ${route}: ${reply.status} ${JSON.stringify(json)}`);
  return json;
}

/** Creates and reads customers until the load ends. The other server reads each customer. */
async function runLoad(number: number): Promise<void> {
  for (let count = 0; isLoading; count++) {
    const [writer, reader] = number % 2 ? servers : [...servers].reverse();
    try {
      const fullName = `Ada ${number} ${count}`;
      const body = { customerType: 'INDIVIDUAL', fullName };
      const { id } = await call(writer as Running, 'POST', '/customers', body);
      fullNames.set(id, fullName);
      const customer = await call(reader as Running, 'GET', `/customers/${id}`);
      if (customer.fullName !== fullName) problems.push(`${id} has another name`);
    } catch (error) {
      // A killed server resets connections. Any error reply is a problem.
      if (!(error instanceof TypeError)) problems.push((error as Error).message);
      await sleep(50);
    }
  }
}

function startCommand(...argv: string[]): ChildProcess {
  return spawn(process.execPath, [COMMAND, ...argv], {
    cwd,
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
}

const runCommand = (...argv: string[]) =>
  execFileSync(process.execPath, [COMMAND, ...argv], {
    cwd,
    env: { ...process.env, ...env },
    encoding: 'utf8',
  });

async function count(pattern: string, table = 'customers', column = 'data_key'): Promise<number> {
  const text = `select count(*)::int as n from ${table} where ${column} ~ $1`;
  return (await client.query(text, [pattern])).rows[0].n;
}

/** Tables that contain a sealed value of key `number`, with the number of such rows. */
async function findTablesWith(number: number): Promise<string[]> {
  const tables = await client.query<{ name: string }>(
    `select table_name as name from information_schema.tables
      where table_schema = current_schema() and table_type = 'BASE TABLE'`,
  );
  const matches: string[] = [];
  for (const { name: table } of tables.rows) {
    const text = `select count(*)::int as n from "${table}" t where to_jsonb(t)::text ~ $1`;
    const { rows } = await client.query(text, [`s2\\.${number}\\.`]);
    if (rows[0].n > 0) matches.push(`${table}: ${rows[0].n}`);
  }
  return matches;
}

async function createEndpoint(server: Running): Promise<void> {
  await call(server, 'POST', '/webhook-endpoints', {
    delivery: 'PULL',
    eventTypes: ['CUSTOMER.KYC_APPROVED'],
  });
}

/**
 * Kills the rotation while a row is locked, so that it cannot be complete. Then kills and restarts
 * a server.
 */
async function killDuringRotation(): Promise<void> {
  const [lockedId] = fullNames.keys();
  await client.query('begin');
  await client.query('select id from customers where id = $1 for update', [lockedId]);
  const rotation = startCommand('keys', 'rotate');
  await vi.waitFor(async () => expect(await count('^s2\\.1\\.')).toBeGreaterThan(50), {
    timeout: 60_000,
    interval: 100,
  });
  rotation.kill('SIGKILL');
  const [folder] = folders as [DataFolder];
  await folder.kill((servers[0] as Running).child, 'node');
  await client.query('rollback');
  expect(await count('^s1\\.')).toBeGreaterThan(0);
  servers[0] = await folder.start([], env);
}

it('a rotation killed under load continues, and the new master key opens all values', async () => {
  await createEndpoint(servers[0] as Running);
  const clients = [1, 2, 3, 4].map(runLoad);
  await vi.waitFor(() => expect(fullNames.size).toBeGreaterThan(100), { timeout: 60_000 });
  await killDuringRotation();
  runCommand('keys', 'rotate');
  expect(JSON.parse(runCommand('keys', 'list', '--json')).waiting).toEqual([]);

  // The guide rotates to key 2, with another master key.
  const page = fs.readFileSync(path.join(projectRoot(), GUIDE), 'utf8');
  const blocks = blocksOf(GUIDE, page);
  const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
  const run = (text: string) =>
    execFileSync('bash', ['-c', `shopt -s expand_aliases; set -eu\n${text}`], {
      cwd,
      env: { ...process.env, ...env },
      encoding: 'utf8',
    });
  expect(run(commands[0] as string)).toBe('Everything is sealed with key 2.\n1\n');
  expect(await findTablesWith(1)).toEqual([]);
  expect(await count('^s2\\.2\\.', 'idempotency', 'reply')).toBeGreaterThan(100);

  env.RAILHEAD_MASTER_KEY_FILE = path.join(cwd, 'new-master.key');
  for (const [index, folder] of folders.entries()) {
    await folder.kill((servers[index] as Running).child, 'node');
    servers[index] = await folder.start([], env);
  }
  expect(run(`alias railhead-server='node server/bin/railhead-server.js'\n${commands[1]}`)).toBe(
    '1\n',
  );
  isLoading = false;
  await Promise.all(clients);
  expect(problems).toEqual([]);
  const [server] = servers as [Running];
  for (const [id, fullName] of fullNames) {
    expect(await call(server, 'GET', `/customers/${id}`)).toMatchObject({ fullName });
  }
  expect(JSON.parse(runCommand('ledger', 'verify', '--json')).balanced).toBe(true);
}, 300_000);

it('a start with the old master key fails without a write', async () => {
  const readWriteCount = async () =>
    (await client.query('select sum(n_tup_ins + n_tup_upd + n_tup_del) from pg_stat_user_tables'))
      .rows;
  for (const folder of folders.splice(0)) await folder.remove();
  await sleep(1_500);
  const writeCountBefore = await readWriteCount();
  const folder = createDataFolder('keys-old');
  folders.push(folder);
  const oldKeyEnv = { ...env, RAILHEAD_MASTER_KEY_FILE: '', RAILHEAD_MASTER_KEY: '07'.repeat(32) };
  const exitWithOldKey = await folder.waitForExit(folder.launch([], oldKeyEnv));
  expect(exitWithOldKey.code).toBe(1);
  expect(exitWithOldKey.err).toMatch(/does not open this database\. .* Nothing was written\.\n$/);
  const envWithoutKey = { ...env, RAILHEAD_MASTER_KEY_FILE: '' };
  const exitWithoutKey = await folder.waitForExit(folder.launch([], envWithoutKey));
  expect(exitWithoutKey.err).toMatch(/is missing\. Restore it\. Nothing was written\.\n$/);
  expect(fs.readdirSync(folder.dir).filter((fileName) => fileName === 'master.key')).toEqual([]);
  await sleep(1_500);
  expect(await readWriteCount()).toEqual(writeCountBefore);
}, 120_000);
