// Kills `listen` and the server at random while events occur. No event is lost. An event is
// repeated only if it was being sent at a kill, and the program reports this. KILLS is the number of kills:
// 5, or 50 by `run.mjs kill`.
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collect, served, waitUntil } from './kit/cli.ts';
import { type Receiver, startReceiver } from './kit/receiver.ts';

const KILLS = Number(process.env.KILLS ?? 5);
/** Share of kills of the server, which is low because a server takes seconds to start. */
const SERVER_SHARE = 0.25;
const MAX_PAUSE_MS = 300;
const EVENTS_BETWEEN = 5;
const LIMIT_MS = 60_000 + KILLS * 8_000;

const TYPE = 'CUSTOMER.KYC_APPROVED' as const;

const server = served('kill');
let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => receiver.close());

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

function listener() {
  const args = ['listen', '--json', '--forward-to', receiver.url, '--events', TYPE];
  const child = server.cli.start(args);
  return { child, output: collect(child) };
}

/** Creates customers until it is stopped. A call is repeated until the server has replied. */
function activity() {
  const state = { made: 0, isStopped: false };
  const create = async () => {
    const idempotencyKey = randomUUID();
    for (;;) {
      try {
        const body = { customerType: 'INDIVIDUAL', fullName: 'Ada' } as const;
        await server.client.customers.createCustomer(body, {
          ...{ idempotencyKey, maxRetries: 0, timeout: 5_000 },
        });
        state.made++;
        return;
      } catch {
        await pause(50);
      }
    }
  };
  const done = (async () => {
    while (!state.isStopped) {
      await create();
      await pause(Math.random() * 20);
    }
  })();
  return {
    /** Waits for more events. */
    more: (count: number) => {
      const targetCount = state.made + count;
      return waitUntil('activity', () => state.made >= targetCount, 60_000);
    },
    stop() {
      state.isStopped = true;
      return done;
    },
  };
}

/** IDs of all events in the order in which they occurred. */
async function occurred(): Promise<string[]> {
  const ids: string[] = [];
  const events = server.client.events.listEvents({ after: 'beginning', type: [TYPE], limit: 100 });
  for await (const { id } of events) ids.push(id);
  return ids;
}

it(
  `listen neither loses nor repeats an event in ${KILLS} kills`,
  async () => {
    const outputs: string[] = [];
    let current = listener();
    await waitUntil('ready', () => current.output.out.includes('"ready":true'));
    const port = new URL(server.running.origin).port;
    const customers = activity();
    const kills = { listen: 0, server: 0 };
    for (let count = 0; count < KILLS; count++) {
      await customers.more(EVENTS_BETWEEN);
      await pause(Math.random() * MAX_PAUSE_MS);
      // At least one kill is of the server, also in a short run.
      if (Math.random() < SERVER_SHARE || count === KILLS - 2) {
        kills.server++;
        await server.dataFolder.kill(server.running.child, Math.random() < 0.5 ? 'node' : 'both');
        await server.dataFolder.remainingProcesses();
        server.running = await server.dataFolder.start(['--port', port]);
        continue;
      }
      kills.listen++;
      const exit = once(current.child, 'close');
      current.child.kill('SIGKILL');
      await exit;
      outputs.push(current.output.out);
      current = listener();
    }
    await customers.stop();
    const expected = await occurred();
    const forwardedIds = () => new Set(receiver.arrivals.map(({ id }) => id));
    await waitUntil('every event', () => forwardedIds().size >= expected.length, 60_000).catch(
      () => undefined,
    );
    await pause(500);
    const exit = once(current.child, 'close');
    current.child.kill('SIGINT');
    await exit;
    outputs.push(current.output.out);

    const missingIds = expected.filter((id) => !forwardedIds().has(id));
    const ids = receiver.arrivals.map(({ id }) => id);
    const doubled = ids.filter((id, index) => ids.indexOf(id) !== index);
    const repeated = outputs.join('').match(/"eventId":"[^"]+"[^\n]*"isRepeated":true/g) ?? [];
    const repeatedIds = repeated.map((line) => /"eventId":"([^"]+)"/.exec(line)?.[1]);
    console.info(
      `${kills.listen} kills of listen, ${kills.server} of the server: ${expected.length} events, ` +
        `${missingIds.length} lost, ${doubled.length} repeated that were being sent at a kill`,
    );
    expect(missingIds).toEqual([]);
    expect(doubled.filter((id) => !repeatedIds.includes(id))).toEqual([]);
    expect(doubled.length).toBeLessThanOrEqual(kills.listen);
    expect([...forwardedIds()].filter((id) => !expected.includes(id))).toEqual([]);
  },
  LIMIT_MS,
);
