// A cluster under load. A test causes a failure, waits until payments succeed again, and compares
// the database with all acknowledged requests.
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { expect } from 'vitest';
import { replyProblems } from '../crash/audit.ts';
import { type BookSnapshot, countPending, problemsOf, readSnapshot } from '../crash/books.ts';
import { callOrThrow, createLoad, type Load } from '../crash/load.ts';
import { type Receiver, startReceiver } from '../http/webhook-receiver.ts';
import { type Cluster, startCluster } from './cluster.ts';
import { createNamespaces } from './network.ts';
import { waitUntil } from './processes.ts';
import { createServers, type ServerProcess, serverAtProxy } from './servers.ts';

/** An outage after a failure. */
interface Outage {
  kind: string;
  /** Time until payments succeeded again. 0 if no gap was longer than under normal load. */
  outageMs: number;
  load: string;
}

export interface ClusterUnderLoad {
  readonly cluster: Cluster;
  readonly servers: readonly ServerProcess[];
  readonly load: Load;
  /**
   * Performs the action, and waits until payments succeed again, at least `watchMs`. Returns the
   * duration of the outage in milliseconds.
   */
  disrupt(kind: string, action: () => Promise<unknown>, watchMs?: number): Promise<number>;
  /** Compares the database with the replies. Fails with the first differences. */
  audit(): Promise<BookSnapshot>;
  /**
   * Stops the load, waits for the completion of all jobs and deliveries, and audits the database.
   */
  finish(): Promise<void>;
  stop(): Promise<void>;
}

interface Options {
  namespaces?: boolean;
  dataFolders?: Readonly<Record<number, string>>;
  seed?: number;
}

const SERVER_SETTINGS = {
  LOG_LEVEL: 'error',
  RAILHEAD_RATE_LIMIT: '0',
  RAILHEAD_RATE_LIMIT_QUOTES: '0',
};
const CLIENT_COUNT = 6;
const CUSTOMER_COUNT = 4;
const STEADY_MS = 200;
const MAX_OUTAGE_MS = 180_000;
const MAX_WORK_MS = 240_000;
/** Longest gap between payments that normal load can cause. */
const NORMAL_GAP_MS = 1_000;

const outages: Outage[] = [];

/** Summarizes the outages that this process measured, one line per kind of failure. */
export function outageLines(): string[] {
  const kinds = [...new Set(outages.map(({ kind }) => kind))];
  return kinds.map((kind) => {
    const matchingOutages = outages.filter((outage) => outage.kind === kind);
    const times = matchingOutages.map(({ outageMs }) => outageMs).sort((a, b) => a - b);
    const seconds = (ms = 0) => (ms / 1_000).toFixed(1);
    const median = times[Math.floor(times.length / 2)];
    const range = `${seconds(times[0])} to ${seconds(times.at(-1))} s, median ${seconds(median)} s`;
    const loads = matchingOutages.map(({ load }) => load).join(' ');
    return `${kind}: ${times.length} times, ${range} (load average ${loads})`;
  });
}

/** Records the times of successful replies. */
function createSuccessLog() {
  const times: number[] = [];
  return {
    record(status: number): void {
      if (status < 300) times.push(performance.now());
    },
    since: (fromMs: number) => times.filter((time) => time > fromMs),
    /** Returns the end and the length of the longest gap after a time. */
    longestGap(fromMs: number): { endMs: number; lengthMs: number } {
      let previousMs = fromMs;
      let longestGap = { endMs: fromMs, lengthMs: 0 };
      for (const time of [...times.filter((time) => time > fromMs), performance.now()]) {
        if (time - previousMs > longestGap.lengthMs)
          longestGap = { endMs: time, lengthMs: time - previousMs };
        previousMs = time;
      }
      return longestGap;
    },
  };
}

/** Describes the state of the cluster for the message of a failed test. */
async function describeState(cluster: Cluster, servers: readonly ServerProcess[]): Promise<string> {
  const members = await cluster.members();
  const readyServers = await Promise.all(
    servers.map(({ port }) =>
      fetch(`http://127.0.0.1:${port}/readyz`, { signal: AbortSignal.timeout(3_000) }).then(
        (reply) => reply.text(),
        String,
      ),
    ),
  );
  const activity = await activityOf(cluster).catch(String);
  const logs = cluster.nodes.map(({ name, log }) => `${name}: ${lastLines(log)}`);
  const output = servers.map(({ name, output: text }) => `${name}: ${text().slice(-2_000)}`);
  return [JSON.stringify(members), ...readyServers, activity, ...output, ...logs].join('\n');
}

const lastLines = (file: string) => fs.readFileSync(file, 'utf8').split('\n').slice(-15).join('\n');

async function activityOf({ url }: Cluster): Promise<string> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 3_000 });
  client.on('error', () => undefined);
  await client.connect();
  const { rows } = await client.query(`select application_name, state, wait_event, count(*)::int,
    max(left(query, 60)) as query from pg_stat_activity group by 1, 2, 3`);
  await client.end();
  return JSON.stringify(rows);
}

