// Failures of the parts of a cluster under load. After each failure payments succeed again without
// an action by an operator, and the database matches all replies. With RAILHEAD_TEST_LENGTH=long
// the primary is killed 20 times. RAILHEAD_TEST_LENGTH=short tests two failovers only.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { canOverwriteLeaderKey } from '../kit/cluster/packages.ts';
import { waitUntil } from '../kit/cluster/processes.ts';
import {
  type ClusterUnderLoad,
  outageLines,
  startClusterUnderLoad,
} from '../kit/cluster/under-load.ts';

const LENGTH = process.env.RAILHEAD_TEST_LENGTH;
const isShort = LENGTH === 'short';
const KILL_COUNT = isShort ? 1 : LENGTH === 'long' ? 20 : 4;

describe('a cluster under load', () => {
  let fixture: ClusterUnderLoad;
  let hasFailed = false;

  beforeAll(async () => {
    fixture = await startClusterUnderLoad();
  }, 300_000);

  afterAll(async () => {
    await fixture?.stop();
    for (const line of outageLines()) console.info(line);
  }, 120_000);

  /** After a failure the remaining tests are skipped, because they would report the same failure. */
  beforeEach((context) => context.skip(hasFailed, 'skipped after a failure'));
  afterEach((context) => {
    hasFailed ||= context.task.result?.state === 'fail';
  });

  it(
    `loses no payment when PostgreSQL of the primary is killed ${KILL_COUNT} times`,
    async () => {
      for (let kill = 0; kill < KILL_COUNT; kill++) {
        const primary = await fixture.cluster.leader();
        await fixture.disrupt('kill -9 of PostgreSQL', async () => primary.killPostgres());
        await fixture.cluster.waitUntilHealthy();
      }
      await fixture.audit();
    },
    KILL_COUNT * 90_000 + 60_000,
  );

  it('fails over when the machine of the primary fails', async () => {
    const primary = await fixture.cluster.leader();
    await fixture.disrupt('failure of the machine of the primary', () => primary.kill());
    expect((await fixture.cluster.leader()).name).not.toBe(primary.name);
    primary.start();
    await fixture.cluster.waitUntilHealthy();
    await fixture.audit();
  }, 300_000);

  it.skipIf(isShort)(
    'fails over when the processes of the primary are suspended',
    async () => {
      const primary = await fixture.cluster.leader();
      await fixture.disrupt('SIGSTOP of the primary', async () => primary.freeze());
      expect((await fixture.cluster.leader()).name).not.toBe(primary.name);
      if (canOverwriteLeaderKey()) {
        primary.killPatroni();
        await waitUntil('the exit of Patroni', () => !primary.isRunning());
      }
      primary.unfreeze();
      // A started Patroni reads the leader key before it updates the key.
      primary.start();
      await fixture.cluster.waitUntilHealthy();
      await fixture.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'acknowledges no payment on a primary whose Patroni was killed',
    async () => {
      const primary = await fixture.cluster.leader();
      // PostgreSQL of the primary continues to run, and its connections remain open.
      await fixture.disrupt('kill -9 of Patroni', async () => primary.killPatroni(), 30_000);
      expect((await fixture.cluster.leader()).name).not.toBe(primary.name);
      primary.start();
      await fixture.cluster.waitUntilHealthy();
      await fixture.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues after a planned switchover',
    async () => {
      await fixture.disrupt('planned switchover', () => fixture.cluster.switchover());
      await fixture.cluster.waitUntilHealthy();
      await fixture.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues after the loss of the asynchronous replica, and of the synchronous replica',
    async () => {
      for (const role of ['replica', 'sync_standby'] as const) {
        const killedNode = await fixture.cluster.nodeOf(role);
        await fixture.disrupt(`failure of the ${role}`, () => killedNode.kill(), 20_000);
        killedNode.start();
        await fixture.cluster.waitUntilHealthy();
      }
      await fixture.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues without etcd, and after its restart',
    async () => {
      const { etcd } = fixture.cluster;
      await fixture.disrupt('failure of etcd', () => etcd.kill(), 40_000);
      await fixture.disrupt('restart of etcd', async () => etcd.start(), 20_000);
      await fixture.cluster.waitUntilHealthy();
      await fixture.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues while its servers are killed one after another',
    async () => {
      for (const server of fixture.servers) {
        await fixture.disrupt('kill -9 of a server', () => server.kill(), 4_000);
        await server.start();
        await waitUntil('a ready server', () =>
          fetch(`http://127.0.0.1:${server.port}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        );
        await sleep(1_000);
      }
      await fixture.audit();
    },
    300_000,
  );

  it('preserves all acknowledged payments without duplicates and delivers all events', async () => {
    await fixture.finish();
  }, 600_000);
});
