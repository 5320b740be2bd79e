// Row 15: a GET by the SDK, beside `fetch` alone. One caller, so that the difference is the time that the
// SDK takes and not the capacity of the server.
import path from 'node:path';
import { AUTHORIZATION, BASE, copyQuotes, DATABASE } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { startWorker } from '../machine/children.ts';
import type { SdkOptions } from '../processes/sdk-process.ts';
import { type Row, sideOf, takeTurns } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

const TRANSACTIONS = 1_000;
/** At most ten percent slower than `fetch`. */
const TARGET = 0.9;

export async function sdkRows(bench: Bench): Promise<Row[]> {
  const { warmupMs, seconds, rounds } = bench.settings;
  const api = await bench.api();
  const copies = await copyQuotes(bench, DATABASE, api.templates.convert, TRANSACTIONS);
  const credential = Buffer.from(AUTHORIZATION.replace('Basic ', ''), 'base64').toString();
  const [clientId = '', clientSecret = ''] = credential.split(':');
  const options: Omit<SdkOptions, 'by'> = {
    entry: path.join(bench.root, 'packages', 'sdk', 'dist', 'esm', 'index.js'),
    baseUrl: `http://127.0.0.1:${api.port}${BASE}`,
    clientId,
    clientSecret,
    transactionIds: copies.map((copy) => copy.transaction_id as string),
    warmupMs,
    seconds,
  };
  // A process each: the code of one must not be optimised for what the other passes through it.
  const workers = { sdk: startWorker('sdk'), fetch: startWorker('sdk') };
  const run = (by: SdkOptions['by']) =>
    workers[by].call<Run>('read', { ...options, by } satisfies SdkOptions);
  const runs = await takeTurns(
    { 'GET, SDK': () => run('sdk'), 'GET, fetch': () => run('fetch') },
    rounds,
  );
  await Promise.all([workers.sdk.stop(), workers.fetch.stop()]);
  return [
    {
      id: '15',
      what: 'GET /transactions/{id} by the SDK',
      unit: '/s',
      ours: sideOf('SDK, one caller', runs['GET, SDK']),
      peer: sideOf('fetch, one caller', runs['GET, fetch']),
      target: TARGET,
    },
  ];
}
