// Row 16: requests of operators and clients, with a small and with a large number of payments. The
// peer of every row but 16e is a server on the small database, because time and memory must not
// grow with the payments. The peer of 16e is a minimal Fastify route that sends the statements of
// the same page through `pg`.
import { transactions } from '../../../../server/src/features/payments/transactions/store.ts';
import { stepSql } from '../../../../server/src/runtime/db/steps.ts';
import type { Bench } from '../../machine/bench.ts';
import { startWorker, type Worker } from '../../machine/children.ts';
import { databaseUrl } from '../../machine/cluster.ts';
import type { ListOptions } from '../../processes/bare-process.ts';
import type { Load } from '../../processes/load-process.ts';
import type { ProbeOptions, ProbeRun } from '../../processes/probe-process.ts';
import { alternate, printProgress, type Row, sideOf } from '../../table/row.ts';
import { median, type Run } from '../../table/stats.ts';
import { type OperatorServer, startOperatorServer } from './setup.ts';
import { sizeRows } from './size-rows.ts';

const SMALL = 10_000;
/** Number of payments without `--payments`. */
const LARGE = 200_000;
/** Maximum quotient of the times at both numbers of payments. */
const MAX_GROWTH = 1.2;
const CONNECTIONS = 16;
const PATH = '/operator/v1/payments?limit=20';
/**
 * Maximum measured seconds of each run, which limit the duration of the row. With `--payments`, the
 * duration of other rows applies.
 */
const SECONDS = 2;

const KINDS = [
  { id: '16a', kind: 'lists', label: 'operator lists, every filter', maximum: MAX_GROWTH },
  { id: '16b', kind: 'search', label: 'operator search', maximum: MAX_GROWTH },
  { id: '16c', kind: 'sums', label: 'sums of payments for charts', maximum: MAX_GROWTH },
  {
    id: '16d',
    kind: 'rare',
    label: 'operator lists, filters that match few rows',
    maximum: undefined,
  },
  {
    id: '16f',
    kind: 'platforms',
    label: 'overview and sums of several platforms',
    maximum: MAX_GROWTH,
  },
  { id: '16g', kind: 'client', label: 'payment and lists of clients', maximum: MAX_GROWTH },
  {
    id: '16h',
    kind: 'rareOfClient',
    label: 'lists of clients, filters that match few rows',
    maximum: undefined,
  },
  { id: '16i', kind: 'execute', label: 'create and execute a quote', maximum: MAX_GROWTH },
] as const;

const countText = (payments: number) => payments.toLocaleString('en-US');

const secondsOf = ({ payments, settings: { seconds } }: Bench) =>
  payments === undefined ? Math.min(seconds, SECONDS) : seconds;

/** Prints both sides of every request, which the table shows as one row. */
function printLatencies(
  smallRuns: readonly Run[],
  largeRuns: readonly Run[],
  sizes: [number, number],
): void {
  const latencyOf = (runs: readonly Run[], name: string) => {
    const probeRuns = runs.map((run) => (run as ProbeRun).byProbe[name] as Run);
    const [p50, p99] = [probeRuns.map((run) => run.p50), probeRuns.map((run) => run.p99)].map(
      median,
    );
    return `${p50?.toFixed(1)} (p99 ${p99?.toFixed(1)})`;
  };
  printProgress(`milliseconds at ${sizes.map(countText).join(' and at ')} payments:`);
  for (const name of Object.keys((smallRuns[0] as ProbeRun).byProbe)) {
    printProgress(`  ${name}: ${latencyOf(smallRuns, name)}, ${latencyOf(largeRuns, name)}`);
  }
}

/** Milliseconds of a run, as the median of its requests. */
function latencySide(name: string, runs: readonly Run[]) {
  const side = sideOf(name, runs);
  return { ...side, values: side.p50 };
}

