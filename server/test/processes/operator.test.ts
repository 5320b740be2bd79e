// The operator's command as a process with a running server on the embedded database, and without
// a server.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';

const root = projectRoot();
const START_MS = 90_000;

let dataDir: string;
let server: ChildProcess;
let output = '';

interface RunResult {
  code: number;
  out: string;
  err: string;
}

const environment = () => ({
  PATH: process.env.PATH,
  HOME: process.env.HOME,
  RAILHEAD_DATA_DIR: dataDir,
});

const run = (...argv: string[]): Promise<RunResult> =>
  new Promise((resolve) => {
    const file = path.join(root, 'server', 'bin', 'railhead-server.js');
    execFile(
      process.execPath,
      [file, ...argv],
      { cwd: os.tmpdir(), env: environment() },
      (error, stdout, err) => resolve({ code: error ? Number(error.code) : 0, out: stdout, err }),
    );
  });

// biome-ignore lint/suspicious/noExplicitAny: the tests check the fields of a reply that they read.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

const credentialsFile = () => path.join(dataDir, 'credentials.json');

/** Content of the credentials file, or undefined while the file is incomplete. */
function readCredentials():
  | (Credentials & { baseUrl: string; webhookPublicKey: string })
  | undefined {
  try {
    return JSON.parse(fs.readFileSync(credentialsFile(), 'utf8'));
  } catch {
    return undefined;
  }
}

interface Credentials {
  clientId: string;
  clientSecret: string;
}

async function waitUntil<T>(condition: string, read: () => T | undefined | Promise<T | undefined>) {
  for (let attempts = START_MS / 50; attempts > 0; attempts--) {
    const result = await read();
    if (result !== undefined) return result;
    await sleep(50);
  }
  throw new Error(`${condition} did not appear: ${output}`);
}

let baseUrl = '';

async function call(platform: Credentials, method: string, path: string, body?: unknown) {
  const encodedCredentials = Buffer.from(`${platform.clientId}:${platform.clientSecret}`).toString(
    'base64',
  );
  const reply = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { authorization: `Basic ${encodedCredentials}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  // biome-ignore lint/suspicious/noExplicitAny: the tests check the fields that they read.
  return { status: reply.status, body: (await reply.json()) as any };
}

async function endServer(): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const whenExited = new Promise((resolve) => server.once('exit', resolve));
  server.kill('SIGTERM');
  await whenExited;
}

beforeAll(async () => {
  dataDir = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-operator-'));
  server = spawn(process.execPath, [path.join(root, 'scripts', 'start.mjs'), '--port', '0'], {
    env: { ...environment(), LOG_LEVEL: 'warn' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [server.stdout, server.stderr]) {
    stream?.on('data', (chunk: Buffer) => {
      output += chunk.toString();
    });
  }
  baseUrl = await waitUntil('the credentials', () => readCredentials()?.baseUrl);
}, START_MS);

afterAll(async () => {
  await endServer();
  fs.rmSync(dataDir, { recursive: true, force: true });
}, 60_000);

describe('railhead-server', () => {
  it('creates a platform that the running server serves immediately', async () => {
    const createdPlatform = await runJson(
      'platform',
      'create',
      '--name',
      'Second',
      '--unregulated',
    );
    const { status, body } = await call(createdPlatform, 'GET', '/config');
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: createdPlatform.platformId,
      isRegulatedFinancialInstitution: false,
    });
    expect(createdPlatform.webhookPublicKey).toBe(readCredentials()?.webhookPublicKey);
    expect(await runJson('platform', 'list')).toMatchObject([
      { name: 'Sandbox' },
      { name: 'Second', platformId: createdPlatform.platformId },
    ]);
  }, 60_000);

  it('creates tokens and revokes them while in use', async () => {
    const { platformId } = await runJson('platform', 'create', '--name', 'Tokens');
    const token = await runJson(
      'token',
      'create',
      '--platform',
      platformId,
      '--permissions',
      'VIEW',
    );
    expect((await call(token, 'GET', '/config')).status).toBe(200);
    expect((await call(token, 'PATCH', '/config', {})).status).toBe(403);
    await runJson('token', 'revoke', token.tokenId);
    await waitUntil('the rejection', async () =>
      (await call(token, 'GET', '/config')).status === 401 ? true : undefined,
    );
  }, 60_000);

  it('adds a currency, and the server opens the accounts of customers', async () => {
    const createdPlatform = await runJson(
      'platform',
      'create',
      '--name',
      'Currencies',
      '--currencies',
      'USD',
    );
    const customer = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
    const { body } = await call(createdPlatform, 'POST', '/customers', customer);
    await runJson('platform', 'set', createdPlatform.platformId, '--currencies', 'USD,CAD');
    const path = `/customers/internal-accounts?customerId=${body.id}&currency=CAD`;
    await waitUntil('the account', async () => {
      const reply = await call(createdPlatform, 'GET', path);
      return reply.body.data?.[0]?.status === 'ACTIVE' ? true : undefined;
    });
  }, 60_000);

  it('verifies the ledger of the running server', async () => {
    const { code, out } = await run('ledger', 'verify');
    expect(out).toContain('The books balance.');
    expect(code).toBe(0);
  }, 60_000);

  it('exits with 2 for invalid usage and 1 for an unknown ID', async () => {
    const invalidRun = await run('platform', 'create', '--json');
    expect([invalidRun.code, invalidRun.out]).toEqual([2, '']);
    expect(invalidRun.err).toMatch(
      /^--name NAME is required\nUsage: railhead-server platform create /,
    );
    const unknownRun = await run('platform', 'show', 'x');
    expect(unknownRun).toEqual({ code: 1, out: '', err: 'Platform not found.\n' });
  }, 60_000);

  it('works without a server, and no process remains', async () => {
    await endServer();
    expect((await runJson('platform', 'list')).length).toBeGreaterThanOrEqual(1);
    expect(fs.existsSync(path.join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
  }, 60_000);
});
