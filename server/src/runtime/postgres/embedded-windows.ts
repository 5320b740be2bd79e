// The embedded PostgreSQL on Windows, which has no shell as a guard and no Unix sockets for the client.
// PostgreSQL uses a free loopback port and a password in the data folder. `pg_ctl` starts it, because
// `pg_ctl` drops administrator rights, which PostgreSQL rejects. A Node process is the guard.
import { type ChildProcess, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { unavailable } from './embedded-binaries.ts';
import { PASSWORD_FILE } from './embedded-pid.ts';

// The standard input of the guard ends when this process ends for any reason.
const GUARD = `
const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const [controlProgram, data, log, options] = process.argv.slice(1);
const run = (...args) => spawnSync(controlProgram, args, { stdio: 'ignore', windowsHide: true }).status;
if (run('start', '-w', '-t', '600', '-D', data, '-l', log, '-o', options) !== 0) {
  process.stderr.write(fs.existsSync(log) ? fs.readFileSync(log, 'utf8') : 'FATAL:  pg_ctl failed\\n');
  process.exit(1);
}
const pid = parseInt(fs.readFileSync(data + '/postmaster.pid', 'utf8'), 10);
process.stderr.write('ready to accept connections\\n');
const stop = () => process.exit(run('stop', '-m', 'fast', '-w', '-D', data));
process.stdin.on('end', stop).on('error', stop).resume();
setInterval(() => {
  try { process.kill(pid, 0); } catch { process.exit(1); }
}, 500);
`;

function findFreePort(): Promise<number> {
  const server = net.createServer();
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/**
 * Creates the password file if it is missing, and returns the arguments of `initdb`. A password is required,
 * because any process of the machine can reach a loopback port.
 */
export function passwordArguments(dir: string, random?: (bytes: number) => Uint8Array): string[] {
  const file = path.join(dir, PASSWORD_FILE);
  if (!fs.existsSync(file)) {
    if (!random) throw unavailable('The embedded PostgreSQL needs randomness for its password.');
    fs.writeFileSync(file, Buffer.from(random(24)).toString('hex'), { mode: 0o600 });
  }
  return ['-A', 'scram-sha-256', `--pwfile=${file}`];
}

/**
 * Starts PostgreSQL and its guard. The guard prints "ready to accept connections" on standard
 * error.
 */
export async function startOnWindows(
  { binaries, cluster }: { binaries: string; cluster: string },
  flags: string[],
): Promise<ChildProcess> {
  const controlProgram = path.join(
    binaries,
    'bin',
    process.platform === 'win32' ? 'pg_ctl.exe' : 'pg_ctl',
  );
  const options = ['-p', `${await findFreePort()}`, '-c', 'listen_addresses=127.0.0.1', ...flags];
  options.push('-c', 'unix_socket_directories=');
  const log = path.join(path.dirname(cluster), 'postgres.log');
  fs.rmSync(log, { force: true });
  return spawn(process.execPath, ['-e', GUARD, controlProgram, cluster, log, options.join(' ')], {
    stdio: ['pipe', 'ignore', 'pipe'],
    detached: true,
    windowsHide: true,
  });
}
