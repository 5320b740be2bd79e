// Start, restart after a kill, replacement without failed requests, and stop of several server
// processes of one supervisor.
import fs from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';

const WAIT = { timeout: 30_000, interval: 50 };
const PROCESSES = 2;

let dataFolder: DataFolder;
let server: Running;

beforeAll(async () => {
  dataFolder = createDataFolder('several');
  server = await dataFolder.start(['--processes', String(PROCESSES)], { RAILHEAD_RATE_LIMIT: '0' });
}, 90_000);

afterAll(() => dataFolder.remove(), 60_000);

/** IDs of the server processes, which are children of the supervisor. */
function readPids(): number[] {
  const parent = server.child.pid;
  return fs
    .readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .trim()
    .split(' ')
    .map(Number)
    .filter((pid) => readCommandLine(pid).includes('start.mjs'));
}

/** Empty if the process has exited since its ID was read. */
function readCommandLine(pid: number): string {
  try {
    return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ESRCH'].includes((error as NodeJS.ErrnoException).code ?? '')) return '';
    throw error;
  }
}

async function get(path: string): Promise<number> {
  const { baseUrl, clientId, clientSecret } = server.credentials;
  const encodedCredentials = Buffer.from(`${clientId}:${clientSecret}`).toString('base64');
  const reply = await fetch(`${baseUrl}${path}`, {
    headers: { authorization: `Basic ${encodedCredentials}` },
  });
  await reply.text();
  return reply.status;
}

/**
 * Sends requests on keep-alive connections. Returns a function that stops them and returns the
 * number of each status and failure.
 */
function sendSteadily(clients: number) {
  const results = new Map<string, number>();
  let isRunning = true;
  const runClient = async () => {
    while (isRunning) {
      const result = await get('/config').then(String, (error) => String(error.cause ?? error));
      results.set(result, (results.get(result) ?? 0) + 1);
      // The pause leaves processor time to the new processes.
      await sleep(5);
    }
  };
  const whenStopped = Promise.all(Array.from({ length: clients }, runClient));
  return async () => {
    isRunning = false;
    await whenStopped;
    return Object.fromEntries(results);
  };
}

describe.skipIf(process.platform !== 'linux')('several processes', () => {
  it('are started by a supervisor that prints the credentials once', async () => {
    expect(readPids()).toHaveLength(PROCESSES);
    const { err } = dataFolder.outputOf(server.child);
    expect(err.match(/Client secret/g)).toHaveLength(1);
    expect(err).toContain(`  Processes      ${PROCESSES}\n`);
    expect(await get('/config')).toBe(200);
  });

  it('return the metrics of all processes as one text', async () => {
    const text = await (await fetch(`${server.origin}/metrics`)).text();
    for (const number of [1, 2]) {
      expect(text).toContain(`railhead_role{role="api",process="${number}"} 1\n`);
    }
    expect(text.match(/^# TYPE railhead_role gauge$/gm)).toHaveLength(1);
  });

  it('are replaced one after the other on SIGHUP without a failed request', async () => {
    const pidsBefore = readPids();
    const stop = sendSteadily(8);
    server.child.kill('SIGHUP');
    await vi.waitUntil(
      () => readPids().length === 2 && readPids().every((pid) => !pidsBefore.includes(pid)),
      {
        ...WAIT,
        timeout: 80_000,
      },
    );
    await sleep(200);
    const results = await stop();
    expect(Object.keys(results)).toEqual(['200']);
  }, 90_000);

  it('are started again when they exit', async () => {
    const [killedPid] = readPids();
    process.kill(killedPid as number, 'SIGKILL');
    await vi.waitUntil(
      () => readPids().length === 2 && !readPids().includes(killedPid as number),
      WAIT,
    );
    await vi.waitUntil(async () => (await get('/config').catch(() => 0)) === 200, WAIT);
  }, 60_000);

  it('stop together, and no process remains', async () => {
    server.child.kill('SIGTERM');
    expect(await dataFolder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
    expect(await dataFolder.remainingProcesses()).toEqual([]);
  }, 60_000);
});

describe('roles', () => {
  it('without api serve health and metrics only', async () => {
    const folder = createDataFolder('roles');
    try {
      const flags = ['--roles', 'jobs,deliver', '--public-url', 'http://localhost:4000'];
      const child = folder.launch(flags);
      await vi.waitUntil(() => folder.outputOf(child).err.includes('Readiness'), WAIT);
      const [, origin] = /Readiness +(\S+)\/readyz/.exec(folder.outputOf(child).err) ?? [];
      const statusOf = async (path: string) => (await fetch(`${origin}${path}`)).status;
      expect(await Promise.all(['/healthz', '/readyz', '/metrics'].map(statusOf))).toEqual([
        ...[200, 200, 200],
      ]);
      expect(await Promise.all(['/2025-10-13/config', '/docs'].map(statusOf))).toEqual([404, 404]);
      const text = await (await fetch(`${origin}/metrics`)).text();
      expect(text).toContain('railhead_role{role="api"} 0\n');
      expect(text).toContain('railhead_role{role="jobs"} 1\n');
      child.kill('SIGTERM');
      expect(await folder.waitForExit(child)).toMatchObject({ code: 0 });
    } finally {
      await folder.remove();
    }
  }, 60_000);
});
