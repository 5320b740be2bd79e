// A cluster under load whose parts fail. After each failure payments succeed again without any action of
// an operator, and the database matches every reply. RAILHEAD_TEST_LENGTH=long kills the primary 20
// times; RAILHEAD_TEST_LENGTH=short makes two failovers and nothing else.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../kit/cluster/processes.ts';
import {
  type ClusterUnderLoad,
  outageLines,
  startClusterUnderLoad,
} from '../kit/cluster/under-load.ts';

const LENGTH = process.env.RAILHEAD_TEST_LENGTH;
const isShort = LENGTH === 'short';
const KILLS = isShort ? 1 : LENGTH === 'long' ? 20 : 4;

describe('a cluster under load', () => {
  let world: ClusterUnderLoad;
  let failed = false;

  beforeAll(async () => {
    world = await startClusterUnderLoad();
  }, 300_000);

  afterAll(async () => {
    await world?.stop();
    for (const line of outageLines()) console.info(line);
  }, 120_000);

  /** Further tests would only repeat the first failure. */
  beforeEach((context) => context.skip(failed, 'skipped after a failure'));
  afterEach((context) => {
    failed ||= context.task.result?.state === 'fail';
  });

  it(
    `loses nothing when PostgreSQL of the primary is killed, ${KILLS} times`,
    async () => {
      for (let kill = 0; kill < KILLS; kill++) {
        const primary = await world.cluster.leader();
        await world.disturb('kill -9 of PostgreSQL', async () => primary.killPostgres());
        await world.cluster.settled();
      }
      await world.audit();
    },
    KILLS * 90_000 + 60_000,
  );

  it('fails over when the machine of the primary is lost', async () => {
    const primary = await world.cluster.leader();
    await world.disturb('the machine of the primary lost', () => primary.kill());
    expect((await world.cluster.leader()).name).not.toBe(primary.name);
    primary.start();
    await world.cluster.settled();
    await world.audit();
  }, 300_000);

  it.skipIf(isShort)(
    'fails over when the primary is frozen, which then answers nothing',
    async () => {
      const primary = await world.cluster.leader();
      await world.disturb('SIGSTOP of the primary', async () => primary.freeze());
      expect((await world.cluster.leader()).name).not.toBe(primary.name);
      primary.thaw();
      await world.cluster.settled();
      await world.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'acknowledges nothing on a primary whose Patroni was killed',
    async () => {
      const primary = await world.cluster.leader();
      // Its PostgreSQL continues to run, and its connections are open.
      await world.disturb('kill -9 of Patroni', async () => primary.killPatroni(), 30_000);
      expect((await world.cluster.leader()).name).not.toBe(primary.name);
      primary.start();
      await world.cluster.settled();
      await world.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'pauses for a planned switchover',
    async () => {
      await world.disturb('planned switchover', () => world.cluster.switchover());
      await world.cluster.settled();
      await world.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues without a replica, and without the synchronous one',
    async () => {
      for (const role of ['replica', 'sync_standby'] as const) {
        const lost = await world.cluster.nodeOf(role);
        await world.disturb(`${role} lost`, () => lost.kill(), 20_000);
        lost.start();
        await world.cluster.settled();
      }
      await world.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues without etcd, and after its return',
    async () => {
      const { etcd } = world.cluster;
      await world.disturb('etcd lost', () => etcd.kill(), 40_000);
      await world.disturb('etcd back', async () => etcd.start(), 20_000);
      await world.cluster.settled();
      await world.audit();
    },
    300_000,
  );

  it.skipIf(isShort)(
    'continues while its servers are killed in turn',
    async () => {
      for (const server of world.servers) {
        await world.disturb('kill -9 of a server', () => server.kill(), 4_000);
        await server.start();
        await until('a ready server', () =>
          fetch(`http://127.0.0.1:${server.port}/readyz`).then(
            ({ ok }) => ok,
            () => false,
          ),
        );
        await sleep(1_000);
      }
      await world.audit();
    },
    300_000,
  );

  it('has acknowledged nothing that is lost or doubled, and delivers every event', async () => {
    await world.finish();
  }, 600_000);
});
