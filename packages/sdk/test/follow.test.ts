// Following across a kill of the server and of the follower, on a server process of its own.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataFolder, type Running } from '../../../server/test/kit/crash/server.ts';
import { type Client, createClient, type EventStream, type StoredEvent } from '../src/index.ts';
import { fileStore } from '../src/node.ts';

const place = createDataFolder('sdk-follow');
const folder = mkdtempSync(path.join(os.tmpdir(), 'sdk-follow-'));
/** Outside the range from which connections of other tests take theirs while the server is down. */
const port = String(20_000 + (process.pid % 10_000));
let running: Running;
let client: Client;

beforeAll(async () => {
  running = await place.start(['--port', port]);
  const { baseUrl, clientId, clientSecret } = running.credentials;
  client = createClient({ baseUrl, clientId, clientSecret });
}, 60_000);
afterAll(async () => {
  await place.remove();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

/** Creates a customer, which emits one event of its approval. */
const register = async () =>
  (await client.customers.createCustomer({ customerType: 'INDIVIDUAL', fullName: 'Ada' })).id;

const TYPES = ['CUSTOMER.KYC_APPROVED', 'CUSTOMER.KYC_PENDING'] as const;

async function take(stream: EventStream<(typeof TYPES)[number]>, count: number) {
  const found: StoredEvent[] = [];
  for await (const event of stream) {
    found.push(event);
    if (found.length === count) break;
  }
  return found;
}

const idsOf = (events: readonly StoredEvent[]) => events.map(({ resourceId }) => resourceId);

describe('follow', () => {
  it('goes on where it was after each stop, in a page as well', async () => {
    const file = path.join(folder, 'cursor');
    const store = fileStore(file);
    const follow = () => client.events.follow({ store, after: 'beginning', types: TYPES, wait: 1 });
    const made = [await register(), await register(), await register()];
    const [first] = await take(follow(), 1);
    expect(first?.resourceId).toBe(made[0]);
    // The consumer left while it processed the event, so the event is repeated.
    expect(idsOf(await take(follow(), 3))).toEqual(made);
    expect(readFileSync(file, 'utf8')).toMatch(/~/);
    expect(idsOf(await take(follow(), 1))).toEqual(made.slice(2));
  });

  it('misses and repeats nothing while the server is killed and started again', async () => {
    const interruptions: unknown[] = [];
    const stop = new AbortController();
    const made: string[] = [];
    const found: StoredEvent[] = [];
    const stream = client.events.follow({
      types: TYPES,
      wait: 5,
      signal: stop.signal,
      onInterruption: (error) => interruptions.push(error),
    });
    const following = (async () => {
      for await (const event of stream) {
        found.push(event);
        if (found.length === 4) stop.abort();
      }
    })();
    while (stream.cursor === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    made.push(await register(), await register());
    await place.kill(running.child, 'both');
    running = await place.start(['--port', port]);
    made.push(await register(), await register());
    await following;
    expect(idsOf(found)).toEqual(made);
    expect(interruptions.length).toBeGreaterThan(0);
  }, 120_000);

  it('ends without an error when it is aborted, and with one when it cannot go on', async () => {
    const signal = AbortSignal.timeout(200);
    for await (const _ of client.events.follow({ signal })) throw new Error('nothing happens');
    const lost = client.events.follow({ after: 'nonsense' });
    await expect(take(lost as never, 1)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
