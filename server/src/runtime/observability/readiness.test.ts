// The probe of `/readyz` on databases that are stopped, full or unreachable.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../../../test/kit/app/database.ts';
import { startEmbedded } from '../postgres/embedded.ts';
import { createReadiness, type Readiness } from './readiness.ts';

const openedProbes: Readiness[] = [];
afterEach(() => {
  for (const each of openedProbes.splice(0)) each.stop();
});

function readinessOf(url: string, overrides: { validMs?: number; hasLane?: () => boolean } = {}) {
  const readiness = createReadiness({ url, hasLane: () => true, validMs: 0, ...overrides });
  openedProbes.push(readiness);
  return readiness;
}

function startedReadinessOf(
  url: string,
  overrides: { validMs?: number; hasLane?: () => boolean } = {},
) {
  const readiness = readinessOf(url, overrides);
  readiness.markStarted();
  return readiness;
}

const query = async (url: string, text: string) => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
};

describe('readiness', () => {
  let database: TestDatabase;
  beforeEach(async () => {
    database = await createTestDatabase();
  });
  afterEach(() => database.drop());

  it('is starting until the start is complete and stopping after stop', async () => {
    const readiness = readinessOf(database.url);
    expect(await readiness.check()).toBe('starting');
    readiness.markStarted();
    expect(await readiness.check()).toBe('ready');
    readiness.stop();
    expect(await readiness.check()).toBe('stopping');
    readiness.markStarted();
    expect(await readiness.check()).toBe('stopping');
  });

  it('probes at most once while a result is valid', async () => {
    const readiness = startedReadinessOf(database.url, { validMs: 500 });
    const probesSql = `select query_start from pg_stat_activity
      where application_name = 'railhead readiness' and datname = current_database()`;
    const responses = await Promise.all(Array.from({ length: 50 }, () => readiness.check()));
    expect(new Set(responses)).toEqual(new Set(['ready']));
    const firstProbe = await query(database.url, probesSql);
    expect(firstProbe).toHaveLength(1);
    await readiness.check();
    expect(await query(database.url, probesSql)).toEqual(firstProbe);
    await sleep(600);
    await readiness.check();
    const secondProbe = await query(database.url, probesSql);
    expect(secondProbe).toHaveLength(1);
    expect(secondProbe).not.toEqual(firstProbe);
  });

  it('needs a connected lane of the committer', async () => {
    expect(await startedReadinessOf(database.url, { hasLane: () => false }).check()).not.toBe(
      'ready',
    );
  });

  it('reports an unreachable database, and reconnects after a lost connection', async () => {
    const unreachableUrl = new URL(database.url);
    unreachableUrl.port = '1';
    unreachableUrl.searchParams.delete('host');
    expect(await startedReadinessOf(unreachableUrl.href).check()).toBe('database unreachable');
    const readiness = startedReadinessOf(database.url);
    expect(await readiness.check()).toBe('ready');
    await query(
      database.url,
      `select pg_terminate_backend(pid) from pg_stat_activity
       where application_name = 'railhead readiness' and datname = current_database()`,
    );
    await sleep(50);
    expect(await readiness.check()).toBe('ready');
  });
});

/** Runs `work` with a separate PostgreSQL server in `dir`. */
async function withCluster(dir: string, work: (url: string, pid: number) => Promise<void>) {
  const cluster = await startEmbedded({ dir, durable: false });
  try {
    await work(cluster.url, cluster.pid);
  } finally {
    await cluster.stop();
  }
}

/** All processes of a PostgreSQL server. If only the postmaster is stopped, its backends still respond. */
const processesOf = (pid: number) => [
  pid,
  ...execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .flatMap(([child, parent]) => (parent === pid && child ? [child] : [])),
];

describe('a database', () => {
  let dir: string;
  beforeEach(() => {
    dir = fs.mkdtempSync(path.join(os.tmpdir(), 'readiness-'));
  });
  afterEach(() => fs.rmSync(dir, { recursive: true, force: true }));

  it('without a response is reported as unreachable within seconds', async () => {
    await withCluster(dir, async (url, pid) => {
      const readiness = startedReadinessOf(url);
      expect(await readiness.check()).toBe('ready');
      const stoppedPids = processesOf(pid);
      for (const each of stoppedPids) process.kill(each, 'SIGSTOP');
      const startMs = performance.now();
      try {
        expect(await readiness.check()).toBe('database unreachable');
        expect(await readiness.check()).toBe('database unreachable');
      } finally {
        for (const each of stoppedPids) process.kill(each, 'SIGCONT');
      }
      expect(performance.now() - startMs).toBeLessThan(5_000);
      expect(await readiness.check()).toBe('ready');
    });
  }, 30_000);

  // Mounting requires root. Without root, the disk of this test cannot be filled.
  it.runIf(process.platform === 'linux' && process.getuid?.() === 0)(
    'on a full disk is reported as not ready until space is available',
    async () => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=200m', 'tmpfs', dir]);
      try {
        await withCluster(path.join(dir, 'data'), async (url) => {
          const readiness = startedReadinessOf(url);
          expect(await readiness.check()).toBe('ready');
          const fillDescriptor = fs.openSync(path.join(dir, 'ballast'), 'w');
          expect(() => {
            for (;;) fs.writeSync(fillDescriptor, Buffer.alloc(65_536));
          }).toThrow('ENOSPC');
          expect(await readiness.check()).toBe('disk full');
          fs.ftruncateSync(fillDescriptor);
          fs.closeSync(fillDescriptor);
          expect(await readiness.check()).toBe('ready');
        });
      } finally {
        execFileSync('umount', ['-l', dir]);
      }
    },
    30_000,
  );
});
