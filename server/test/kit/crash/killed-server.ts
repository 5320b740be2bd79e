// Tests of a server that is killed repeatedly under load, with one or several processes. After each
// restart the database must match the replies to the clients, the books must balance, and work must
// continue. CRASH_KILLS sets the number of kills (30 and more show rare races). CRASH_SEED repeats
// the random choices of a failed run without the timing of its processes.
import { execFile } from 'node:child_process';
import { createPublicKey, verify } from 'node:crypto';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { projectRoot } from '../../../src/runtime/config/root.ts';
import { completeEventData } from '../../../src/runtime/operation/event-data.ts';
import { runSeed } from '../app/effects.ts';
import { type Receiver, startReceiver } from '../http/webhook-receiver.ts';
import { lengthOf } from '../length.ts';
import { replyProblems } from './audit.ts';
import { type BookSnapshot, countPending, problemsOf, readSnapshot } from './books.ts';
import { callOrThrow, createLoad, type Load, seededRandom } from './load.ts';
import { createDataFolder, type DataFolder, type Running } from './server.ts';

const KILL_COUNT = Number(process.env.CRASH_KILLS ?? lengthOf(3, 30));
const SEED = Number(process.env.CRASH_SEED ?? runSeed());
const CLIENT_COUNT = 24;
const CUSTOMER_COUNT = 6;
/** Minimum number of replies between two kills. */
const MIN_REPLIES = 20;
/** Share of restarts that are killed during the start, in addition to the counted kills. */
const KILLED_ON_START_SHARE = 0.25;
/** A job that a killed server had claimed is due again after a minute. */
const SETTLE_MS = 120_000;
/** Deliveries start when the lease of the killed server has expired. */
const SILENCE_MS = 30_000;
const QUIET_ENV = { LOG_LEVEL: 'error', RAILHEAD_RATE_LIMIT: '0', RAILHEAD_RATE_LIMIT_QUOTES: '0' };

const chance = seededRandom(SEED);
/** Flags that set the number of processes of the server. */
let flags: string[];
let dataFolder: DataFolder;
let server: Running;
let load: Load;
let receiver: Receiver;
/** Events that were rejected once. */
const rejectedIds = new Set<string>();

async function startLoad(): Promise<void> {
  dataFolder = createDataFolder('crash', os.tmpdir());
  const receiverChance = seededRandom(SEED + 1);
  receiver = await startReceiver((response, { id, type }) => {
    const isRejected = type !== 'TEST' && !rejectedIds.has(id) && receiverChance() < 0.02;
    if (isRejected) rejectedIds.add(id);
    // The delay is long enough that a kill finds some deliveries that are not yet recorded.
    setTimeout(() => response.writeHead(isRejected ? 500 : 200).end(), 1 + 10 * receiverChance());
  });
  server = await dataFolder.start(flags, QUIET_ENV);
  const fixedFee = { amount: 10, currency: 'USD' };
  const fee = {
    feeType: 'CROSS_CURRENCY_TRANSACTION',
    sourceCurrency: 'USD',
    variableFeeBps: 25,
    fixedFee,
  };
  const config = { webhookEndpoint: receiver.url, feeConfigs: [fee] };
  await callOrThrow(server, 'PATCH', '/config', config);
  load = await createLoad(server, { seed: SEED, clients: CLIENT_COUNT, people: CUSTOMER_COUNT });
}

/** Checks a snapshot of the database. Fails with the first problems. */
async function inspect(): Promise<BookSnapshot> {
  const snapshot = await readSnapshot(await dataFolder.database());
  const problems = [
    ...load.unexpectedResults,
    ...problemsOf(snapshot),
    ...replyProblems(snapshot, load.requests),
  ];
  expect(problems.slice(0, 20)).toEqual([]);
  return snapshot;
}

/** Waits for a random time, and then at most 10 s longer for `MIN_REPLIES` replies. */
async function waitUnderLoad(): Promise<void> {
  const countBefore = load.replyCount;
  await sleep(200 + 800 * chance());
  for (
    let waitedMs = 0;
    load.replyCount < countBefore + MIN_REPLIES && waitedMs < 10_000;
    waitedMs += 5
  )
    await sleep(5);
}

/** Restarts the server, sometimes with another kill during the start. */
async function restart(): Promise<void> {
  if (chance() < KILLED_ON_START_SHARE) {
    const earlyProcess = dataFolder.launch(flags, QUIET_ENV);
    await sleep(800 * chance());
    await dataFolder.kill(earlyProcess, chance() < 0.5 ? 'node' : 'both');
  }
  server = await dataFolder.start(flags, QUIET_ENV);
}

/** Bodies by event ID. Checks that every request is signed and every repetition is equal. */
function receivedDeliveries(): Map<string, string> {
  const key = createPublicKey(server.credentials.webhookPublicKey);
  const bodies = new Map<string, string>();
  for (const { id, body, headers } of receiver.arrivals) {
    const signature = Buffer.from(headers['x-service-signature'] ?? '', 'base64');
    if (!verify('sha256', Buffer.from(body), key, signature))
      throw new Error(`${id}: the signature is invalid`);
    expect(headers['webhook-id']).toBe(id);
    const firstBody = bodies.get(id);
    if (firstBody !== undefined) expect(body).toBe(firstBody);
    bodies.set(id, body);
  }
  return bodies;
}

