// Change sets of one batch: acceptance, rejection, versions and keys. Lost connections, queues and
// lanes.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  clientKeys,
  createSample,
  eventAbout,
  insertKey,
  insertThing,
  NOW,
  newId,
  ok,
  rejectedWith,
  type Sample,
  setOf,
  thingAt,
  thingRow,
  transfer,
  updateThing,
} from '../../../test/kit/app/sample-tables.ts';
import { connectLane } from '../db/lane.ts';
import { col, table } from '../db/table.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { type BatchReport, type Committer, createCommitter } from './committer.ts';

let sample: Sample;
let committer: Committer;
let reports: BatchReport[] = [];
const createdCommitters: Committer[] = [];

beforeAll(async () => {
  sample = await createSample();
});

afterEach(async () => {
  await Promise.all(createdCommitters.splice(0).map((each) => each.close()));
});

afterAll(() => sample.drop());

function start(options: Partial<Parameters<typeof createCommitter>[0]> = {}): Committer {
  reports = [];
  committer = createCommitter({
    connect: () => connectLane(sample.url),
    onBatch: (report) => reports.push(report),
    ...options,
  });
  createdCommitters.push(committer);
  return committer;
}

const commit = (changes: Partial<ChangeSet>): Promise<Outcome> => committer.commit(setOf(changes));

/** Submits all change sets in the same tick. */
const commitTogether = (...changes: Partial<ChangeSet>[]) =>
  Promise.allSettled(changes.map(commit));

const readThing = async (id: string) =>
  (await sample.sql('select * from things where id = $1', [id]))[0];

