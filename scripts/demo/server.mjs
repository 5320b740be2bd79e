// Chooses the server of the demonstration: a running one, or one that is started for it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { connect } from './api.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const START = path.join(root, 'scripts', 'start.mjs');
const POLL_MS = 50;
/** Timeout for the reply of a running server. */
const REPLY_TIMEOUT_MS = 5_000;
const STOP_TIMEOUT_MS = 15_000;
/** Settings of another server must not apply to this one. */
const SETTING = /^(RAILHEAD_.*|DATABASE_URL|PORT|HOST|LOG_LEVEL|NODE_ENV)$/;

/** `credentials.json` of a data folder, or undefined until it is complete. */
function credentialsIn(dataDir) {
  try {
    return JSON.parse(fs.readFileSync(path.join(dataDir, 'credentials.json'), 'utf8'));
  } catch {
    return undefined;
  }
}

/** Whether the server at `baseUrl` accepts the credentials. */
const isAccepted = (credentials) =>
  connect(credentials, AbortSignal.timeout(REPLY_TIMEOUT_MS))('GET', '/config').then(
    () => true,
    () => false,
  );

const hasExited = (child) => child.exitCode !== null || child.signalCode !== null;

async function stop(child, temporaryFolder) {
  const killTimer = setTimeout(() => child.kill('SIGKILL'), STOP_TIMEOUT_MS);
  if (!hasExited(child)) {
    child.kill('SIGTERM');
    await once(child, 'exit');
  }
  clearTimeout(killTimer);
  fs.rmSync(temporaryFolder, { recursive: true, force: true, maxRetries: 3 });
}

async function startOwnServer(signal) {
  const temporaryFolder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-demo-'));
  const dataDir = path.join(temporaryFolder, 'data');
  // The folder also contains PostgreSQL's socket. A root process runs PostgreSQL as another user, who needs
  // access to the folder.
  fs.chmodSync(temporaryFolder, 0o711);
  const environment = Object.entries(process.env).filter(([name]) => !SETTING.test(name));
  const env = { ...Object.fromEntries(environment), TMPDIR: temporaryFolder };
  const quietFlags = ['--log-level', 'warn', '--sample-customer', 'none'];
  const args = [START, '--port', '0', '--data-dir', dataDir, ...quietFlags];
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'ignore', 'pipe'] });
  let output = '';
  child.stderr.on('data', (chunk) => {
    output += chunk;
  });
  try {
    let credentials;
    while (!credentials) {
      if (hasExited(child)) throw new Error(`The server does not start. ${output.trim()}`);
      await sleep(POLL_MS, undefined, { signal });
      credentials = credentialsIn(dataDir);
    }
    return { isOwn: true, credentials, dataDir, env, stop: () => stop(child, temporaryFolder) };
  } catch (error) {
    await stop(child, temporaryFolder);
    throw error;
  }
}

/** Values of the flags, by their names in credentials.json. */
const credentialsFrom = (flags) =>
  Object.fromEntries(
    [
      ['baseUrl', flags['base-url']],
      ['clientId', flags['client-id']],
      ['clientSecret', flags['client-secret']],
    ].filter(([, text]) => text !== undefined),
  );

/**
 * The server named by the flags, the running one of the data folder, or a new one. `stop` ends a
 * server that was started here and removes its files.
 */
export async function findServer(flags, signal) {
  const folder = flags['data-dir'] ?? process.env.RAILHEAD_DATA_DIR ?? '.railhead';
  const dataDir = path.resolve(root, folder);
  const storedCredentials = credentialsIn(dataDir);
  const credentials = { ...storedCredentials, ...credentialsFrom(flags) };
  const runningServer = {
    isOwn: false,
    credentials,
    dataDir,
    env: process.env,
    stop: async () => {},
  };
  const isNamed = Object.keys(flags).length > 0;
  if (isNamed && !storedCredentials) {
    throw new Error(
      `${dataDir} has no credentials.json. Set the server's data folder with --data-dir.`,
    );
  }
  if (isNamed || (storedCredentials && (await isAccepted(storedCredentials)))) return runningServer;
  return startOwnServer(signal);
}
