// Batches on one connection: atomicity, errors and lost connections.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSample, NOW, type Sample, things } from '../../../test/kit/app/sample-tables.ts';
import { BEGIN, COMMIT, existingKeys, insertInto, readVersions } from '../committer/statements.ts';
import { table } from '../db/table.ts';
import { connectLane, isConnectionError, type Lane, openLane } from './lane.ts';
import { type Bound, bind } from './statement.ts';

let sample: Sample;
let lanes: Lane[] = [];
/** Number of connections that lanes have opened. */
let connectCount = 0;

beforeAll(async () => {
  sample = await createSample();
});

afterEach(async () => {
  await Promise.all(lanes.map((lane) => lane.end()));
  lanes = [];
});

afterAll(() => sample.drop());

const insert = (...ids: string[]): Bound =>
  bind(
    insertInto(things),
    ids,
    ids.map(() => null),
    ids.map(() => 0),
    ids.map(() => 0n),
    ids.map(() => false),
    ids.map(() => null),
    ids.map(() => null),
    ids.map(() => NOW),
    ids.map(() => 1),
  );

function openTestLane(timeoutMs = 10_000): Promise<Lane> {
  return new Promise((resolve) => {
    const lane = openLane({
      connect: () => connectLane(sample.url),
      onUp() {
        connectCount++;
        resolve(lane);
      },
      timeoutMs,
    });
    lanes.push(lane);
  });
}

const countThings = async () => Number((await sample.sql('select count(*) from things'))[0]?.count);

const terminateBackends = () =>
  sample.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'railhead committer' and datname = current_database()`);

describe('openLane', () => {
  it('runs a message as one transaction and returns the rows of each statement', async () => {
    const lane = await openTestLane();
    const responses = await lane.execute([
      insert('l1', 'l2'),
      bind(existingKeys(things), ['l2', 'l9']),
    ]);
    expect(responses).toEqual([[], [['l2']]]);
    const readStatement = bind(readVersions(things), ['l9', 'l1'], [1, 1], [true, false]);
    expect(await lane.execute([readStatement])).toEqual([
      [
        ['l1', '1'],
        ['l9', null],
      ],
    ]);
  });

  it('writes no statement of a failed message and accepts the next message', async () => {
    const lane = await openTestLane();
    const countBefore = await countThings();
    await expect(lane.execute([insert('l3'), insert('l3')])).rejects.toMatchObject({
      code: '23505',
      constraint: 'things_pkey',
    });
    expect(await countThings()).toBe(countBefore);
    await lane.execute([insert('l3')]);
    expect(await countThings()).toBe(countBefore + 1);
  });

  it('reports an unknown table as the database error', async () => {
    const lane = await openTestLane();
    const unknownTable = table('nowhere', things.columns);
    await expect(lane.execute([bind(existingKeys(unknownTable), ['a'])])).rejects.toMatchObject({
      code: '42P01',
    });
    expect(await lane.execute([bind(existingKeys(things), ['l404'])])).toEqual([[]]);
  });

  it('sends no statement of a message that has a value of another type', async () => {
    const lane = await openTestLane();
    const countBefore = await countThings();
    const invalidStatement = bind(existingKeys(things), [1]);
    await expect(lane.execute([insert('l4'), invalidStatement])).rejects.toThrow(TypeError);
    expect(await countThings()).toBe(countBefore);
  });

  it('reports an unknown outcome when the connection breaks and reconnects', async () => {
    const lane = await openTestLane();
    // The transaction remains open, so that the insert is never committed.
    await lane.execute([bind(BEGIN), insert('l5')]);
    const pendingBatch = lane.execute([
      bind({ name: 'sleep', text: 'select pg_sleep(5)', types: [] }),
    ]);
    const outcome = pendingBatch.catch(async (error: unknown) => {
      expect(isConnectionError(error)).toBe(true);
      expect(lane.isConnected).toBe(false);
      await expect(lane.execute([insert('l6')])).rejects.toSatisfy(isConnectionError);
      return 'disconnected';
    });
    await sleep(50);
    await terminateBackends();
    expect(await outcome).toBe('disconnected');
    while (!lane.isConnected) await sleep(10);
    await lane.execute([insert('l5')]);
  });

  it('detects a connection that breaks while idle', async () => {
    const lane = await openTestLane();
    const countBefore = connectCount;
    await terminateBackends();
    // The lane may be disconnected for less time than the interval of polls of `isConnected`.
    while (connectCount === countBefore) await sleep(5);
    expect(lane.isConnected).toBe(true);
    expect(await lane.execute([bind(existingKeys(things), ['l404'])])).toEqual([[]]);
  });

  it('abandons a connection without a response', async () => {
    const lane = await openTestLane(100);
    const pendingBatch = lane.execute([
      bind({ name: 'sleep', text: 'select pg_sleep(5)', types: [] }),
    ]);
    await expect(pendingBatch).rejects.toSatisfy(isConnectionError);
  });

  it('retries while the database is unreachable', async () => {
    let attempts = 0;
    const lane = await new Promise<Lane>((resolve) => {
      const newLane = openLane({
        connect: () =>
          ++attempts < 3 ? Promise.reject(new Error('unreachable')) : connectLane(sample.url),
        onUp: () => resolve(newLane),
        timeoutMs: 10_000,
      });
      lanes.push(newLane);
    });
    expect(attempts).toBe(3);
    expect(lane.isConnected).toBe(true);
  });

  /** IDs of the backends of lanes, in the order of their start. */
  const readBackends = async () =>
    (
      await sample.sql(`select pid from pg_stat_activity where application_name =
        'railhead committer' and datname = current_database() order by backend_start`)
    ).map(({ pid }) => pid);

  it('replaces an old connection between transactions, without an interruption', async () => {
    const lane = await new Promise<Lane>((resolve) => {
      const newLane = openLane({
        connect: () => connectLane(sample.url),
        onUp: () => resolve(newLane),
        ...{ timeoutMs: 10_000, maxAgeMs: 300 },
      });
      lanes.push(newLane);
    });
    const [firstBackend] = await readBackends();
    await lane.execute([bind(BEGIN), insert('l7')]);
    await sleep(600);
    // The successor is connected and waits for the end of the transaction.
    expect((await readBackends())[0]).toBe(firstBackend);
    await lane.execute([bind(COMMIT)]);
    expect(lane.isConnected).toBe(true);
    expect(await lane.execute([bind(existingKeys(things), ['l7'])])).toEqual([[['l7']]]);
    for (
      let waitedMs = 0;
      waitedMs < 5_000 && (await readBackends()).includes(firstBackend);
      waitedMs += 20
    )
      await sleep(20);
    expect(await readBackends()).not.toContain(firstBackend);
    expect(lane.isConnected).toBe(true);
  });
});
