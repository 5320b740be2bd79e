// A temporary PostgreSQL of a version other than the embedded one, for all tests of a run.
// RAILHEAD_TEST_POSTGRES is the folder with its programs, such as /usr/lib/postgresql/15/bin.
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

/** PostgreSQL does not run as root. */
const UNPRIVILEGED_USER = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
const START_MS = 30_000;

const SETTINGS = [
  ...['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300'],
  ...['listen_addresses=127.0.0.1', 'unix_socket_directories=', 'timezone=UTC'],
  ...['wal_level=minimal', 'max_wal_senders=0', 'deadlock_timeout=200ms'],
];

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isResponding(url: string): Promise<boolean> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}

/** Starts the PostgreSQL of `binaries` in an empty folder. */
export async function startOtherPostgres(binaries: string, folder: string) {
  const data = path.join(folder, 'data');
  fs.mkdirSync(data);
  if (UNPRIVILEGED_USER.uid !== undefined) {
    for (const directory of [folder, data])
      fs.chownSync(directory, UNPRIVILEGED_USER.uid, UNPRIVILEGED_USER.gid);
  }
  const options = {
    ...UNPRIVILEGED_USER,
    cwd: folder,
    env: { PATH: '/usr/bin:/bin', LC_ALL: 'C' },
  };
  const initdbArguments = ['-D', data, '-U', 'railhead', '-A', 'trust', '-E', 'UTF8', '--no-sync'];
  const { status, stderr } = spawnSync(path.join(binaries, 'initdb'), initdbArguments, {
    ...options,
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`initdb: ${stderr}`);
  const port = await freePort();
  const flags = [`port=${port}`, ...SETTINGS].flatMap((setting) => ['-c', setting]);
  const server = spawn(path.join(binaries, 'postgres'), ['-D', data, ...flags], {
    ...options,
    stdio: 'ignore',
    detached: true,
  });
  const url = `postgresql://railhead@127.0.0.1:${port}/postgres`;
  // Stops the server also when the run is interrupted.
  process.once('exit', () => server.kill('SIGINT'));
  for (let waitedMs = 0; !(await isResponding(url)); waitedMs += 50) {
    if (server.exitCode !== null || waitedMs > START_MS)
      throw new Error(`PostgreSQL in ${binaries} exited or is not ready after ${START_MS} ms`);
    await sleep(50);
  }
  return {
    url,
    async stop() {
      const whenExited = once(server, 'exit');
      server.kill('SIGINT');
      await whenExited;
    },
  };
}
