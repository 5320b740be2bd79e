// Further rows about executing quotes: latency at half of the maximum rate, bytes on disk, and processor
// time with several processes. All use the database of the execute rows.
import path from 'node:path';
import { DATABASE, PEER_DATABASE, startServer } from '../machine/api.ts';
import type { Api, Bench } from '../machine/bench.ts';
import { type Child, startWorker } from '../machine/children.ts';
import { databaseUrl } from '../machine/cluster.ts';
import { familyOf } from '../machine/proc.ts';
import { printProgress, type Row, type Side, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';
import {
  countExecuted,
  differences,
  executor,
  type Kind,
  preparePeer,
  type RowContext,
} from './execute-row.ts';

const CONNECTIONS = 256;

/** Time limit for executing a number of quotes. */
const LONG_S = 60;

/** Stops the shared server and starts another one on its database. */
export async function restartServer(
  bench: Bench,
  args: readonly string[] = [],
  env: NodeJS.ProcessEnv = {},
): Promise<Api> {
  const sharedServer = await bench.api();
  await sharedServer.process.stop();
  // The receiver of the execute rows has exited.
  await bench.cluster.rows(DATABASE, 'update platforms set webhook_endpoint = null');
  const url = databaseUrl(bench.cluster.url, DATABASE);
  const dataDir = path.join(bench.scratch, 'server');
  const log = path.join(bench.scratch, 'load.log');
  const serverArgs = ['--database-url', url, '--data-dir', dataDir, ...args];
  return { ...sharedServer, ...(await startServer(bench, serverArgs, { log, env })) };
}

/**
 * Number of quotes executed per process before the measurement. The first quotes have several times the
 * latency.
 */
export const WARM_UP_QUOTES = 4_000;

const groupsOf = (bench: Bench, server: Child, peer?: Child) => ({
  server: () => familyOf(server.pid),
  PostgreSQL: () => familyOf(bench.cluster.pid),
  ...(peer ? { interactive: () => [peer.pid] } : {}),
});

const sideWith = (values: number[], name: string, errors: number): Side => ({
  name,
  values,
  p50: [],
  p99: [],
  errors,
});

/** Open-loop latency of both sides, each at half of its rate under closed load. */
export async function latencyRows(bench: Bench): Promise<Row[]> {
  const { rounds, seconds, tuningSeconds } = bench.settings;
  const api = await restartServer(bench);
  const load = startWorker('load');
  const worker = startWorker('peer');
  const context: RowContext = { bench, api, load, groups: groupsOf(bench, api.process, worker) };
  const server = executor(context, DATABASE);
  const peer = await preparePeer(context, worker);
  const executedBefore = await countExecuted(bench, DATABASE);
  await server.run('convert', api.port, CONNECTIONS, LONG_S, { count: WARM_UP_QUOTES });
  const serverRun = await server.run('convert', api.port, CONNECTIONS, tuningSeconds);
  const peerRun = await peer.run('convert');
  const runs = { railhead: [] as Run[], peer: [] as Run[] };
  for (let round = 1; round <= rounds; round++) {
    const halfRate = serverRun.perSecond / 2;
    runs.railhead.push(
      await server.run('convert', api.port, CONNECTIONS, seconds, { perSecond: halfRate }),
    );
    runs.peer.push(await peer.run('convert', { perSecond: peerRun.perSecond / 2 }));
    const latencies = [runs.railhead.at(-1), runs.peer.at(-1)].map((run) => run?.p99.toFixed(1));
    printProgress(
      `round ${round}, open loop, p99 in ms, railhead and the peer: ${latencies.join(', ')}`,
    );
  }
  for (const child of [load, worker, api.process]) await child.stop();
  const errors = await differences(bench, DATABASE, executedBefore + server.done());
  const side = (name: string, runs: Run[], errors = 0): Side => {
    const side = sideOf(name, runs);
    return { ...side, values: side.p99, errors: side.errors + errors };
  };
  return [
    {
      id: '12',
      label: 'p99 of execute at half of the saturated rate, open loop',
      unit: 'ms',
      railhead: side(`server, ${(serverRun.perSecond / 2).toFixed(0)}/s`, runs.railhead, errors),
      peer: side(`interactive, ${(peerRun.perSecond / 2).toFixed(0)}/s`, runs.peer),
      target: 4,
    },
  ];
}

const PROCESSES = [1, 2, 4];
/** Processor time varies less than the other figures, so short runs suffice. */
const COST_S = 5;
const KINDS = { a: 'convert', b: 'hot' } as const;

interface Costs {
  /** Processor time of each execution, in microseconds. One value per round. */
  us: number[];
  perSecond: number[];
  errors: number;
}

const costsKey = (kind: Kind, processCount: number) => `${kind} ${processCount}`;

/** Measures the processor time of an execution of each kind with a number of processes. */
async function measureCosts(bench: Bench, processCount: number, costsByKey: Map<string, Costs>) {
  const { rounds, seconds } = bench.settings;
  const api = await restartServer(bench, ['--processes', `${processCount}`]);
  const load = startWorker('load');
  const executedBefore = await countExecuted(bench, DATABASE);
  const server = executor({ bench, api, load, groups: groupsOf(bench, api.process) }, DATABASE);
  await server.run('convert', api.port, CONNECTIONS, LONG_S, {
    count: WARM_UP_QUOTES * processCount,
  });
  const kindRows = Object.values(KINDS).map((kind) => {
    const costs: Costs = { us: [], perSecond: [], errors: 0 };
    costsByKey.set(costsKey(kind, processCount), costs);
    return { kind, costs };
  });
  for (let round = 1; round <= rounds; round++) {
    for (const { kind, costs } of kindRows) {
      const run = await server.run(kind, api.port, CONNECTIONS, Math.min(COST_S, seconds));
      costs.us.push(server.usPerRequest('server') + server.usPerRequest('PostgreSQL'));
      costs.perSecond.push(run.perSecond);
      const rate = `${run.perSecond.toFixed(0)}/s, ${run.errors} errors`;
      const us = costs.us.at(-1)?.toFixed(0);
      printProgress(`round ${round}, ${kind}, ${processCount} processes: ${us} µs each, ${rate}`);
    }
  }
  for (const child of [load, api.process]) await child.stop();
  const errors = await differences(bench, DATABASE, executedBefore + server.done());
  for (const { costs } of kindRows) costs.errors = errors;
}

export async function processRows(bench: Bench): Promise<Row[]> {
  const costsByKey = new Map<string, Costs>();
  for (const processCount of PROCESSES) await measureCosts(bench, processCount, costsByKey);
  return Object.entries(KINDS).flatMap(([letter, kind]) => {
    const costsWithProcesses = (processCount: number) =>
      costsByKey.get(costsKey(kind, processCount)) as Costs;
    const side = (processCount: number) =>
      sideWith(
        costsWithProcesses(processCount).us,
        `${processCount} processes`,
        costsWithProcesses(processCount).errors,
      );
    const rateOf = (n: number) => costsWithProcesses(n).perSecond.map((rate) => rate.toFixed(0));
    const rates = PROCESSES.map((n) => `${n}: ${rateOf(n).join(', ')}`);
    return [2, 4].map(
      (processCount, index): Row => ({
        id: `13${letter}${index + 1}`,
        label: `processor time of an execution, ${kind === 'hot' ? 'one hot source' : 'spread'}`,
        unit: 'µs',
        railhead: side(processCount),
        peer: side(1),
        slowdown: { maximum: 1.2 },
        remark: index ? `per second by number of processes: ${rates.join('; ')}` : undefined,
      }),
    );
  });
}

// A partitioned table has the size of its partitions.
const SIZES = `select coalesce(p.relname, c.relname) as name,
    sum(pg_total_relation_size(c.oid))::float8 as bytes
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    left join pg_class p on p.oid = i.inhparent
  where c.relkind = 'r' and c.relnamespace = any (array['public', 'partitions']::regnamespace[])
  group by 1`;

/** Bytes of each table with its indexes. The bytes of a partition count for its table. */
export async function sizesOf(
  { cluster }: Pick<Bench, 'cluster'>,
  database: string,
): Promise<Map<string, number>> {
  const rows = await cluster.rows<{ name: string; bytes: number }>(database, SIZES);
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Current position in the write-ahead log, in bytes. */
export async function walBytes(
  { cluster }: Pick<Bench, 'cluster'>,
  database: string,
): Promise<number> {
  const text = "select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes";
  const [row] = await cluster.rows<{ bytes: number }>(database, text);
  return row?.bytes ?? 0;
}

/**
 * Growth of each table (largest first) and of the log while `run` executes quotes, in bytes per
 * quote.
 */
async function measureGrowth(bench: Bench, database: string, run: () => Promise<Run>) {
  // Free space of earlier runs would hide the growth.
  await bench.cluster.rows(database, 'vacuum full transactions, quotes, ledger_accounts');
  const sizesBefore = await sizesOf(bench, database);
  const walBefore = await walBytes(bench, database);
  const { completedCount, errors } = await run();
  const wal = ((await walBytes(bench, database)) - walBefore) / completedCount;
  const sizesAfter = await sizesOf(bench, database);
  const tables = [...sizesAfter]
    .map(([name, bytes]) => ({
      name,
      bytes: (bytes - (sizesBefore.get(name) ?? 0)) / completedCount,
    }))
    .filter(({ bytes }) => bytes >= 1)
    .sort((a, b) => b.bytes - a.bytes);
  return { tables, total: tables.reduce((sum, { bytes }) => sum + bytes, 0), wal, errors };
}

/**
 * Bytes on disk of a payment between own accounts: the quote and its transaction, five events, the
 * transfers and the idempotency record, with indexes.
 */
export async function bytesRows(bench: Bench): Promise<Row[]> {
  const api = await restartServer(bench);
  const load = startWorker('load');
  const worker = startWorker('peer');
  const context: RowContext = { bench, api, load, groups: groupsOf(bench, api.process, worker) };
  const peer = await preparePeer(context, worker);
  const { run } = executor(context, DATABASE);
  const count = bench.quick ? 2_000 : 20_000;
  const serverGrowth = await measureGrowth(bench, DATABASE, () =>
    run('convert', api.port, CONNECTIONS, LONG_S, { count }),
  );
  // Executes as many of the quotes as the time allows.
  const peerGrowth = await measureGrowth(bench, PEER_DATABASE, () =>
    peer.run('convert', { count: 2_000 }),
  );
  for (const child of [load, worker, api.process]) await child.stop();
  const tableTexts = serverGrowth.tables.map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`);
  const requests = serverGrowth.tables.filter(({ name }) => name.startsWith('api_request'));
  const requestBytes = requests.reduce((sum, { bytes }) => sum + bytes, 0);
  const peerSide = sideWith([peerGrowth.total], 'interactive', peerGrowth.errors);
  return [
    {
      id: '14a',
      label: 'bytes on disk of an executed quote',
      unit: 'B',
      railhead: sideWith([serverGrowth.total - requestBytes], 'server', serverGrowth.errors),
      peer: peerSide,
      maxValue: 8_000,
      remark: `by table: ${tableTexts.join(', ')}`,
    },
    {
      id: '14b',
      label: 'bytes on disk with the recorded request',
      unit: 'B',
      railhead: sideWith([serverGrowth.total], 'server', serverGrowth.errors),
      peer: peerSide,
    },
    {
      id: '14c',
      label: 'bytes of the log of an executed quote',
      unit: 'B',
      railhead: sideWith([serverGrowth.wal], 'server', serverGrowth.errors),
      peer: sideWith([peerGrowth.wal], 'interactive', peerGrowth.errors),
    },
  ];
}
