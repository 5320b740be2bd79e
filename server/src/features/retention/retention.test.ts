// Retention over weeks of simulated payments: removed partitions, archives after failed writes, and
// erasures in archives.
import { readdirSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import {
  createCustomer,
  createExternalAccount,
  createFundedCustomer,
  ok,
  quoteBody,
} from '../../../test/kit/app/fixtures.ts';
import type { TestApp } from '../../../test/kit/app/harness.ts';
import { testAppForEach } from '../../../test/kit/app/test-app.ts';
import { erase } from '../../../test/kit/customers/erasure.ts';
import { startReceiver } from '../../../test/kit/http/webhook-receiver.ts';
import { lengthOf } from '../../../test/kit/length.ts';
import { folderStorage } from '../../connectors/folder/storage.ts';
import type { StoragePort } from '../../kernel/contract/upload.ts';
import { listPartitions } from '../../runtime/db/partitions/partitions.ts';
import { eventContext } from '../../runtime/operation/event-data.ts';
import { applyRetention } from './apply.ts';
import { archiveText } from './archive.ts';
import type { RetentionDeps } from './deps.ts';
import { DEFAULT_RETENTION } from './histories.ts';
import { retentionOverview } from './show.ts';

const DAY_MS = 86_400_000;
const WEEK_MS = 7 * DAY_MS;

const app = testAppForEach();

const depsOf = (storage: StoragePort = folderStorage(app.filesFolder)): RetentionDeps => ({
  ...{ runtime: app.runtime, storage, databaseUrl: app.databaseUrl },
  settings: DEFAULT_RETENTION,
});

type Json = Record<string, unknown>;

/** All lines of the archives of a table. */
async function readArchivedRows(history: string): Promise<Json[]> {
  const lines: Json[] = [];
  for (const { id, history: historyOfArchive } of (await retentionOverview(depsOf())).archives) {
    if (historyOfArchive !== history) continue;
    let text = '';
    for await (const part of await archiveText(depsOf(), id)) text += part;
    lines.push(
      ...text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as Json),
    );
  }
  return lines;
}

const idsOf = async (table: string, column: string) => {
  const rows = await app.runtime.db.query<{ id: string }>(`select ${column} as id from ${table}`);
  return rows.map(({ id }) => id);
};

async function createPayer(testedApp: TestApp) {
  const { person, account } = await createFundedCustomer(testedApp);
  const payee = await createExternalAccount(testedApp, person.id, 'USD');
  return {
    person,
    async pay() {
      const quote = ok(
        await testedApp.call('POST', '/quotes', quoteBody(account.id, payee.id, 100)),
        201,
      );
      ok(await testedApp.call('POST', `/quotes/${quote.id}/execute`), 200);
      await testedApp.settle();
    },
  };
}

/** Changes only the clock, so that no jobs run in between. */
const setClockForward = (ms: number) => app.effects.set(app.effects.now() + ms);

describe('retention over weeks of payments', () => {
  it('keeps the rows of the retention period and stores every older row in one archive', async () => {
    const receiver = await startReceiver();
    ok(await app.call('PATCH', '/config', { webhookEndpoint: receiver.url }), 200);
    const { pay } = await createPayer(app);
    const eventIds = new Set<string>();
    const attemptKeys = new Set<string>();
    const requestIds = new Set<string>();
    const attemptKeySql = "event_id || '/' || attempt";
    const weekCount = lengthOf(6, 30);
    for (let week = 0; week < weekCount; week++) {
      for (let day = 0; day < lengthOf(2, 7); day++) {
        await pay();
        for (const id of await idsOf('events', 'id')) eventIds.add(id);
        for (const id of await idsOf('webhook_attempts', attemptKeySql)) attemptKeys.add(id);
        const page = ok(await app.call('GET', '/requests?limit=100'), 200);
        for (const { id } of page.data) requestIds.add(id);
        await app.advance(WEEK_MS / lengthOf(2, 7));
      }
    }
    await receiver.close();
    const { histories } = await retentionOverview(depsOf());
    for (const { partitions } of histories) {
      // Five weeks of the retention period, the current week, two future weeks, and the default partition.
      expect(partitions.length).toBeLessThanOrEqual(9);
    }
    const archivedEventIds = (await readArchivedRows('events')).map(({ id }) => id as string);
    expect(archivedEventIds.length).toBeGreaterThan(10);
    const retainedEventIds = await idsOf('events', 'id');
    expect([...archivedEventIds, ...retainedEventIds].sort()).toEqual([...eventIds].sort());
    const archivedAttemptKeys = (await readArchivedRows('webhook_attempts')).map(
      ({ eventId, attempt }) => `${eventId}/${attempt}`,
    );
    expect(archivedAttemptKeys.length).toBeGreaterThan(10);
    const retainedAttemptKeys = await idsOf('webhook_attempts', attemptKeySql);
    expect([...archivedAttemptKeys, ...retainedAttemptKeys].sort()).toEqual(
      [...attemptKeys].sort(),
    );
    const archivedRequestIds = (
      await Promise.all(['api_requests', 'api_request_reads'].map(readArchivedRows))
    ).flatMap((lines) => lines.map(({ id }) => id as string));
    expect(new Set(archivedRequestIds).size).toBe(archivedRequestIds.length);
    const page = ok(await app.call('GET', '/requests?limit=100&sortOrder=asc'), 200);
    const oldestId = page.data[0].id as string;
    for (const id of requestIds) if (id < oldestId) expect(archivedRequestIds).toContain(id);
    expect((await readArchivedRows('api_request_bodies')).length).toBeGreaterThan(3);
    // Later payments succeed. The harness checks that the ledger balances when it closes the server.
    await pay();
  }, 600_000);
});

