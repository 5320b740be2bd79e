// Following events across stops of the follower and a kill of the server, which is a separate process.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataFolder, type Running } from '../../../server/test/kit/crash/server.ts';
import { type Client, createClient, type EventStream, type StoredEvent } from '../src/index.ts';
import { fileStore } from '../src/node.ts';

const dataFolder = createDataFolder('sdk-follow');
const folder = mkdtempSync(path.join(os.tmpdir(), 'sdk-follow-'));
/**
 * Outside the range of ephemeral ports, so that no other test uses the port while the server is
 * down.
 */
const port = String(20_000 + (process.pid % 10_000));
let running: Running;
let client: Client;

beforeAll(async () => {
  running = await dataFolder.start(['--port', port]);
  const { baseUrl, clientId, clientSecret } = running.credentials;
  client = createClient({ baseUrl, clientId, clientSecret });
}, 60_000);
afterAll(async () => {
  await dataFolder.remove();
  rmSync(folder, { recursive: true, force: true });
}, 30_000);

/** Creates a customer, which emits one event of its approval. */
const createCustomer = async () =>
  (await client.customers.createCustomer({ customerType: 'INDIVIDUAL', fullName: 'Ada' })).id;

const TYPES = ['CUSTOMER.KYC_APPROVED', 'CUSTOMER.KYC_PENDING'] as const;

async function takeEvents(stream: EventStream<(typeof TYPES)[number]>, count: number) {
  const events: StoredEvent[] = [];
  for await (const event of stream) {
    events.push(event);
    if (events.length === count) break;
  }
  return events;
}

const idsOf = (events: readonly StoredEvent[]) => events.map(({ resourceId }) => resourceId);

describe('follow', () => {
  it('resumes after each stop, including within a page', async () => {
    const file = path.join(folder, 'cursor');
    const store = fileStore(file);
    const follow = () => client.events.follow({ store, after: 'beginning', types: TYPES, wait: 1 });
    const customerIds = [await createCustomer(), await createCustomer(), await createCustomer()];
    const [firstEvent] = await takeEvents(follow(), 1);
    expect(firstEvent?.resourceId).toBe(customerIds[0]);
    // The consumer stopped while it processed the event, so the event is repeated.
    expect(idsOf(await takeEvents(follow(), 3))).toEqual(customerIds);
    expect(readFileSync(file, 'utf8')).toMatch(/~/);
    expect(idsOf(await takeEvents(follow(), 1))).toEqual(customerIds.slice(2));
  });

  it('neither misses nor repeats an event across a kill and restart of the server', async () => {
    const interruptions: unknown[] = [];
    const abortController = new AbortController();
    const createdIds: string[] = [];
    const events: StoredEvent[] = [];
    const stream = client.events.follow({
      types: TYPES,
      wait: 5,
      signal: abortController.signal,
      onInterruption: (error) => interruptions.push(error),
    });
    const iteration = (async () => {
      for await (const event of stream) {
        events.push(event);
        if (events.length === 4) abortController.abort();
      }
    })();
    while (stream.cursor === undefined) await new Promise((resolve) => setTimeout(resolve, 10));
    createdIds.push(await createCustomer(), await createCustomer());
    await dataFolder.kill(running.child, 'both');
    running = await dataFolder.start(['--port', port]);
    createdIds.push(await createCustomer(), await createCustomer());
    await iteration;
    expect(idsOf(events)).toEqual(createdIds);
    expect(interruptions.length).toBeGreaterThan(0);
  }, 120_000);

  it('stops without an error when aborted, and rejects after a permanent failure', async () => {
    const signal = AbortSignal.timeout(200);
    for await (const _ of client.events.follow({ signal })) throw new Error('unexpected event');
    const events = client.events.follow({ after: 'nonsense' });
    await expect(takeEvents(events as never, 1)).rejects.toMatchObject({ code: 'INVALID_INPUT' });
  });
});