/** Tests a server with this number of processes. */
export function testKilledServer(processCount: number): void {
  let hasFailed = false;

  beforeAll(async () => {
    flags = ['--processes', String(processCount)];
    rejectedIds.clear();
    await startLoad();
  }, 120_000);

  afterAll(async () => {
    load?.allowFailures();
    await dataFolder?.remove();
    await receiver?.close();
  }, 60_000);

  /**
   * After a failure the remaining tests are skipped, because they would report the same failure.
   */
  beforeEach((context) => context.skip(hasFailed, 'skipped after a failure'));
  afterEach((context) => {
    hasFailed ||= context.task.result?.state === 'fail';
  });

  describe(`a server killed under load (processes: ${processCount}, CRASH_SEED=${SEED})`, () => {
    it(
      `matches the replies to its clients after each of ${KILL_COUNT} kills`,
      async () => {
        for (let kill = 0; kill < KILL_COUNT; kill++) {
          load.hasSlowPayments = kill < KILL_COUNT / 2;
          load.open(server);
          await waitUnderLoad();
          load.allowFailures();
          await dataFolder.kill(server.child, kill % 2 === 0 ? 'node' : 'both');
          await load.waitUntilIdle();
          await restart();
          await inspect();
        }
        load.open(server);
        await load.finish();
        // Without interrupted requests, the run would not test the recovery.
        expect(load.lostCount).toBeGreaterThan(0);
        expect(load.requests.filter((request) => !request.response)).toEqual([]);
      },
      60_000 + KILL_COUNT * 20_000,
    );

    it(
      'matches the replies to its clients after a kill during webhook deliveries',
      async () => {
        for (const target of ['node', 'both'] as const) {
          const countBefore = receiver.arrivals.length;
          for (let waitedMs = 0; waitedMs < SILENCE_MS; waitedMs += 5) {
            if (receiver.arrivals.length > countBefore + 20) break;
            await sleep(5);
          }
          await dataFolder.kill(server.child, target);
          server = await dataFolder.start(flags, QUIET_ENV);
          await inspect();
        }
      },
      3 * SILENCE_MS,
    );

    it(
      'continues all pending work',
      async () => {
        const url = await dataFolder.database();
        let pendingCounts = await countPending(url);
        for (
          let waitedMs = 0;
          pendingCounts.jobs + pendingCounts.events > 0 && waitedMs < SETTLE_MS;
          waitedMs += 200
        ) {
          await sleep(200);
          pendingCounts = await countPending(url);
        }
        expect(pendingCounts).toEqual({ jobs: 0, events: 0 });
        const snapshot = await inspect();
        const openPayments = snapshot.payments.filter(({ status, refund }) => {
          return status === 'PROCESSING' || refund === 'PENDING';
        });
        expect(openPayments).toEqual([]);
        for (const { id, status } of snapshot.payments.slice(-50)) {
          expect((await callOrThrow(server, 'GET', `/transactions/${id}`)).status).toBe(status);
        }
      },
      SETTLE_MS + 30_000,
    );

    it('has delivered every event, signed, with the same bytes each time', async () => {
      const snapshot = await readSnapshot(await dataFolder.database());
      const bodies = receivedDeliveries();
      const undeliveredEvents = snapshot.events.filter(
        (event) => !event.delivered || !bodies.has(event.id),
      );
      expect(undeliveredEvents.map(({ id, type, subject }) => `${id} ${type} ${subject}`)).toEqual(
        [],
      );
      const events = new Map(snapshot.events.map((event) => [event.id, event]));
      for (const [id, body] of bodies) {
        const event = events.get(id);
        const reportedEvent = JSON.parse(body) as { type: string; data: unknown };
        // Every delivered event was committed.
        expect(reportedEvent.type).toBe(event?.type);
        // Encrypted values can be decrypted by the server alone.
        if (event?.sealed) expect(reportedEvent.data).toMatchObject({ id: event.subject });
        else if (event?.balance === null)
          expect(reportedEvent.data).toEqual(JSON.parse(completeEventData(event.data, event.base)));
      }
      // Every account with events has an event with its current balance.
      const balanceKeys = new Set(
        snapshot.events.map((event) => `${event.account} ${event.balance} ${event.held}`),
      );
      const accountsWithEvents = new Set(snapshot.events.map((event) => event.account));
      const accountsWithoutCurrentEvent = snapshot.accounts.filter(
        ({ id, balance, held }) =>
          accountsWithEvents.has(id) && !balanceKeys.has(`${id} ${balance} ${held}`),
      );
      expect(accountsWithoutCurrentEvent).toEqual([]);
      const repeatedCount = receiver.arrivals.length - bodies.size - rejectedIds.size;
      expect(repeatedCount).toBeGreaterThan(0);
      const paymentCount = snapshot.payments.length;
      console.info(
        `${KILL_COUNT} kills (CRASH_SEED=${SEED}): ${load.requests.length} requests, ` +
          `${load.lostCount} of them without a reply, ` +
          `${paymentCount} payments, ${bodies.size} events, ${repeatedCount} of them repeated.`,
      );
    }, 60_000);

    it("passes the operator's ledger verification", async () => {
      const file = path.join(projectRoot(), 'server', 'bin', 'railhead-server.js');
      const args = [file, 'ledger', 'verify', '--json', '--data-dir', dataFolder.dir];
      const text = await new Promise<string>((resolve, reject) => {
        execFile(process.execPath, args, (error, stdout) =>
          error ? reject(error) : resolve(stdout),
        );
      });
      expect(JSON.parse(text)).toMatchObject({ balanced: true, problems: [] });
    }, 60_000);

    it('stops cleanly without a remaining process', async () => {
      server.child.kill('SIGTERM');
      expect(await dataFolder.waitForExit(server.child)).toMatchObject({ code: 0, signal: null });
      expect(await dataFolder.remainingProcesses()).toEqual([]);
    }, 60_000);
  });
}
