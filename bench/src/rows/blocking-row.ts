// Row 9: the longest time for which one request blocks the event loop and delays all others. Each operation
// receives its costliest bodies. The delay is read from the server's own metric.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZATION, startServer } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { printProgress, type Row, sideOf } from '../table/row.ts';
import { median, percentile, type Run } from '../table/stats.ts';
import { type CostlyBody, costlyBodies, type OpenApi } from './costly-bodies.ts';

/** Target: maximum time for which one request may block the event loop. */
const MAX_MS = 20;
/** Requests per body. The median is used, to exclude pauses of the garbage collector. */
const REPETITIONS = 3;
/** Delay after which the monitor, which measures every 5 ms, has recorded a block. */
const MONITOR_MS = 12;
/** One round, because each body is already sent several times. */
const MAX_ROUNDS = 1;
/** Number of readings without a request, as a share of the number of bodies. */
const IDLE_SHARE = 0.2;
/** Time in which the server compiles every schema. */
const SETTLE_MS = 3_000;
/** A quick run sends every tenth body. */
const QUICK_STEP = 10;
const SHOWN_OPERATIONS = 3;

const METRIC = /event_loop_delay_seconds\{quantile="1"\} (\S+)/;

/** The longest delay since the last reading, in milliseconds. */
async function longestDelay(origin: string): Promise<number> {
  const text = await (await fetch(`${origin}/metrics`)).text();
  const seconds = METRIC.exec(text)?.[1];
  if (seconds === undefined)
    throw new Error(`/metrics contains no event loop delay: ${text.slice(0, 200)}`);
  return Number(seconds) * 1000;
}

async function send(origin: string, { method, path: url, body }: CostlyBody): Promise<number> {
  const headers = {
    authorization: AUTHORIZATION,
    'content-type': 'application/json',
    'idempotency-key': `blocking-${Math.round(performance.now() * 1e6)}`,
  };
  const response = await fetch(origin + url, { method, headers, body });
  await response.arrayBuffer();
  return response.status;
}

/** The median block of `REPETITIONS` requests, in milliseconds. */
async function blockOf(origin: string, body: CostlyBody | undefined): Promise<number> {
  const blocks: number[] = [];
  for (let repetition = 0; repetition < REPETITIONS; repetition++) {
    await longestDelay(origin);
    const status = body ? await send(origin, body) : 0;
    if (status >= 500 || status === 429) throw new Error(`${body?.name}: status ${status}`);
    await sleep(MONITOR_MS);
    blocks.push(await longestDelay(origin));
  }
  return median(blocks);
}

const runOf = (blocks: readonly number[]): Run => ({
  perSecond: Math.max(...blocks),
  p50: percentile(blocks, 0.5),
  p99: Math.max(...blocks),
  errors: 0,
  completedCount: blocks.length,
});

/** The p50 of the row is the median block of all bodies. The p99 is the longest block. */
export async function blockingRows(bench: Bench): Promise<Row[]> {
  const { cluster, root, scratch, logLevel, settings, quick } = bench;
  const url = await cluster.create('bench_blocking');
  const { port, process } = await startServer(
    bench,
    ['--database-url', url, '--data-dir', path.join(scratch, 'blocking')],
    {
      log: path.join(scratch, 'blocking.log'),
      logLevel,
      env: { RAILHEAD_RATE_LIMIT_ADDRESS: '0' },
    },
  );
  const origin = `http://127.0.0.1:${port}`;
  await sleep(SETTLE_MS);
  const document = JSON.parse(fs.readFileSync(path.join(root, 'openapi.json'), 'utf8')) as OpenApi;
  const bodies = costlyBodies(document).filter((_, index) => !quick || index % QUICK_STEP === 0);
  const [bodyRuns, idleRuns]: [Run[], Run[]] = [[], []];
  let longestBlocks: { name: string; ms: number }[] = [];
  for (let round = 1; round <= Math.min(settings.rounds, MAX_ROUNDS); round++) {
    const blocks: { name: string; ms: number }[] = [];
    for (const body of bodies) blocks.push({ name: body.name, ms: await blockOf(origin, body) });
    const idleReadings: number[] = [];
    for (let index = 0; index < bodies.length * IDLE_SHARE; index++) {
      idleReadings.push(await blockOf(origin, undefined));
    }
    bodyRuns.push(runOf(blocks.map(({ ms }) => ms)));
    idleRuns.push(runOf(idleReadings));
    longestBlocks = [...longestBlocks, ...blocks]
      .sort((a, b) => b.ms - a.ms)
      .slice(0, SHOWN_OPERATIONS);
    const longest = Math.max(...blocks.map(({ ms }) => ms)).toFixed(1);
    printProgress(`round ${round}: ${bodies.length} bodies, the longest block ${longest} ms`);
  }
  await process.stop();
  const longest = longestBlocks.map(({ name, ms }) => `${name} ${ms.toFixed(1)} ms`);
  const remark = `the longest: ${longest.join('; ')}`;
  return [
    {
      id: '9',
      label: 'the longest block of the event loop',
      unit: 'ms',
      railhead: sideOf(`${bodies.length} costly bodies`, bodyRuns),
      peer: sideOf('no request', idleRuns),
      slowdown: {},
      maxP99Ms: MAX_MS,
      remark,
    },
  ];
}