describe('commit', () => {
  it('writes all rows, transfers and events of a change set', async () => {
    start();
    const changedRow = await sample.thing(newId('thing'), { rank: 1 });
    const removedRow = await sample.thing(newId('thing'));
    const requiredRow = await sample.thing(newId('thing'));
    const [from = '', to = ''] = await sample.accounts(100n, 0n);
    const addedRow = thingRow(newId('thing'), {
      name: 'né€ 😀',
      note: { a: [1, null] },
      raw: Buffer.from([0, 255]),
      amount: 9_007_199_254_740_993n,
      flag: true,
    });
    const event = eventAbout(to);
    const outcome = await commit({
      inserts: [insertThing(addedRow)],
      updates: [updateThing(changedRow, { rank: 2, created_at: 0 })],
      removes: [thingAt(removedRow)],
      requires: [thingAt(requiredRow)],
      transfers: [transfer(from, to, 30n)],
      events: [event],
    });
    expect(outcome).toEqual({ ok: true });
    expect(await readThing(addedRow.id)).toEqual({
      ...addedRow,
      amount: String(addedRow.amount),
      created_at: new Date(NOW),
    });
    const expectedRow = { rank: 2, version: 2, created_at: new Date(NOW) };
    expect(await readThing(changedRow.id)).toMatchObject(expectedRow);
    expect(await readThing(removedRow.id)).toBe(undefined);
    expect(await readThing(requiredRow.id)).toMatchObject({ version: 1 });
    expect(await sample.holdings(from, to)).toEqual(['70/0', '30/0']);
    const [storedEvent] = await sample.sql('select * from events where id = $1', [event.id]);
    expect(storedEvent).toMatchObject({ balance: '30', held: '0' });
  });

  it('accepts an empty change set immediately', async () => {
    start({ connect: () => Promise.reject(new Error('down')) });
    expect(await commit({})).toEqual({ ok: true });
  });

  it('rejects only the change sets that depend on an old version', async () => {
    start();
    const row = await sample.thing(newId('thing'));
    const staleRow = { ...row, version: 0 };
    const insertionOfThing = () => ({ inserts: [insertThing(thingRow(newId('thing')))] });
    const versionRejection = rejectedWith({
      reason: 'version',
      table: 'things',
      id: row.id,
    });
    const outcomes = await commitTogether(
      insertionOfThing(),
      { ...insertionOfThing(), requires: [thingAt(staleRow)] },
      { requires: [thingAt(row)], ...insertionOfThing() },
      { requires: [{ ...thingAt(row), id: 'missing' }], ...insertionOfThing() },
    );
    const missingRejection = rejectedWith({ reason: 'version', table: 'things', id: 'missing' });
    expect(outcomes).toEqual([ok, versionRejection, ok, missingRejection]);
    expect(await commitTogether({ updates: [updateThing(staleRow, {})] })).toEqual([
      versionRejection,
    ]);
    expect(await commitTogether({ removes: [thingAt(staleRow)] })).toEqual([versionRejection]);
  });

  it('rejects a change set that read a row at two versions', async () => {
    start();
    const currentRow = await sample.thing(newId('thing'), { version: 2 });
    const previousRow = { ...currentRow, version: 1 };
    const versionRejection = rejectedWith({
      reason: 'version',
      table: 'things',
      id: currentRow.id,
    });
    const outcomes = await commitTogether(
      { updates: [updateThing(currentRow, { rank: 5 })], requires: [thingAt(previousRow)] },
      { removes: [thingAt(currentRow)], requires: [thingAt(previousRow)] },
      { removes: [thingAt(currentRow)], updates: [updateThing(previousRow, { rank: 5 })] },
      { requires: [thingAt(currentRow), thingAt(previousRow)] },
      { updates: [updateThing(currentRow, { rank: 6 })], requires: [thingAt(currentRow)] },
    );
    expect(outcomes).toEqual([
      versionRejection,
      versionRejection,
      versionRejection,
      versionRejection,
      ok,
    ]);
    expect(await readThing(currentRow.id)).toMatchObject({ rank: 6, version: 3 });
  });

  it('accepts exactly one of many change sets for the same version of a row', async () => {
    start();
    const row = await sample.thing(newId('thing'));
    const outcomes = await commitTogether(
      ...Array.from({ length: 30 }, (_, rank) => ({ updates: [updateThing(row, { rank })] })),
    );
    expect(outcomes.filter((each) => each.status === 'fulfilled' && each.value.ok)).toHaveLength(1);
    expect(await readThing(row.id)).toMatchObject({ rank: 0, version: 2 });
  });

  it('accepts a client-chosen key once', async () => {
    start();
    const id = newId('key');
    const freeKey = newId('key');
    const existsRejection = rejectedWith({ reason: 'exists', table: 'client_keys', id });
    const outcomes = await commitTogether(
      { inserts: [insertKey(id, 'first')] },
      ...Array.from({ length: 29 }, () => ({ inserts: [insertKey(id, 'later')] })),
      { inserts: [insertKey(freeKey)] },
    );
    expect(outcomes).toEqual([ok, ...Array.from({ length: 29 }, () => existsRejection), ok]);
    const [storedKey] = await sample.sql('select reply from client_keys where id = $1', [id]);
    expect(storedKey).toEqual({ reply: 'first' });
  });

  it('reports the constraint that one change set violates and accepts the others', async () => {
    start();
    const name = newId('name');
    await sample.thing(newId('thing'), { name });
    const insertion = (fields: object) => ({
      inserts: [insertThing(thingRow(newId('thing'), fields))],
    });
    const outcomes = await commitTogether(
      insertion({}),
      insertion({ name }),
      insertion({}),
      insertion({ rank: 1_000 }),
      insertion({}),
    );
    expect(outcomes).toEqual([
      ok,
      rejectedWith({ reason: 'constraint', constraint: 'things_name' }),
      ok,
      rejectedWith({ reason: 'constraint', constraint: 'things_rank' }),
      ok,
    ]);
  });

  it('rejects only change sets with values that cannot be stored or encoded', async () => {
    start();
    const insertion = (fields: object) => ({
      inserts: [insertThing(thingRow(newId('thing'), fields))],
    });
    const nowhere = table('nowhere', { id: col.text });
    const changes = Array.from({ length: 40 }, () => insertion({}));
    changes[7] = insertion({ name: 'a\u0000b' });
    changes[20] = insertion({ rank: 1.5 });
    changes[31] = { inserts: [{ table: nowhere, row: { id: 'a' } } as never] };
    const outcomes = await commitTogether(...changes);
    outcomes.forEach((outcome, i) => {
      if (i === 7) expect(outcome).toMatchObject({ reason: { code: '22021' } });
      else if (i === 20) expect(outcome).toMatchObject({ reason: expect.any(TypeError) });
      else if (i === 31) expect(outcome).toMatchObject({ reason: { code: '42P01' } });
      else expect(outcome).toEqual(ok);
    });
  });

  it('reports each batch and its mode', async () => {
    let now = 0;
    start({ elapsed: () => (now += 5) });
    const row = await sample.thing(newId('thing'));
    await commitTogether({ inserts: [insertThing(thingRow(newId('thing')))] });
    await commitTogether({ requires: [{ ...thingAt(row), version: 7 }] });
    expect(reports).toEqual([
      { units: 1, ms: 5, mode: 'optimistic' },
      { units: 1, ms: 5, mode: 'careful' },
    ]);
    expect(committer.stats()).toMatchObject({
      batches: 2,
      units: 2,
      careful: 1,
      waiting: 0,
      writing: 0,
    });
  });
});

