// Rows about executing quotes beyond throughput: latency at half of the saturated rate, bytes on
// disk, and processor time with several processes. They run on the database of the execute rows.
import path from 'node:path';
import { DATABASE, PEER_DATABASE, startServer } from '../machine/api.ts';
import type { Api, Bench } from '../machine/bench.ts';
import { type Child, startWorker } from '../machine/children.ts';
import { databaseUrl } from '../machine/cluster.ts';
import { familyOf } from '../machine/proc.ts';
import { note, type Row, type Side, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';
import {
  differences,
  executedIn,
  executor,
  type Kind,
  type Parts,
  preparePeer,
} from './execute-row.ts';

const CONNECTIONS = 256;

/** Time limit for executing a number of quotes. */
const LONG_S = 60;

/** A server on the database of the bench, while the shared one has ended. */
async function startOn(bench: Bench, args: readonly string[] = []): Promise<Api> {
  const shared = await bench.api();
  await shared.process.stop();
  // The receiver of the execute rows has ended.
  await bench.cluster.rows(DATABASE, 'update platforms set webhook_endpoint = null');
  const url = databaseUrl(bench.cluster.url, DATABASE);
  const dataDir = path.join(bench.scratch, 'server');
  const log = path.join(bench.scratch, 'load.log');
  const all = ['--database-url', url, '--data-dir', dataDir, ...args];
  return { ...shared, ...(await startServer(bench, all, { log })) };
}

/** Quotes executed per process before measuring: the first ones take several times as long. */
const WARM = 4_000;

const groupsOf = (bench: Bench, server: Child, peer?: Child) => ({
  server: () => familyOf(server.pid),
  PostgreSQL: () => familyOf(bench.cluster.pid),
  ...(peer ? { interactive: () => [peer.pid] } : {}),
});

const sizeOf = (values: number[], name: string, errors: number): Side => ({
  name,
  values,
  p50: [],
  p99: [],
  errors,
});

/** Open-loop latency of both sides, each at half of what it reached with closed load. */
export async function latencyRows(bench: Bench): Promise<Row[]> {
  const { rounds, seconds, tryS } = bench.settings;
  const api = await startOn(bench);
  const load = startWorker('load');
  const worker = startWorker('peer');
  const parts: Parts = { bench, api, load, groups: groupsOf(bench, api.process, worker) };
  const ours = executor(parts, DATABASE);
  const peer = await preparePeer(parts, worker);
  const before = await executedIn(bench, DATABASE);
  await ours.run('convert', api.port, CONNECTIONS, LONG_S, { count: WARM });
  const fastest = await ours.run('convert', api.port, CONNECTIONS, tryS);
  const peerFastest = await peer.run('convert');
  const runs = { ours: [] as Run[], peer: [] as Run[] };
  for (let round = 1; round <= rounds; round++) {
    const half = fastest.perSecond / 2;
    runs.ours.push(await ours.run('convert', api.port, CONNECTIONS, seconds, { perSecond: half }));
    runs.peer.push(await peer.run('convert', { perSecond: peerFastest.perSecond / 2 }));
    const shown = [runs.ours.at(-1), runs.peer.at(-1)].map((run) => run?.p99.toFixed(1));
    note(`round ${round}, open loop, p99 in ms, ours and the peer: ${shown.join(', ')}`);
  }
  for (const child of [load, worker, api.process]) await child.stop();
  const errors = await differences(bench, DATABASE, before + ours.done());
  const side = (name: string, of: Run[], more = 0): Side => {
    const made = sideOf(name, of);
    return { ...made, values: made.p99, errors: made.errors + more };
  };
  return [
    {
      id: '12',
      what: 'p99 of execute at half of the saturated rate, open loop',
      unit: 'ms',
      ours: side(`server, ${(fastest.perSecond / 2).toFixed(0)}/s`, runs.ours, errors),
      peer: side(`interactive, ${(peerFastest.perSecond / 2).toFixed(0)}/s`, runs.peer),
      target: 4,
    },
  ];
}

const PROCESSES = [1, 2, 4];
/** Processor time varies least of all figures, so short runs suffice. */
const COST_S = 5;
const KINDS = { a: 'convert', b: 'hot' } as const;

interface Costs {
  /** Processor time of each execute, microseconds, one value per round. */
  us: number[];
  perSecond: number[];
  errors: number;
}

const costsKey = (kind: Kind, processes: number) => `${kind} ${processes}`;

/** Processor time for each execute of every kind with a number of processes. */
async function costsWith(bench: Bench, processes: number, into: Map<string, Costs>) {
  const { rounds, seconds } = bench.settings;
  const api = await startOn(bench, ['--processes', `${processes}`]);
  const load = startWorker('load');
  const before = await executedIn(bench, DATABASE);
  const ours = executor({ bench, api, load, groups: groupsOf(bench, api.process) }, DATABASE);
  await ours.run('convert', api.port, CONNECTIONS, LONG_S, { count: WARM * processes });
  const made = Object.values(KINDS).map((kind) => {
    const costs: Costs = { us: [], perSecond: [], errors: 0 };
    into.set(costsKey(kind, processes), costs);
    return { kind, costs };
  });
  for (let round = 1; round <= rounds; round++) {
    for (const { kind, costs } of made) {
      const run = await ours.run(kind, api.port, CONNECTIONS, Math.min(COST_S, seconds));
      costs.us.push(ours.each('server') + ours.each('PostgreSQL'));
      costs.perSecond.push(run.perSecond);
      const rate = `${run.perSecond.toFixed(0)}/s, ${run.errors} errors`;
      const us = costs.us.at(-1)?.toFixed(0);
      note(`round ${round}, ${kind}, ${processes} processes: ${us} µs each, ${rate}`);
    }
  }
  for (const child of [load, api.process]) await child.stop();
  const errors = await differences(bench, DATABASE, before + ours.done());
  for (const { costs } of made) costs.errors = errors;
}

export async function processRows(bench: Bench): Promise<Row[]> {
  const found = new Map<string, Costs>();
  for (const processes of PROCESSES) await costsWith(bench, processes, found);
  return Object.entries(KINDS).flatMap(([letter, kind]) => {
    const at = (processes: number) => found.get(costsKey(kind, processes)) as Costs;
    const side = (processes: number) =>
      sizeOf(at(processes).us, `${processes} processes`, at(processes).errors);
    const rateOf = (n: number) => at(n).perSecond.map((each) => each.toFixed(0));
    const rates = PROCESSES.map((n) => `${n}: ${rateOf(n).join(', ')}`);
    return [2, 4].map(
      (processes, more): Row => ({
        id: `13${letter}${more + 1}`,
        what: `processor time of an execute, ${kind === 'hot' ? 'one hot source' : 'spread'}`,
        unit: 'µs',
        ours: side(processes),
        peer: side(1),
        slowdown: { most: 1.2 },
        remark: more ? `per second with processes ${rates.join('; ')}` : undefined,
      }),
    );
  });
}

const SIZES = `select relname as name, pg_total_relation_size(oid)::float8 as bytes from pg_class
  where relkind = 'r' and relnamespace = 'public'::regnamespace`;

async function sizesOf(bench: Bench, database: string): Promise<Map<string, number>> {
  const rows = await bench.cluster.rows<{ name: string; bytes: number }>(database, SIZES);
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

/** Growth of each table while `run` executes quotes, in bytes for each execute, largest first. */
async function growth(bench: Bench, database: string, run: () => Promise<Run>) {
  // Free space of earlier runs would hide what is written.
  await bench.cluster.rows(database, 'vacuum full transactions, quotes, ledger_accounts');
  const before = await sizesOf(bench, database);
  const { done, errors } = await run();
  const after = await sizesOf(bench, database);
  const each = [...after]
    .map(([name, bytes]) => ({ name, bytes: (bytes - (before.get(name) ?? 0)) / done }))
    .filter(({ bytes }) => bytes >= 1)
    .sort((a, b) => b.bytes - a.bytes);
  return { each, total: each.reduce((sum, { bytes }) => sum + bytes, 0), errors };
}

/**
 * Bytes on disk of a payment between own accounts: the quote and its transaction, five events, the
 * transfers and the idempotency record, with indexes.
 */
export async function bytesRows(bench: Bench): Promise<Row[]> {
  const api = await startOn(bench);
  const load = startWorker('load');
  const worker = startWorker('peer');
  const parts: Parts = { bench, api, load, groups: groupsOf(bench, api.process, worker) };
  const peer = await preparePeer(parts, worker);
  const { run } = executor(parts, DATABASE);
  const count = bench.quick ? 2_000 : 20_000;
  const ours = await growth(bench, DATABASE, () =>
    run('convert', api.port, CONNECTIONS, LONG_S, { count }),
  );
  // As many as it can in its time; the rest of its quotes is hardly used up.
  const theirs = await growth(bench, PEER_DATABASE, () => peer.run('convert', { count: 2_000 }));
  for (const child of [load, worker, api.process]) await child.stop();
  const tables = ours.each.map(({ name, bytes }) => `${name} ${bytes.toFixed(0)}`);
  const requests = ours.each.filter(({ name }) => name.startsWith('api_request'));
  const requestBytes = requests.reduce((sum, { bytes }) => sum + bytes, 0);
  const peerSide = sizeOf([theirs.total], 'interactive', theirs.errors);
  return [
    {
      id: '14a',
      what: 'bytes on disk of an executed quote',
      unit: 'B',
      ours: sizeOf([ours.total - requestBytes], 'server', ours.errors),
      peer: peerSide,
      maxOurs: 8_000,
      remark: `by table: ${tables.join(', ')}`,
    },
    {
      id: '14b',
      what: 'the same with its recorded request',
      unit: 'B',
      ours: sizeOf([ours.total], 'server', ours.errors),
      peer: peerSide,
    },
  ];
}
