// A follower receives every event after a crash of the database. The database then assigns
// transaction IDs again whose records were not on the disk.
import pg from 'pg';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { callOrThrow } from '../kit/crash/load.ts';
import { createDataFolder, type DataFolder, type Running } from '../kit/crash/server.ts';

let dataFolder: DataFolder;
let server: Running;

beforeAll(async () => {
  dataFolder = createDataFolder('event-crash');
  server = await dataFolder.start();
}, 90_000);

afterAll(() => dataFolder.remove(), 60_000);

const read = (query: string) => callOrThrow(server, 'GET', `/events?${query}`);

/** Creates a customer, which emits an event. Returns its ID. */
async function createCustomer(): Promise<string> {
  const person = { customerType: 'INDIVIDUAL', fullName: 'Ada Lovelace' };
  return (await callOrThrow(server, 'POST', '/customers', person)).id;
}

/** IDs of the resources of the events after a cursor. */
const followEvents = async (after: string): Promise<string[]> =>
  (await read(`after=${after}&limit=100`)).data.map(
    (event: { resourceId: string }) => event.resourceId,
  );

/** Uses the IDs of two thousand transactions that are not written to disk. */
const USE_TRANSACTION_IDS = `set synchronous_commit = off;
  create temporary table used_ids (n integer);
  do $$ begin
    for n in 1..2000 loop
      begin
        insert into used_ids values (n);
        raise exception 'rolled back';
      exception when raise_exception then null;
      end;
    end loop;
  end $$`;

it('a follower receives a new event after the database assigns transaction IDs again', async () => {
  const earlierCustomerId = await createCustomer();
  const { after: startCursor } = await read('limit=1');
  const client = new pg.Client({ connectionString: await dataFolder.database() });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query(
    `select pid from pg_stat_activity where backend_type = 'walwriter'`,
  );
  // Stops the process that writes the log to disk.
  process.kill(rows[0].pid, 'SIGSTOP');
  await client.query(USE_TRANSACTION_IDS);
  const { after } = await read('limit=1');
  await dataFolder.kill(server.child, 'both');
  server = await dataFolder.start();
  // The cursor is also valid before there is another event.
  expect(await followEvents(after)).toEqual([]);
  const laterCustomerId = await createCustomer();
  expect(await followEvents(after)).toContain(laterCustomerId);
  const allIds = await followEvents(startCursor);
  expect(allIds).toContain(laterCustomerId);
  expect(allIds).not.toContain(earlierCustomerId);
}, 120_000);