/** Latencies at both sizes. A server that is not measured is suspended. */
async function growthRows(
  bench: Bench,
  probe: Worker,
  servers: Record<'small' | 'large', OperatorServer>,
): Promise<Row[]> {
  const { rounds, warmupMs } = bench.settings;
  const { small, large } = servers;
  const seconds = secondsOf(bench);
  const measure = async (server: OperatorServer, kind: (typeof KINDS)[number]['kind']) => {
    const { port, authorization, probes, process } = server;
    const idleServer = server === small ? large : small;
    idleServer.process.pause();
    process.resume();
    const options: ProbeOptions = {
      ...{ port, authorization, warmupMs, seconds, probes: probes[kind] },
    };
    const run = await probe.call<ProbeRun>('probe', options);
    idleServer.process.resume();
    return run;
  };
  const rows: Row[] = [];
  for (const { id, kind, label, maximum } of KINDS) {
    const runs = await alternate(
      {
        [`${kind}, small`]: () => measure(small, kind),
        [`${kind}, large`]: () => measure(large, kind),
      },
      rounds,
    );
    const [smallRuns, largeRuns] = [
      runs[`${kind}, small`] as Run[],
      runs[`${kind}, large`] as Run[],
    ];
    printLatencies(smallRuns, largeRuns, [small.payments, large.payments]);
    rows.push({
      ...{ id, label, unit: 'ms', slowdown: { maximum } },
      railhead: latencySide(`${countText(large.payments)} payments`, largeRuns),
      peer: latencySide(`${countText(small.payments)} payments`, smallRuns),
    });
  }
  return rows;
}

/** Pages per second at the large size, compared with the bare statements of the same page. */
async function pageRow(bench: Bench, server: OperatorServer): Promise<Row> {
  const { rounds, warmupMs } = bench.settings;
  const { cluster } = bench;
  const query = { scope: [], resources: [], filters: [], limit: 20 };
  // The server also reads the IDs of card payments as a separate range.
  const statements = ['Transaction', 'CardTransaction'].map((resource) =>
    stepSql(transactions, query, { resource, after: undefined, length: 21, limit: 21 }),
  );
  const options: ListOptions = {
    ...{ url: databaseUrl(cluster.url, server.database), poolSize: CONNECTIONS },
    ...{ path: '/operator/v1/payments', statements },
  };
  const bareServer = startWorker('bare');
  const barePort = await bareServer.call<number>('listenWithRows', options);
  const load = startWorker('load');
  const read = (port: number) =>
    load.call<Run>('run', {
      ...{ port, connections: CONNECTIONS, warmupMs, seconds: secondsOf(bench) },
      ...{
        method: 'GET',
        paths: [PATH],
        isSinglePass: false,
        hasIdempotencyKeys: false,
        status: 200,
      },
      authorization: server.authorization,
    } satisfies Load);
  const runs = await alternate(
    {
      'page of payments, railhead': () => read(server.port),
      'page of payments, bare Fastify': () => read(barePort),
    },
    rounds,
  );
  for (const child of [load, bareServer]) await child.stop();
  return {
    ...{ id: '16e', label: 'GET /payments of operators, a page of 20', unit: '/s' },
    railhead: sideOf(`server, ${CONNECTIONS} connections`, runs['page of payments, railhead']),
    peer: sideOf(`bare Fastify and pg, ${CONNECTIONS}`, runs['page of payments, bare Fastify']),
  };
}

export async function operatorListRows(bench: Bench): Promise<Row[]> {
  const { payments = LARGE, quick } = bench;
  const largeServer = await startOperatorServer(
    bench,
    'large',
    quick ? Math.min(payments, 50_000) : payments,
  );
  const smallServer = await startOperatorServer(bench, 'small', SMALL);
  const probe = startWorker('probe');
  const rows = await growthRows(bench, probe, { small: smallServer, large: largeServer });
  await probe.stop();
  const sizes = await sizeRows(bench, { small: smallServer, large: largeServer }, MAX_GROWTH);
  await smallServer.process.stop();
  const row = await pageRow(bench, largeServer);
  await largeServer.process.stop();
  return [...rows, row, ...sizes];
}
