// A full disk of the primary. The data folder of the primary is a small temporary file system. The
// mount of this file system requires root.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { waitUntil } from '../kit/cluster/processes.ts';
import {
  type ClusterUnderLoad,
  outageLines,
  startClusterUnderLoad,
} from '../kit/cluster/under-load.ts';

const SIZE = '400m';
const CHUNK = Buffer.alloc(1024 * 1024);

/** Writes until the file system is full. */
function fill(file: string): void {
  const handle = fs.openSync(file, 'a');
  try {
    for (;;) fs.writeSync(handle, CHUNK);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    fs.closeSync(handle);
  }
}

describe('a full disk', () => {
  const mountPoint = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-disk-'));
  const fillFile = path.join(mountPoint, 'filler');
  let fixture: ClusterUnderLoad | undefined;

  beforeAll(async () => {
    fs.chmodSync(mountPoint, 0o755);
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${SIZE},mode=755`, 'tmpfs', mountPoint]);
    // The first node becomes the primary.
    fixture = await startClusterUnderLoad({ dataFolders: { 0: path.join(mountPoint, 'node1') } });
  }, 300_000);

  afterAll(async () => {
    await fixture?.stop();
    execFileSync('umount', [mountPoint]);
    fs.rmdirSync(mountPoint);
    for (const line of outageLines()) console.info(line);
  }, 120_000);

  it('of the primary stops payments until space is released', async () => {
    const { cluster, servers, disrupt, audit } = fixture as ClusterUnderLoad;
    const primary = await cluster.leader();
    expect(primary.name).toBe('node1');
    fill(fillFile);
    const readReadiness = () =>
      Promise.all(servers.map(({ port }) => fetch(`http://127.0.0.1:${port}/readyz`)));
    await waitUntil('servers that are not ready', async () =>
      (await readReadiness()).every(({ ok }) => !ok),
    );
    // Patroni does not change the primary, because PostgreSQL runs although its writes fail.
    await disrupt('release of space on a full disk', async () => fs.rmSync(fillFile), 15_000);
    await cluster.waitUntilHealthy();
    await audit();
  }, 400_000);

  it('causes no loss of payments or events', async () => {
    await (fixture as ClusterUnderLoad).finish();
  }, 600_000);
});
