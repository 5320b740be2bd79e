// Row 11: webhook deliveries to a receiver on this machine. The peer is a loop of signed POSTs.
// The events are inserted in SQL, so that only their delivery is measured.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { type Child, startWorker, type Worker } from '../machine/children.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import type { PostOptions } from '../processes/post-process.ts';
import { printProgress, type Row, type Side } from '../table/row.ts';

const HOOKS_DATABASE = 'bench_hooks';
/** Data of a payment event. Only the length is relevant. */
const DATA = JSON.stringify({ id: 'Transaction:1', note: 'x'.repeat(1_150) });
const POLL_MS = 20;
const MAX_ROUNDS = 2;
/** Delivering a backlog takes a minute and varies little between rounds, so it is measured once. */
const SINGLE_ROUND_SIDES: ReadonlySet<string> = new Set([
  'one platform',
  'bare loop, 8 connections',
]);
const TIMEOUT_MS = 180_000;
/** Maximum number of concurrent requests of one platform. */
const LANE_WIDTH = 8;

// Times are truncated to milliseconds like the times of the server, because page cursors and queue
// positions require this precision.
const PLATFORMS = `insert into platforms (id, name, environment, regulated, documents_optional, sca,
    terms_required, uma_domain, proxy_uma_subdomain, webhook_endpoint,
    standard_webhooks, currencies,
    fees, created_at, updated_at)
  select 'PlatformConfig:' || uuidv7(), 'bench', 'sandbox', true, false, true, false, 'a.example', 'a',
    $2, false, '[]', '[]', date_trunc('milliseconds', now()),
    date_trunc('milliseconds', now()) from generate_series(1, $1::int) returning id`;

const EVENTS = `with created as (
    select 'Webhook:' || uuidv7() as id, p.id as platform, date_trunc('milliseconds', now()) as at
    from generate_series(1, $2::int) n cross join unnest($1::text[]) p(id)
  ), queued as (
    insert into webhook_queue (event_id, platform_id, due_at) select id, platform, at from created
  )
  insert into events (id, platform_id, type, subject, data, created_at)
  select id, platform, 'OUTGOING_PAYMENT.COMPLETED', 'Transaction:' || id, $3, at from created`;

interface RowContext {
  bench: Bench;
  server: Child;
  receiver: Worker;
  port: number;
}

interface DeliveryRun {
  perSecond: number;
  /** Processor time of Node per delivery, in microseconds. */
  us: number;
  errors: number;
}

const insertPlatforms = async ({ bench }: RowContext, count: number, port: number) =>
  (
    await bench.cluster.rows<{ id: string }>(HOOKS_DATABASE, PLATFORMS, [
      count,
      `http://127.0.0.1:${port}/events`,
    ])
  ).map(({ id }) => id);

/**
 * Requests per second at the receiver, measured from a tenth to nine tenths of `expectedCount`, so
 * that start and end are excluded. `start` sends the events.
 */
async function waitForDeliveries(
  { bench, receiver }: RowContext,
  expectedCount: number,
  sender: Child,
  start: () => Promise<unknown>,
): Promise<DeliveryRun> {
  await bench.cluster.checkpoint();
  const count = () => receiver.call<number>('count');
  const countBefore = await count();
  const processorUse = watchProcessor({
    sender: () => [sender.pid],
    PostgreSQL: () => familyOf(bench.cluster.pid),
  });
  const sendingResult = start();
  const deadline = performance.now() + TIMEOUT_MS;
  let firstReading: { at: number; n: number } | undefined;
  let lastReading: { at: number; n: number } | undefined;
  for (;;) {
    const deliveredCount = (await count()) - countBefore;
    const now = performance.now();
    if (deliveredCount >= expectedCount / 10) firstReading ??= { at: now, n: deliveredCount };
    if (deliveredCount >= expectedCount * 0.9) lastReading ??= { at: now, n: deliveredCount };
    if (deliveredCount >= expectedCount || now > deadline) break;
    await sleep(POLL_MS);
  }
  await sendingResult;
  await sleep(1_000);
  const total = (await count()) - countBefore;
  printProgress(processorUse.report(total));
  const rate =
    firstReading && lastReading && lastReading.n > firstReading.n
      ? (lastReading.n - firstReading.n) / (lastReading.at - firstReading.at)
      : 0;
  return {
    perSecond: rate * 1000,
    us: processorUse.usPerItem('sender', total),
    errors: Math.abs(total - expectedCount),
  };
}

async function deliver(
  context: RowContext,
  platforms: readonly string[],
  eventsPerPlatform: number,
) {
  const start = () =>
    context.bench.cluster.rows(HOOKS_DATABASE, EVENTS, [platforms, eventsPerPlatform, DATA]);
  return waitForDeliveries(context, platforms.length * eventsPerPlatform, context.server, start);
}

/** Like `deliver`. Events of the `unresponsivePlatforms` receive no response and are not counted. */
async function deliverToSlowReceivers(
  context: RowContext,
  responsivePlatforms: string[],
  unresponsivePlatforms: string[],
  eventsPerPlatform: number,
) {
  const start = () =>
    context.bench.cluster.rows(HOOKS_DATABASE, EVENTS, [
      [...responsivePlatforms, ...unresponsivePlatforms],
      eventsPerPlatform,
      DATA,
    ]);
  const result = await waitForDeliveries(
    context,
    responsivePlatforms.length * eventsPerPlatform,
    context.server,
    start,
  );
  await context.bench.cluster.rows(
    HOOKS_DATABASE,
    'delete from webhook_queue where platform_id = any($1::text[])',
    [unresponsivePlatforms],
  );
  return result;
}