describe('archives', () => {
  const listStoredObjects = () => readdirSync(app.filesFolder);

  /** Storage that fails in the middle of the first object, or after it. */
  function createFailingStorage(failureTime: 'within' | 'after'): StoragePort {
    const storage = folderStorage(app.filesFolder);
    let putCount = 0;
    return {
      ...storage,
      async put(name, bytes) {
        if (putCount++ > 0) return storage.put(name, bytes);
        async function* interruptedContent() {
          for await (const chunk of bytes) {
            yield chunk;
            if (failureTime === 'within') throw new Error('the machine stopped');
          }
        }
        await storage.put(name, interruptedContent());
        throw new Error('the machine stopped');
      },
    };
  }

  it.each(['within', 'after'] as const)(
    'contain each row once after a failure %s the write of a file',
    async (failureTime) => {
      const { pay } = await createPayer(app);
      await pay();
      const eventIds = await idsOf('events', 'id');
      setClockForward(6 * WEEK_MS);
      const deps = depsOf(createFailingStorage(failureTime));
      await expect(applyRetention(deps)).rejects.toThrow('the machine stopped');
      const [detachedArchive] = (await retentionOverview(deps)).archives;
      expect(detachedArchive?.state).toBe('DETACHED');
      const appliedResult = await applyRetention(deps);
      expect(appliedResult.partitions.length).toBeGreaterThan(0);
      expect((await readArchivedRows('events')).map(({ id }) => id)).toEqual(eventIds.toSorted());
      const { archives } = await retentionOverview(deps);
      expect(archives.every(({ state }) => state === 'STORED')).toBe(true);
      expect(listStoredObjects()).toHaveLength(archives.length);
      // The server may have recorded requests since then.
      const { partitions } = await applyRetention(deps);
      expect(partitions.filter(({ history }) => history === 'events')).toEqual([]);
      expect(await idsOf('events', 'id')).toEqual([]);
    },
  );

  it('seal personal data of a customer, so that an erasure makes it unreadable', async () => {
    const { id } = await createCustomer(app, {}, { fullName: 'Zyxwina Quorbat' });
    ok(await app.call('DELETE', `/customers/${id}`), 200);
    await app.settle();
    const { db, vault } = app.runtime;
    const keySql = 'select data_key from customers where id = $1';
    const [row] = await db.query<{ data_key: string }>(keySql, [id]);
    setClockForward(6 * WEEK_MS);
    await applyRetention(depsOf());
    const archivedEvents = await readArchivedRows('events');
    const lines = archivedEvents.filter(({ customerId }) => customerId === id);
    expect(lines.length).toBeGreaterThan(0);
    expect(lines.filter((line) => 'data' in line)).toEqual([]);
    expect(JSON.stringify(archivedEvents)).not.toContain('Quorbat');
    const key = { owner: id, sealed: row?.data_key as string };
    const openedLines = lines.map((line) =>
      vault.open(key, line.sealed as string, eventContext(line.id as string)).toString(),
    );
    expect(openedLines.join()).toContain(id);
    await erase(app.runtime, id, { actor: 'test', reason: null });
    // The deleted key was the only one that opens the lines.
    expect(await db.query(keySql, [id])).toEqual([{ data_key: null }]);
  });

  it('have no readable content for an erased customer', async () => {
    const { person, pay } = await createPayer(app);
    await pay();
    await app.runtime.db.query('update customers set data_key = null where id = $1', [person.id]);
    setClockForward(6 * WEEK_MS);
    await applyRetention(depsOf());
    const lines = (await readArchivedRows('events')).filter(
      ({ customerId }) => customerId === person.id,
    );
    expect(lines.length).toBeGreaterThan(5);
    for (const line of lines) {
      expect(line).not.toHaveProperty('data');
      // A line that was sealed before the key was deleted can no longer be opened.
      expect(line.erased === true || typeof line.sealed === 'string').toBe(true);
    }
  });

  it('are added for rows that are written after the removal of their week', async () => {
    await (await createPayer(app)).pay();
    const { db } = app.runtime;
    await db.query('create table late_events as select * from events');
    setClockForward(6 * WEEK_MS);
    await applyRetention(depsOf());
    const rowsBefore = await readArchivedRows('events');
    expect(rowsBefore.length).toBeGreaterThan(0);
    for (const factor of [2, 3]) {
      await db.query('insert into events select * from late_events');
      setClockForward(WEEK_MS);
      await app.settle();
      await applyRetention(depsOf());
      expect(await readArchivedRows('events')).toHaveLength(factor * rowsBefore.length);
    }
    expect(await idsOf('events', 'id')).toEqual([]);
  });

  it('are removed after their own retention period', async () => {
    await (await createPayer(app)).pay();
    setClockForward(6 * WEEK_MS);
    // A statement of the server may still use a table.
    await vi.waitFor(async () => {
      const { partitions } = await applyRetention(depsOf());
      expect(partitions.map(({ result }) => result)).not.toContain('WAITING');
    }, 20_000);
    expect(listStoredObjects().length).toBeGreaterThan(0);
    const archiveCount = (await retentionOverview(depsOf())).archives.length;
    setClockForward(DEFAULT_RETENTION.archiveRetentionMs);
    expect((await applyRetention(depsOf(), true)).archivesRemoved).toBe(archiveCount);
    // Rows that the server has written since then are archived and removed in the same run.
    const { archivesRemoved } = await applyRetention(depsOf());
    expect(archivesRemoved).toBeGreaterThanOrEqual(archiveCount);
    expect(listStoredObjects()).toEqual([]);
    const removedArchives = (await retentionOverview(depsOf())).archives;
    expect(removedArchives.map(({ state }) => state)).toEqual(
      Array(archivesRemoved).fill('REMOVED'),
    );
    await expect(archiveText(depsOf(), removedArchives[0]?.id as string)).rejects.toMatchObject({
      code: 'CONFLICT',
    });
  });
});