describe('a lost connection', () => {
  const killAll = () =>
    sample.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'railhead committer' and datname = current_database()`);

  it('causes an unknown outcome of batches in flight only', async () => {
    start({ lanes: 3 });
    const [a = '', b = ''] = await sample.accounts(1_000_000n, 0n);
    let unknownCount = 0;
    let acceptedCount = 0;
    let isStopped = false;
    const worker = async () => {
      while (!isStopped) {
        try {
          const outcome = await commit({ transfers: [transfer(a, b, 1n)] });
          if (outcome.ok) acceptedCount++;
        } catch (error) {
          expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
          unknownCount++;
        }
      }
    };
    const workers = Array.from({ length: 100 }, worker);
    const waitForCommits = async (progressCount: number) => {
      for (const countBefore = acceptedCount; acceptedCount < countBefore + progressCount; )
        await sleep(5);
    };
    // At the kill, the lanes may be idle or connecting. The kill is repeated until some lanes had a batch
    // in flight.
    for (let round = 0; round < 5 || unknownCount === 0; round++) {
      await waitForCommits(200);
      await killAll();
    }
    await waitForCommits(1_000);
    isStopped = true;
    await Promise.all(workers);
    const [storedCount] = await sample.sql(
      'select count(*)::int from ledger_transfers where debit = $1',
      [a],
    );
    const count = storedCount?.count as number;
    expect(count).toBeGreaterThanOrEqual(acceptedCount);
    expect(count).toBeLessThanOrEqual(acceptedCount + unknownCount);
    expect(await sample.holdings(a, b)).toEqual([`${1_000_000 - count}/0`, `${count}/0`]);
    while (committer.stats().lanes < 3) await sleep(5);
    expect(committer.stats()).toMatchObject({ waiting: 0, writing: 0, lanes: 3 });
  });
});

describe('createCommitter', () => {
  it('rejects change sets above the queue limit', async () => {
    start({ connect: () => Promise.reject(new Error('down')), maxWaiting: 2 });
    const changes = { inserts: [insertThing(thingRow(newId('thing')))] };
    const outcomes = commitTogether(changes, changes);
    await expect(commit(changes)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
    });
    await committer.close();
    const notCommitted = {
      status: 'rejected',
      reason: expect.objectContaining({ code: 'NOT_COMMITTED' }),
    };
    expect(await outcomes).toEqual([notCommitted, notCommitted]);
  });

  it('settles all accepted change sets before it closes', async () => {
    start({ max: 16 });
    const ids = Array.from({ length: 200 }, () => newId('thing'));
    await commitTogether({ inserts: [insertKey(newId('key'))] });
    const commits = commitTogether(...ids.map((id) => ({ inserts: [insertThing(thingRow(id))] })));
    await committer.close();
    expect(await commits).toEqual(ids.map(() => ok));
    await expect(commit({ inserts: [insertKey(newId('key'))] })).rejects.toMatchObject({
      code: 'NOT_COMMITTED',
    });
  });

  it('writes other rows while a row is locked by another transaction', async () => {
    start({ lanes: 1, connect: () => connectLane(sample.url, { lockTimeoutMs: 200 }) });
    const row = await sample.thing(newId('thing'));
    await sample.sql('begin');
    await sample.sql('select from things where id = $1 for update', [row.id]);
    const outcomes = commitTogether(
      { updates: [updateThing(row, { rank: 3 })] },
      { inserts: [{ table: clientKeys, row: insertKey(newId('key')).row }] },
    );
    const settledOutcomes = await outcomes;
    await sample.sql('rollback');
    expect(settledOutcomes).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }) },
      ok,
    ]);
  });

  it('adds a lane for a few change sets only after they have waited', async () => {
    start({ min: 4, smallBatchDelayMs: 500 });
    const row = await sample.thing(newId('thing'));
    await sample.sql('begin');
    await sample.sql('select from things where id = $1 for update', [row.id]);
    const blockedCommit = commit({ updates: [updateThing(row, { rank: 3 })] });
    const waitingLocks = 'select 1 from pg_locks where not granted';
    while ((await sample.sql(waitingLocks)).length === 0) await sleep(5);
    const commitThing = () => commit({ inserts: [insertThing(thingRow(newId('thing')))] });
    const laterCommits = [commitThing()];
    await sleep(20);
    laterCommits.push(commitThing());
    await Promise.all(laterCommits);
    expect(reports.map(({ units }) => units)).toEqual([2]);
    await Promise.all([commitThing(), commitThing(), commitThing(), commitThing()]);
    expect(reports.map(({ units }) => units)).toEqual([2, 4]);
    await sample.sql('rollback');
    expect(await blockedCommit).toEqual({ ok: true });
  });
});
