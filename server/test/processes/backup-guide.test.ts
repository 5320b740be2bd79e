// The commands of docs/guides/backup.md. The embedded database is restored to just before the
// deletion of a customer, and an erasure after that time is repeated. Debian's PostgreSQL is backed
// up with pgBackRest, verified, and restored to before its tables were dropped. The second part
// requires root and Debian's packages postgresql and pgbackrest.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { createDataFolder, type Running } from '../kit/crash/server.ts';
import { blocksOf } from '../kit/guides/blocks.ts';
import { programPath } from '../kit/guides/guide.ts';

const GUIDE = 'docs/guides/backup.md';
const page = fs.readFileSync(path.join(projectRoot(), GUIDE), 'utf8');
const blocks = blocksOf(GUIDE, page);
const commands = blocks.filter(({ language }) => language === 'sh').map(({ text }) => text);
const outputs = blocks.filter(({ language }) => language === 'text').map(({ text }) => text);
const ALIAS = "shopt -s expand_aliases; alias railhead-server='node server/bin/railhead-server.js'";

function run(text: string, env: Record<string, string>): string {
  const script = `set -euo pipefail\n${ALIAS}\n${text}`;
  const options = {
    cwd: projectRoot(),
    env: { ...process.env, ...env },
    encoding: 'utf8',
  } as const;
  return execFileSync('bash', ['-c', script], options);
}

async function call({ credentials }: Running, method: string, route: string, body?: object) {
  const { baseUrl, clientId, clientSecret } = credentials;
  const reply = await fetch(`${baseUrl}${route}`, {
    method,
    headers: {
      authorization: `Basic ${btoa(`${clientId}:${clientSecret}`)}`,
      'content-type': 'application/json',
    },
    ...(body && { body: JSON.stringify(body) }),
  });
  return { status: reply.status, body: (await reply.json()) as { id: string; fullName: string } };
}

describe('the embedded database', () => {
  const dataFolder = createDataFolder('backup-guide');
  const baseFolder = path.dirname(dataFolder.dir);
  afterAll(() => dataFolder.remove(), 60_000);

  it('is restored to before a deletion, and an erased customer remains erased', async () => {
    fs.chmodSync(baseFolder, 0o755);
    const env: Record<string, string> = {
      RAILHEAD_DATA_DIR: dataFolder.dir,
      BACKUPS: path.join(baseFolder, 'backups'),
      RESTORED: path.join(baseFolder, 'restored'),
    };
    fs.mkdirSync(env.BACKUPS as string, { mode: 0o755 });
    const stop = async ({ child }: Running) => {
      const whenExited = dataFolder.waitForExit(child);
      child.kill('SIGTERM');
      expect((await whenExited).code).toBe(0);
    };
    const firstServer = await dataFolder.start();
    expect(run(commands[0] as string, env)).toBe(outputs[0]);
    await stop(firstServer);
    const server = await dataFolder.start();
    const person = (fullName: string) => ({ customerType: 'INDIVIDUAL', fullName });
    const adaId = (await call(server, 'POST', '/customers', person('Ada Lovelace'))).body.id;
    const bobId = (await call(server, 'POST', '/customers', person('Bob Forgotten'))).body.id;
    expect(run(commands[1] as string, env)).toBe(outputs[1]);
    const lateId = (await call(server, 'POST', '/customers', person('Late Customer'))).body.id;

    await sleep(1_500);
    env.BEFORE = new Date().toISOString();
    await sleep(1_500);
    expect((await call(server, 'DELETE', `/customers/${bobId}`)).status).toBe(200);
    run(`railhead-server customers erase '${bobId}' --yes --reason 'Art. 17'`, env);
    expect((await call(server, 'DELETE', `/customers/${adaId}`)).status).toBe(200);
    await stop(server);

    const printedText = run(commands[2] as string, env);
    expect(printedText).toBe((outputs[2] as string).replace('…', bobId));
    fs.rmSync(dataFolder.dir, { recursive: true });
    fs.renameSync(env.RESTORED as string, dataFolder.dir);
    const startedServer = await dataFolder.start();
    // The file with the secret of the first token is not part of the restored database.
    const { clientId, clientSecret } = server.credentials;
    const credentials = { ...startedServer.credentials, clientId, clientSecret };
    const restoredServer = { ...startedServer, credentials };
    const readCustomer = async (id: string) =>
      (await call(restoredServer, 'GET', `/customers/${id}`)).body;
    expect(await readCustomer(adaId)).toMatchObject({ fullName: 'Ada Lovelace' });
    expect(await readCustomer(lateId)).toMatchObject({ fullName: 'Late Customer' });
    expect(JSON.stringify(await readCustomer(bobId))).not.toContain('Forgotten');
    const erasures = run('railhead-server customers erasures --json', env);
    expect(JSON.parse(erasures)).toMatchObject([{ customerId: bobId, reason: 'Art. 17' }]);
    await stop(restoredServer);
  }, 240_000);
});