describe('applying the retention', () => {
  it('removes no partition in a dry run', async () => {
    // Sizes are not compared, because records of requests arrive later.
    const namesOfPartitions = async () =>
      (await listPartitions(app.runtime.db)).map(({ name }) => name);
    await (await createPayer(app)).pay();
    setClockForward(6 * WEEK_MS);
    const partitionsBefore = await namesOfPartitions();
    const dryRunResult = await applyRetention(depsOf(), true);
    expect(dryRunResult.partitions.map(({ result }) => result)).toContain('ARCHIVED');
    expect(await namesOfPartitions()).toEqual(partitionsBefore);
    const appliedResult = await applyRetention(depsOf());
    const partitionNames = (partitions: typeof appliedResult.partitions) =>
      partitions.map(({ partition }) => partition).sort();
    expect(partitionNames(appliedResult.partitions)).toEqual(
      partitionNames(dryRunResult.partitions),
    );
  });

  it('keeps partitions with pending deliveries', async () => {
    const closedReceiver = await startReceiver();
    ok(await app.call('PATCH', '/config', { webhookEndpoint: closedReceiver.url }), 200);
    await closedReceiver.close();
    const { pay } = await createPayer(app);
    await pay();
    const eventCount = (await idsOf('events', 'id')).length;
    setClockForward(6 * WEEK_MS);
    const appliedResult = await applyRetention(depsOf());
    const eventPartitions = appliedResult.partitions.filter(({ history }) => history === 'events');
    expect(eventPartitions.map(({ result }) => result)).toContain('WAITING');
    expect(await idsOf('events', 'id')).toHaveLength(eventCount);
    await app.runtime.db.query('delete from webhook_queue');
    await applyRetention(depsOf());
    expect(await idsOf('events', 'id')).toEqual([]);
  });

  it('runs in one process at a time', async () => {
    setClockForward(6 * WEEK_MS);
    const results = await Promise.allSettled([applyRetention(depsOf()), applyRetention(depsOf())]);
    for (const each of results) {
      if (each.status === 'rejected') expect(each.reason).toMatchObject({ code: 'CONFLICT' });
    }
    expect(results.some(({ status }) => status === 'fulfilled')).toBe(true);
  });

  it('drops rows without an archive if archives are disabled', async () => {
    await (await createPayer(app)).pay();
    setClockForward(6 * WEEK_MS);
    const settings = { ...DEFAULT_RETENTION, archiveRetentionMs: 0 };
    const { partitions } = await applyRetention({ ...depsOf(), settings });
    expect(new Set(partitions.map(({ result }) => result))).toEqual(new Set(['DROPPED']));
    expect(await idsOf('events', 'id')).toEqual([]);
    expect((await retentionOverview(depsOf())).archives).toEqual([]);
  });
});