async function runBareLoop(
  context: RowContext,
  poster: Worker,
  connections: number,
  count: number,
) {
  const body = `{"id":"Webhook:1","type":"OUTGOING_PAYMENT.COMPLETED","data":${DATA}}`;
  const options = { url: `http://127.0.0.1:${context.port}/events`, connections, body, count };
  const start = () => poster.call('post', options satisfies PostOptions);
  return waitForDeliveries(context, count, poster, start);
}

const side = (name: string, runs: readonly DeliveryRun[], unit: 'perSecond' | 'us'): Side => ({
  name,
  values: runs.map((run) => run[unit]),
  p50: [],
  p99: [],
  errors: runs.reduce((sum, run) => sum + run.errors, 0),
});

async function start(bench: Bench): Promise<RowContext> {
  const { cluster, scratch, profile } = bench;
  const url = await cluster.create(HOOKS_DATABASE);
  const args = ['--database-url', url, '--data-dir', path.join(scratch, 'hooks')];
  const log = path.join(scratch, 'hooks.log');
  const { process } = await startServer(bench, args, { log, profile, logLevel: 'warn' });
  const receiver = startWorker('receiver');
  const port = await receiver.call<number>('listen');
  return { bench, server: process, receiver, port };
}

export async function deliveryRows(bench: Bench): Promise<Row[]> {
  const { settings, quick } = bench;
  const scale = quick ? 0.05 : 1;
  const context = await start(bench);
  const poster = startWorker('post');
  const hangingReceiver = startWorker('hanging');
  const hangingPort = await hangingReceiver.call<number>('listen');
  await hangingReceiver.call('hang');
  const backlogPlatforms = await insertPlatforms(context, 1, context.port);
  const manyPlatforms = await insertPlatforms(context, 10_000 * scale, context.port);
  const responsivePlatforms = await insertPlatforms(context, 18, context.port);
  const platforms = await insertPlatforms(context, 2, context.port);
  const unresponsivePlatforms = await insertPlatforms(context, 2, hangingPort);
  const backlog = 100_000 * scale;
  const eventsPerPlatform = Math.round(2_000 * scale);
  const sides = {
    'one platform': () => deliver(context, backlogPlatforms, backlog),
    'bare loop, 8 connections': () => runBareLoop(context, poster, LANE_WIDTH, backlog / 2),
    'many platforms, one event each': () => deliver(context, manyPlatforms, 1),
    'bare loop, 64 connections': () => runBareLoop(context, poster, 64, backlog / 2),
    'twenty platforms': () =>
      deliver(context, [...responsivePlatforms, ...platforms], eventsPerPlatform),
    'twenty platforms, two without responses': () =>
      deliverToSlowReceivers(
        context,
        responsivePlatforms,
        unresponsivePlatforms,
        eventsPerPlatform,
      ),
  };
  const runs = Object.fromEntries(
    Object.keys(sides).map((name) => [name, [] as DeliveryRun[]]),
  ) as Record<keyof typeof sides, DeliveryRun[]>;
  for (let round = 1; round <= Math.min(MAX_ROUNDS, settings.rounds); round++) {
    for (const [name, run] of Object.entries(sides)) {
      if (round > 1 && SINGLE_ROUND_SIDES.has(name)) continue;
      const result = await run();
      runs[name as keyof typeof sides].push(result);
      const cost = `${result.us.toFixed(0)} µs of Node each, ${result.errors} errors`;
      printProgress(`round ${round}, ${name}: ${result.perSecond.toFixed(0)}/s, ${cost}`);
    }
  }
  for (const child of [poster, hangingReceiver, context.server, context.receiver])
    await child.stop();
  return rowsOf(runs);
}

function rowsOf(runs: Record<string, DeliveryRun[]>): Row[] {
  const runsOf = (name: string) => runs[name] as DeliveryRun[];
  const row = (
    id: string,
    subject: string,
    railhead: string,
    peer: string,
    target?: number,
  ): Row => ({
    ...{ id, label: subject, unit: '/s', target },
    railhead: side(railhead, runsOf(railhead), 'perSecond'),
    peer: side(peer, runsOf(peer), 'perSecond'),
  });
  const onePlatform = 'one platform';
  const loop = 'bare loop, 8 connections';
  const overhead = runsOf(onePlatform).map((run, index) => ({
    ...run,
    us: run.us - (runsOf(loop)[index]?.us ?? 0),
  }));
  return [
    row('11a', 'webhook deliveries, a backlog of one platform', onePlatform, loop, 0.6),
    row(
      '11b',
      'webhook deliveries, 10,000 platforms',
      'many platforms, one event each',
      'bare loop, 64 connections',
    ),
    row(
      '11c',
      'webhook deliveries to 18 of 20 platforms',
      'twenty platforms, two without responses',
      'twenty platforms',
      0.95,
    ),
    {
      ...{
        id: '11d',
        label: 'Node time per delivery above the bare loop',
        unit: 'µs',
        maxValue: 60,
      },
      railhead: side(onePlatform, overhead, 'us'),
      peer: side(loop, runsOf(loop), 'us'),
    },
  ];
}
