// Rows 7e and 7f: the latency of a card authorization over HTTP for a provider, while the same
// process executes payments. The provider is added with the command of operators, and its messages
// are signed. The peer is the same server without payments. Rows 7a to 7d measure the decisions per
// second of a saturated handler.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { DATABASE, mapConcurrently, requester } from '../../machine/api.ts';
import type { Api, Bench } from '../../machine/bench.ts';
import { startWorker, type Worker } from '../../machine/children.ts';
import { databaseUrl } from '../../machine/cluster.ts';
import { familyOf } from '../../machine/proc.ts';
import { BENCH_PROVIDER } from '../../machine/provider-message.ts';
import type { CardMessages } from '../../processes/card-messages-process.ts';
import { printProgress, type Row, sideOf } from '../../table/row.ts';
import type { Run } from '../../table/stats.ts';
import { countExecuted, differences, executor } from '../execute-row.ts';
import { restartServer } from '../load-rows.ts';
import { createHolder, ISSUED_BY_PROVIDER, waitForCards } from './authorize-cards.ts';

const MAX_P99_MS = 100;
const PER_SECOND = 50;
/** Long enough for 500 authorizations, so that five of them are above the 99th percentile. */
const SECONDS = 10;
const HOLDERS = 200;
/** Customers of other rows have lower numbers. */
const FIRST_HOLDER = 1_000_000;
/**
 * Connections that request payments. Without a rate, each waits for its response and then sends the next
 * request.
 */
const CONNECTIONS = 64;
/** Changes of providers reach every process within this time. */
const EFFECTIVE_MS = 2_000;

/** Adds the provider as an operator does. */
function addProvider(bench: Bench, publicKeyPem: string): void {
  const file = path.join(bench.scratch, 'provider.pem');
  fs.writeFileSync(file, publicKeyPem);
  const verb = ['providers', 'add', BENCH_PROVIDER, '--environment', 'sandbox'];
  const address = ['--url', 'http://127.0.0.1:9', '--private-address', '--public-key', file];
  const url = databaseUrl(bench.cluster.url, DATABASE);
  const installation = ['--database-url', url, '--data-dir', path.join(bench.scratch, 'server')];
  const program = path.join(bench.root, 'server', 'bin', 'railhead-server.js');
  execFileSync(bench.node, [program, ...verb, ...address, ...installation], { stdio: 'pipe' });
}

async function createCards(bench: Bench, { port }: Api): Promise<string[]> {
  const request = requester(port);
  const count = bench.quick ? 20 : HOLDERS;
  const holders = await mapConcurrently(Array.from({ length: count }), (_, index) =>
    createHolder(request, FIRST_HOLDER + index, false),
  );
  await waitForCards(bench, DATABASE);
  await bench.cluster.rows(DATABASE, ISSUED_BY_PROVIDER);
  return holders.map(({ accountCard }) => accountCard);
}

interface Load {
  bench: Bench;
  api: Api;
  provider: Worker;
  cards: readonly string[];
  execute: ReturnType<typeof executor>;
}

/** Authorizations without payments, or with payments at a rate or at the maximum rate of the server. */
async function measureAuthorizations(
  load: Load,
  payments: 'none' | 'saturated' | number,
): Promise<Run> {
  const { bench, api, provider, cards, execute } = load;
  const seconds = bench.quick ? bench.settings.seconds : SECONDS;
  const { warmupMs } = bench.settings;
  const messages: CardMessages = { cards, perSecond: PER_SECOND, warmupMs, seconds };
  const rate = typeof payments === 'number' ? { perSecond: payments } : {};
  const runPayments = () =>
    payments === 'none' ? undefined : execute.run('convert', api.port, CONNECTIONS, seconds, rate);
  const [run, paymentRun] = await Promise.all([provider.call<Run>('run', messages), runPayments()]);
  const rates = paymentRun ? `, beside ${paymentRun.perSecond.toFixed(0)} payments/s` : '';
  printProgress(
    `authorizations: p50 ${run.p50.toFixed(1)} ms, p99 ${run.p99.toFixed(1)} ms${rates}`,
  );
  if (run.firstError) printProgress(`first error: ${run.firstError}`);
  return run;
}

export async function cardMessageRows(bench: Bench): Promise<Row[]> {
  const { rounds, tuningSeconds } = bench.settings;
  const api = await restartServer(bench);
  const [payments, provider] = [startWorker('load'), startWorker('card-messages')];
  const origin = `http://127.0.0.1:${api.port}`;
  addProvider(bench, await provider.call<string>('sendTo', origin));
  const cards = await createCards(bench, api);
  await new Promise((resolve) => setTimeout(resolve, EFFECTIVE_MS));
  const groups = {
    server: () => familyOf(api.process.pid),
    PostgreSQL: () => familyOf(bench.cluster.pid),
  };
  const execute = executor({ bench, api, load: payments, groups }, DATABASE);
  const load: Load = { bench, api, provider, cards, execute };
  const executedBefore = await countExecuted(bench, DATABASE);
  const { perSecond: maxRate } = await execute.run('convert', api.port, CONNECTIONS, tuningSeconds);
  const runs = { alone: [] as Run[], half: [] as Run[], saturated: [] as Run[] };
  for (let round = 1; round <= rounds; round++) {
    runs.alone.push(await measureAuthorizations(load, 'none'));
    runs.half.push(await measureAuthorizations(load, maxRate / 2));
    runs.saturated.push(await measureAuthorizations(load, 'saturated'));
  }
  for (const child of [payments, provider, api.process]) await child.stop();
  const errors = await differences(bench, DATABASE, executedBefore + execute.done());
  const side = (name: string, runs: readonly Run[], extraErrors = 0) => {
    const { values: _, ...latencies } = sideOf(name, runs);
    return { ...latencies, values: latencies.p99, errors: latencies.errors + extraErrors };
  };
  const row = (id: string, subject: string, sideRuns: readonly Run[]): Row => ({
    id,
    label: `p99 of a card authorization over HTTP, ${PER_SECOND}/s, ${subject}`,
    unit: 'ms',
    railhead: side('server, signed message', sideRuns, errors),
    peer: side('the same without payments', runs.alone),
    maxP99Ms: MAX_P99_MS,
  });
  const halfRate = (maxRate / 2).toFixed(0);
  return [
    row('7e', `beside ${halfRate} payments/s`, runs.half),
    row('7f', 'with as many payments as the server executes', runs.saturated),
  ];
}
