// `npm run bench`: measures every row together with its peer and prints one table. Progress is
// written to standard error. The environment, the table, remarks, times and missed targets are
// written to standard output.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { startApi } from './machine/api.ts';
import type { Api, Bench, BestPgbench } from './machine/bench.ts';
import { stopAll } from './machine/children.ts';
import { type Cluster, startCluster } from './machine/cluster.ts';
import { pgbenchVersion, preparePgbench } from './machine/pgbench.ts';
import { printStatements } from './machine/statements.ts';
import { blockingRows } from './rows/blocking-row.ts';
import { authorizeRows } from './rows/cards/authorize-row.ts';
import { cardMessageRows } from './rows/cards/card-message-rows.ts';
import { deliveryRows } from './rows/delivery-row.ts';
import { executeRows } from './rows/execute-row.ts';
import { fairnessRows } from './rows/fairness/fairness-row.ts';
import { importRows } from './rows/import-row.ts';
import { ledgerRows } from './rows/ledger-row.ts';
import { listRows } from './rows/list-row.ts';
import { bytesRows, latencyRows, processRows } from './rows/load-rows.ts';
import { operatorListRows } from './rows/operator/lists-row.ts';
import { readRows } from './rows/read-row.ts';
import { sdkRows } from './rows/sdk-row.ts';
import { stampRows } from './rows/stamp-row.ts';
import { startRows } from './rows/start-row.ts';
import { traceRows } from './rows/trace-row.ts';
import { FULL, printProgress, QUICK_SETTINGS, type Row } from './table/row.ts';
import { jsonOf, remarksOf, shortfalls, tableOf, timesOf } from './table/table.ts';

interface Options {
  root: string;
  quick: boolean;
  /** Groups of rows to run. All if empty. */
  only: readonly string[];
  /** Rounds per row. 0 uses the default. */
  rounds: number;
  /** Writes processor profiles and statement statistics, which slows the run slightly. */
  profile: boolean;
  logLevel: string;
  /** The Node program of the server under test. Defaults to the program that runs the bench. */
  node?: string | undefined;
  /** Payments of the large database of `operator-lists`. */
  payments?: number | undefined;
  /** File for the result as JSON. */
  json?: string | undefined;
}

/**
 * Order of the groups: on the shared server, reads before rows that write. The execute rows stop
 * the shared server. Later rows on its database start their own servers.
 */
const GROUPS: readonly [string, (bench: Bench) => Promise<Row[]>][] = [
  ['ledger', ledgerRows],
  ['read', readRows],
  ['sdk', sdkRows],
  ['lists', listRows],
  ['import', importRows],
  ['execute', executeRows],
  ['latency', latencyRows],
  ['processes', processRows],
  ['bytes', bytesRows],
  ['traces', traceRows],
  ['card-messages', cardMessageRows],
  ['deliveries', deliveryRows],
  ['operator-lists', operatorListRows],
  ['start', startRows],
  ['stamp', stampRows],
  ['authorize', authorizeRows],
  ['fairness', fairnessRows],
  ['blocking', blockingRows],
];

/** Calls `make` at most once, with the arguments of the first call. */
function memoize<T, A extends unknown[] = []>(make: (...args: A) => Promise<T>) {
  let promise: Promise<T> | undefined;
  return (...args: A): Promise<T> => {
    promise ??= make(...args);
    return promise;
  };
}

const versionOf = (node: string) => execFileSync(node, ['--version'], { encoding: 'utf8' }).trim();

function createBench(options: Options, scratch: string, cluster: Cluster): Bench {
  const { root, quick, rounds, logLevel } = options;
  const settings = quick ? QUICK_SETTINGS : FULL;
  const profile = path.join(root, 'bench', 'dist', 'profiles');
  const bench: Bench = {
    root,
    scratch,
    cluster,
    settings: { ...settings, rounds: rounds || settings.rounds },
    quick,
    logLevel,
    payments: options.payments,
    node: options.node ?? process.execPath,
    ...(options.profile ? { profile } : {}),
    api: memoize<Api>(() => startApi(bench)),
    pgbench: memoize<BestPgbench>(() => preparePgbench(bench)),
    interactive: memoize((search: () => Promise<string>) => search()),
  };
  return bench;
}

async function describeRun(bench: Bench): Promise<string> {
  const cpus = os.cpus();
  const { rounds, seconds } = bench.settings;
  const memory = (os.totalmem() / 2 ** 30).toFixed(0);
  const load = os.loadavg()[0]?.toFixed(2);
  return [
    `${cpus.length} × ${cpus[0]?.model.trim()}, ${memory} GB, Node ${versionOf(bench.node)}`,
    await bench.cluster.describe(),
    `${pgbenchVersion() ?? 'no pgbench'}, prepared statements, unix socket, the same PostgreSQL`,
    `${rounds} rounds of ${seconds} s a side, alternately on this machine, load ${load} at the start`,
    `log level of the server: ${bench.logLevel}`,
    ...(bench.quick ? ['QUICK RUN: too short for comparison.'] : []),
  ].join('\n');
}

async function measure(options: Options, bench: Bench): Promise<void> {
  const { only } = options;
  const description = await describeRun(bench);
  printProgress(description.replaceAll('\n', '\n  '));
  const rows: Row[] = [];
  const seconds: Record<string, number> = {};
  for (const [name, run] of GROUPS) {
    if (only.length && !only.includes(name)) continue;
    printProgress(`${name} …`);
    const startedAt = performance.now();
    try {
      rows.push(...(await run(bench)));
    } catch (error) {
      // Processes of this group may still be running, so the measurement stops. Completed rows keep their
      // results.
      console.error(`${name} was not measured, nor were the groups after it:`, error);
      process.exitCode = 1;
      break;
    }
    seconds[name] = Math.round((performance.now() - startedAt) / 1000);
    printProgress(`${name} took ${seconds[name]} s`);
    if (bench.profile) await printStatements(bench.cluster);
  }
  rows.sort((a, b) => a.id.localeCompare(b.id, 'en', { numeric: true }));
  if (options.json) fs.writeFileSync(options.json, `${jsonOf(description, rows, seconds)}\n`);
  console.log(`\n${description}\n\n${tableOf(rows)}\n`);
  const remarks = remarksOf(rows);
  if (remarks.length) console.log(`${['Remarks:', ...remarks].join('\n  ')}\n`);
  console.log(`${timesOf(seconds)}\n`);
  const missedTargets = shortfalls(rows);
  console.log(
    missedTargets.length
      ? ['Missed:', ...missedTargets].join('\n  ')
      : 'All targets are met, no errors.',
  );
  if (rows.some((row) => row.railhead.errors + row.peer.errors > 0)) process.exitCode = 1;
}

/** Runs the bench. All processes have exited when the promise resolves, and after Ctrl-C. */
export async function main(options: Options): Promise<void> {
  const parent = path.join(options.root, 'bench', '.railhead');
  fs.mkdirSync(parent, { recursive: true });
  const scratch = fs.mkdtempSync(path.join(parent, 'run-'));
  let cluster: Cluster | undefined;
  const cleanUp = memoize(async () => {
    await stopAll();
    await cluster?.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.once(signal, () => void cleanUp().finally(() => process.exit(130)));
  }
  try {
    cluster = await startCluster(path.join(scratch, 'cluster'), options.profile);
    await measure(options, createBench(options, scratch, cluster));
  } finally {
    await cleanUp();
  }
}
