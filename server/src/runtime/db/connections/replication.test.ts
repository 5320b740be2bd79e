// Synchronous replication without a replica. Commits wait, and rows that only the primary has are never
// acknowledged.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { thingRow, things } from '../../../../test/kit/app/sample-tables.ts';
import { scratchFolder } from '../../../../test/kit/app/scratch.ts';
import { emptyChangeSet } from '../../committer/change-set.ts';
import { createCommitter } from '../../committer/committer.ts';
import { createReadiness } from '../../observability/readiness.ts';
import { type Embedded, startEmbedded } from '../../postgres/embedded.ts';
import { openDatabase } from '../database.ts';
import { connectLane, isConnectionError } from '../lane.ts';
import { connectDatabase } from './connect.ts';

const WAIT = { timeout: 15_000, interval: 20 };

describe('a primary whose commits no replica confirms', () => {
  let dir: string;
  let server: Embedded;
  let admin: pg.Client;

  const query = async (text: string) => (await admin.query(text)).rows;

  /** Backends that wait for a replica. */
  const readWaitingBackends = async () =>
    (await query(`select pid from pg_stat_activity where wait_event = 'SyncRep'`)).map(
      ({ pid }) => pid as number,
    );

  async function setReplicas(names: string): Promise<void> {
    await query(`alter system set synchronous_standby_names = '${names}'`);
    await query('select pg_reload_conf()');
    await vi.waitUntil(
      async () =>
        (await query('show synchronous_standby_names'))[0]?.synchronous_standby_names === names,
      WAIT,
    );
    await sleep(50);
  }

  /** Cancels the waits, which an operator can do as well. */
  async function cancelAll(): Promise<void> {
    await vi.waitUntil(async () => (await readWaitingBackends()).length > 0, WAIT);
    for (const pid of await readWaitingBackends()) await query(`select pg_cancel_backend(${pid})`);
  }

  const readIds = async () =>
    (await query('select id from things order by id')).map(({ id }) => id);

  beforeAll(async () => {
    dir = fs.mkdtempSync(path.join(scratchFolder(), 'unconfirmed-'));
    server = await startEmbedded({ dir });
    admin = new pg.Client({ connectionString: server.url });
    await admin.connect();
    // The connection of the test never waits.
    await query('set synchronous_commit = local');
    await query(`create table things (id text primary key, name text, rank integer not null,
      amount bigint not null, flag boolean not null, note json, raw bytea,
      created_at timestamptz not null, version integer not null)`);
  }, 60_000);

  beforeEach(() => query('truncate things'));
  afterEach(async () => {
    await setReplicas('');
    await vi.waitUntil(async () => (await readWaitingBackends()).length === 0, WAIT);
  });

  afterAll(async () => {
    await admin?.end();
    await server?.stop();
    fs.rmSync(dir, { recursive: true, force: true });
  });

  const committerOf = (timeoutMs = 20_000) =>
    createCommitter({
      connect: () => connectLane(server.url, { statementTimeoutMs: 300 }),
      ...{ lanes: 1, timeoutMs, maxDownMs: 1_000 },
    });

  const insertion = (id: string) => ({
    ...emptyChangeSet(),
    inserts: [{ table: things, row: thingRow(id) }],
  });

  it('returns no outcome while the commit waits beyond the statement timeout', async () => {
    const committer = committerOf();
    await committer.commit(insertion('before'));
    await setReplicas('*');
    let outcome: unknown;
    const commit = committer.commit(insertion('waits')).then((result) => {
      outcome = result;
    });
    await vi.waitUntil(async () => (await readWaitingBackends()).length === 1, WAIT);
    await sleep(1_000);
    expect(outcome).toBeUndefined();
    expect(await readIds()).toEqual(['before']);
    await setReplicas('');
    await commit;
    expect(outcome).toEqual({ ok: true });
    await committer.close();
  });

  it('returns an unknown outcome of a canceled wait, and the primary has the row', async () => {
    const committer = committerOf();
    await committer.commit(insertion('before'));
    await setReplicas('*');
    const commit = committer.commit(insertion('canceled'));
    const failure = expect(commit).rejects.toSatisfy(isConnectionError);
    await cancelAll();
    await failure;
    expect(await readIds()).toEqual(['before', 'canceled']);
    // The lane does not connect before a replica has the row.
    await expect(committer.commit(insertion('later'))).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
    });
    expect(await readIds()).toEqual(['before', 'canceled']);
    await setReplicas('');
    await vi.waitUntil(() => committer.stats().lanes === 1, WAIT);
    expect(await committer.commit(insertion('later'))).toEqual({ ok: true });
    await committer.close();
  }, 30_000);

  it('returns an unknown outcome if the backend is terminated or does not respond', async () => {
    for (const terminationFunction of ['pg_terminate_backend', undefined]) {
      const committer = committerOf(terminationFunction ? 20_000 : 1_000);
      await committer.commit(insertion(`before ${terminationFunction}`));
      await setReplicas('*');
      const failure = expect(
        committer.commit(insertion(`after ${terminationFunction}`)),
      ).rejects.toSatisfy(isConnectionError);
      await vi.waitUntil(async () => (await readWaitingBackends()).length > 0, WAIT);
      if (terminationFunction)
        for (const pid of await readWaitingBackends())
          await query(`select ${terminationFunction}(${pid})`);
      await failure;
      await setReplicas('');
      await committer.close();
    }
  }, 30_000);

  it('fails a statement of the pool whose wait is canceled', async () => {
    const db = openDatabase({ url: server.url });
    await db.ping();
    await setReplicas('*');
    const insertResult = db.query(
      `insert into things values ('p', null, 0, 0, false, null, null,
      '2026-01-01', 1) returning $1::text`,
      ['x'],
    );
    const failure = expect(insertResult).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await cancelAll();
    await failure;
    await setReplicas('');
    // The next statement uses another connection.
    expect(await db.query('select id from things where id = $1', ['p'])).toEqual([{ id: 'p' }]);
    await db.close();
  }, 30_000);

  it('confirms read rows only after a replica has them', async () => {
    const db = openDatabase({ url: server.url });
    await db.confirm();
    await setReplicas('*');
    const confirmation = db.confirm();
    const firstResult = await Promise.race([
      confirmation.then(() => 'confirmed'),
      sleep(500, 'waits'),
    ]);
    expect(firstResult).toBe('waits');
    await setReplicas('');
    await confirmation;
    await db.close();
  }, 30_000);

  it('is rejected by new connections without a remaining backend', async () => {
    await setReplicas('*');
    const failure = connectDatabase(server.url, { name: 'test' });
    await expect(failure).rejects.toThrow('no replica has confirmed a commit');
    await vi.waitUntil(async () => (await readWaitingBackends()).length === 0, WAIT);
  }, 30_000);

  it('is reported as not ready by probes without a remaining backend', async () => {
    const readiness = createReadiness({ url: server.url, hasLane: () => true, validMs: 0 });
    readiness.markStarted();
    expect(await readiness.check()).toBe('ready');
    await setReplicas('*');
    for (let probe = 0; probe < 3; probe++)
      expect(await readiness.check()).toBe('database cannot commit');
    await vi.waitUntil(async () => (await readWaitingBackends()).length === 0, WAIT);
    await setReplicas('');
    expect(await readiness.check()).toBe('ready');
    readiness.stop();
  }, 30_000);

  it('waits even if the database is configured not to wait', async () => {
    await query(`alter database postgres set synchronous_commit = off`);
    const client = await connectDatabase(server.url, { name: 'test' });
    expect((await client.query('show synchronous_commit')).rows).toEqual([
      { synchronous_commit: 'on' },
    ]);
    await client.end();
    await query('alter database postgres reset synchronous_commit');
  });
});
