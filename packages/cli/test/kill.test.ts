// Kills `listen` and the server at random while events occur. Every event is forwarded. An event is
// repeated only if it was being sent at a kill, and the program reports each repetition.
// KILLS is the number of kills, 5 by default and 50 in `run.mjs kill`.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collect, startTestServer, waitUntil } from './kit/cli.ts';
import { type Receiver, startReceiver } from './kit/receiver.ts';

const KILLS = Number(process.env.KILLS ?? 5);
/** Share of kills of the server, which is low because a server takes seconds to start. */
const SERVER_SHARE = 0.25;
const MAX_PAUSE_MS = 300;
const EVENTS_BETWEEN_KILLS = 5;
const LIMIT_MS = 60_000 + KILLS * 8_000;

const TYPE = 'CUSTOMER.KYC_APPROVED' as const;

const server = startTestServer('kill');
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function startListener() {
  const args = ['listen', '--json', '--forward-to', receiver.url, '--events', TYPE];
  const child = server.cli.start(args);
  return { child, output: collect(child) };
}

/** Creates customers until `stop` is called. A call is repeated until the server has replied. */
function createCustomers() {
  const state = { createdCount: 0, isStopped: false };
  const create = async () => {
    const idempotencyKey = randomUUID();
    for (;;) {
      try {
        const body = { customerType: 'INDIVIDUAL', fullName: 'Ada' } as const;
        await server.client.customers.createCustomer(body, {
          ...{ idempotencyKey, maxRetries: 0, timeout: 5_000 },
        });
        state.createdCount++;
        return;
      } catch {
        await pause(50);
      }
    }
  };
  const completion = (async () => {
    while (!state.isStopped) {
      await create();
      await pause(Math.random() * 20);
    }
  })();
  return {
    /** Waits until this number of further customers was created. */
    waitFor: (count: number) => {
      const targetCount = state.createdCount + count;
      return waitUntil('further customers', () => state.createdCount >= targetCount, 60_000);
    },
    stop() {
      state.isStopped = true;
      return completion;
    },
  };
}

/** IDs of all events in the order in which they occurred. */
async function listEventIds(): Promise<string[]> {
  const ids: string[] = [];
  const events = server.client.events.listEvents({ after: 'beginning', type: [TYPE], limit: 100 });
  for await (const { id } of events) ids.push(id);
  return ids;
}

it(
  `listen loses no event and reports each repetition in ${KILLS} kills`,
  async () => {
    const outputs: string[] = [];
    let currentListener = startListener();
    await waitUntil('the ready message', () => currentListener.output.out.includes('"ready":true'));
    const port = new URL(server.running.origin).port;
    const customers = createCustomers();
    const kills = { listen: 0, server: 0 };
    for (let count = 0; count < KILLS; count++) {
      await customers.waitFor(EVENTS_BETWEEN_KILLS);
      await pause(Math.random() * MAX_PAUSE_MS);
      // In a run of two or more kills, at least one kill is of the server.
      if (Math.random() < SERVER_SHARE || count === KILLS - 2) {
        kills.server++;
        await server.dataFolder.kill(server.running.child, Math.random() < 0.5 ? 'node' : 'both');
        await server.dataFolder.remainingProcesses();
        server.running = await server.dataFolder.start(['--port', port]);
        continue;
      }
      kills.listen++;
      const exit = once(currentListener.child, 'close');
      currentListener.child.kill('SIGKILL');
      await exit;
      outputs.push(currentListener.output.out);
      currentListener = startListener();
    }
    await customers.stop();
    const expectedIds = await listEventIds();
    const forwardedIds = () => new Set(receiver.arrivals.map(({ id }) => id));
    await waitUntil(
      'the forwarding of every event',
      () => forwardedIds().size >= expectedIds.length,
      60_000,
    ).catch(() => undefined);
    await pause(500);
    const exit = once(currentListener.child, 'close');
    currentListener.child.kill('SIGINT');
    await exit;
    outputs.push(currentListener.output.out);

    const missingIds = expectedIds.filter((id) => !forwardedIds().has(id));
    const ids = receiver.arrivals.map(({ id }) => id);
    const duplicateIds = ids.filter((id, index) => ids.indexOf(id) !== index);
    const repeatedLines = outputs.join('').match(/"eventId":"[^"]+"[^\n]*"isRepeated":true/g) ?? [];
    const repeatedIds = repeatedLines.map((line) => /"eventId":"([^"]+)"/.exec(line)?.[1]);
    console.info(
      `${kills.listen} kills of listen, ${kills.server} of the server: ${expectedIds.length} events, ` +
        `${missingIds.length} missing, ${duplicateIds.length} repeated that were being sent at a kill`,
    );
    expect(missingIds).toEqual([]);
    expect(duplicateIds.filter((id) => !repeatedIds.includes(id))).toEqual([]);
    expect(duplicateIds.length).toBeLessThanOrEqual(kills.listen);
    expect([...forwardedIds()].filter((id) => !expectedIds.includes(id))).toEqual([]);
  },
  LIMIT_MS,
);