const POSTGRES_FOLDER = '/usr/lib/postgresql';
const version = fs.existsSync(POSTGRES_FOLDER)
  ? fs.readdirSync(POSTGRES_FOLDER).sort().at(-1)
  : undefined;
const isReady =
  version !== undefined && programPath('pgbackrest') !== undefined && process.getuid?.() === 0;

describe.skipIf(!isReady)("Debian's PostgreSQL", () => {
  const bin = `${POSTGRES_FOLDER}/${version}/bin`;
  let base: string;
  let cluster: string;
  const asPostgres = (command: string, env: Record<string, string> = {}) => {
    const args = ['--reuid=postgres', '--regid=postgres', '--clear-groups', 'bash', '-c'];
    const options = { cwd: '/', env: { ...process.env, ...env }, encoding: 'utf8' } as const;
    return execFileSync('setpriv', [...args, `set -e\n${command}`], options);
  };
  const configuration = () => path.join(base, 'pgbackrest.conf');

  beforeAll(() => {
    base = fs.mkdtempSync('/tmp/railhead-pgbackrest-');
    cluster = path.join(base, 'cluster');
    fs.chmodSync(base, 0o755);
    execFileSync('chown', ['postgres:postgres', base]);
    fs.writeFileSync(
      configuration(),
      `[global]
repo1-path=${base}/repository
repo1-retention-full=2
start-fast=y
log-path=${base}
lock-path=${base}
[railhead]
pg1-path=${cluster}
pg1-socket-path=${base}
`,
    );
    const push = `pgbackrest --config=${configuration()} --stanza=railhead archive-push %p`;
    asPostgres(`
      ${bin}/initdb -D ${cluster} -U postgres -A trust -E UTF8 --locale=C --no-instructions >/dev/null
      cat >> ${cluster}/postgresql.conf <<END
listen_addresses = ''
unix_socket_directories = '${base}'
archive_mode = on
archive_command = '${push}'
END
      ${bin}/pg_ctl -D ${cluster} -l ${base}/log -w start >/dev/null
      ${bin}/createdb -h ${base} -U postgres railhead`);
  }, 60_000);
  afterAll(() => {
    const isRunning = cluster && fs.existsSync(path.join(cluster, 'postmaster.pid'));
    if (isRunning) asPostgres(`${bin}/pg_ctl -D ${cluster} -m fast -w stop >/dev/null`);
    fs.rmSync(base, { recursive: true, force: true });
  }, 60_000);

  const environment = () => ({
    RAILHEAD_MASTER_KEY: '07'.repeat(32),
    PGBACKREST_CONFIG: configuration(),
    PGBIN: bin,
    DATABASE_URL: `postgresql://postgres@localhost/railhead?host=${encodeURIComponent(base)}`,
  });

  it('is backed up by pgBackRest, and the backup is verified', () => {
    const { DATABASE_URL, ...env } = environment();
    run('railhead-server platform create --name Backed --json', { ...env, DATABASE_URL });
    expect(asPostgres(commands[3] as string, env)).toBe('');
    expect(run(commands[4] as string, env)).toBe(outputs[3]);
    const otherEnv = { ...env, RAILHEAD_MASTER_KEY: '08'.repeat(32) };
    expect(() => run(commands[4] as string, otherEnv)).toThrow(/another master key/);
  }, 180_000);

  it('is restored by pgBackRest to before its tables were dropped', async () => {
    const env = environment();
    run('railhead-server platform create --name Later --json', env);
    await sleep(1_500);
    const BEFORE = new Date().toISOString().replace('T', ' ').replace('Z', '+00');
    await sleep(1_500);
    const dropSql = 'drop schema public cascade; create schema public';
    asPostgres(`${bin}/psql -q -h ${base} -U postgres -c '${dropSql}' railhead 2>/dev/null`);

    asPostgres(`${bin}/pg_ctl -D ${cluster} -m fast -w stop >/dev/null`);
    expect(asPostgres(commands[5] as string, { ...env, BEFORE })).toBe('');
    // The restore command of PostgreSQL reads the configuration that this variable names.
    asPostgres(`${bin}/pg_ctl -D ${cluster} -l ${base}/log -w start >/dev/null`, env);
    const recoveryQuery = `${bin}/psql -h ${base} -U postgres -Atc 'select pg_is_in_recovery()'`;
    await vi.waitFor(() => expect(asPostgres(recoveryQuery).trim()).toBe('f'), 30_000);
    expect(run(commands[6] as string, env)).toBe(outputs[4]);
    const platforms = run('railhead-server platform list', env);
    expect(platforms).toContain('Backed');
    expect(platforms).toContain('Later');
  }, 180_000);
});