async function startLoad(
  cluster: Cluster,
  firstServer: ServerProcess,
  receiver: Receiver,
  seed: number,
) {
  const runningServer = firstServer.running();
  if (!runningServer) throw new Error('the first server is not running');
  const server = serverAtProxy(runningServer, cluster);
  await waitUntil('HAProxy with a ready server', async () => {
    return fetch(`${server.origin}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  });
  await callOrThrow(server, 'PATCH', '/config', { webhookEndpoint: receiver.url });
  const successes = createSuccessLog();
  const load = await createLoad(server, {
    ...{
      seed,
      clients: CLIENT_COUNT,
      people: CUSTOMER_COUNT,
      toleratesFailures: true,
      steadyMs: STEADY_MS,
    },
    onReply: successes.record,
  });
  load.hasSlowPayments = false;
  load.open(server);
  return { load, successes };
}

/**
 * Reads the rows of the primary. The read is repeated, because HAProxy closes the connections to a
 * former primary.
 */
async function readPrimary(url: string): Promise<BookSnapshot> {
  for (let attemptsLeft = 3; ; attemptsLeft--) {
    try {
      return await readSnapshot(url);
    } catch (error) {
      if (attemptsLeft === 1) throw error;
      await sleep(2_000);
    }
  }
}

/** Waits until all jobs are complete and all events are delivered. */
async function waitForWork(url: string): Promise<void> {
  await waitUntil(
    'the completion of all work',
    async () => {
      const { jobs, events } = await countPending(url);
      return jobs === 0 && events === 0;
    },
    MAX_WORK_MS,
  );
}

/** Starts a cluster, two servers, and clients that pay until `finish`. */
export async function startClusterUnderLoad(options: Options = {}): Promise<ClusterUnderLoad> {
  const { namespaces = false, dataFolders = {}, seed = 1 } = options;
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-cluster-'));
  const network = namespaces ? { network: createNamespaces(3) } : {};
  const cluster = await startCluster({ folder, dataFolders, ...network });
  const servers = createServers(cluster, SERVER_SETTINGS);
  const receiver = await startReceiver();

  async function stop(): Promise<void> {
    await Promise.all(servers.map((server) => server.remove()));
    await receiver.close();
    await cluster.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }

  async function begin() {
    try {
      // The servers start one at a time, because the first applies the migrations.
      for (const server of servers) await server.start();
      return await startLoad(cluster, servers[0] as ServerProcess, receiver, seed);
    } catch (error) {
      await stop();
      throw error;
    }
  }

  const { load, successes } = await begin();

  async function audit(): Promise<BookSnapshot> {
    const answeredRequests = new Set(
      load.requests.filter((request) => request.response !== undefined),
    );
    const snapshot = await readPrimary(cluster.url);
    const problems = [
      ...load.unexpectedResults,
      ...problemsOf(snapshot),
      ...replyProblems(snapshot, load.requests, (request) => answeredRequests.has(request)),
    ];
    expect(problems.slice(0, 20)).toEqual([]);
    return snapshot;
  }

  return {
    ...{ cluster, servers, load, audit, stop },
    async disrupt(kind, action, watchMs = 8_000) {
      const startMs = performance.now();
      await action();
      await sleep(watchMs);
      try {
        await waitUntil(
          `payments after: ${kind}`,
          () => successes.since(performance.now() - 2_000).length >= 3,
          MAX_OUTAGE_MS,
        );
      } catch (cause) {
        throw new Error(await describeState(cluster, servers), { cause });
      }
      const { endMs, lengthMs } = successes.longestGap(startMs);
      const outageMs = lengthMs < NORMAL_GAP_MS ? 0 : endMs - startMs;
      outages.push({ kind, outageMs, load: os.loadavg()[0]?.toFixed(1) ?? '' });
      return outageMs;
    },
    async finish() {
      await load.finish();
      expect(load.requests.filter((request) => !request.response)).toEqual([]);
      await waitForWork(cluster.url);
      // A quote may expire after the snapshot, which emits an event.
      const earlierIds = new Set(receiver.arrivals.map(({ id }) => id));
      const snapshot = await audit();
      const receivedIds = new Set(receiver.arrivals.map(({ id }) => id));
      const undeliveredEvents = snapshot.events.filter(
        (event) => !event.delivered || !receivedIds.has(event.id),
      );
      expect(undeliveredEvents.map(({ id, type }) => `${id} ${type}`)).toEqual([]);
      // Every delivered event was committed.
      const storedIds = new Set(snapshot.events.map(({ id }) => id));
      expect([...earlierIds].filter((id) => !storedIds.has(id))).toEqual([]);
      const acknowledgedRequests = load.requests.filter(
        (request) => (request.response?.status ?? 500) < 300,
      );
      console.info(
        `${load.requests.length} requests, ${acknowledgedRequests.length} acknowledged, ` +
          `${load.lostCount} attempts without a reply, ${snapshot.payments.length} payments, ` +
          `${snapshot.events.length} events. No event is missing or duplicated.`,
      );
    },
    stop,
  };
}
