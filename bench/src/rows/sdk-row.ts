// Row 15: a GET with the SDK. The peer is `fetch` alone. Only one caller runs, so that the difference is
// the time of the SDK.
import path from 'node:path';
import { AUTHORIZATION, BASE, copyQuotes, DATABASE } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { startWorker } from '../machine/children.ts';
import type { SdkOptions } from '../processes/sdk-process.ts';
import { alternate, type Row, sideOf } from '../table/row.ts';
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
  const options: Omit<SdkOptions, 'client'> = {
    entry: path.join(bench.root, 'packages', 'sdk', 'dist', 'esm', 'index.js'),
    baseUrl: `http://127.0.0.1:${api.port}${BASE}`,
    clientId,
    clientSecret,
    transactionIds: copies.map((copy) => copy.transaction_id as string),
    warmupMs,
    seconds,
  };
  // The variants run in separate processes, because each would affect the compiler optimizations of the
  // other.
  const workers = { sdk: startWorker('sdk'), fetch: startWorker('sdk') };
  const run = (variant: SdkOptions['client']) =>
    workers[variant].call<Run>('read', { ...options, client: variant } satisfies SdkOptions);
  const runs = await alternate(
    { 'GET, SDK': () => run('sdk'), 'GET, fetch': () => run('fetch') },
    rounds,
  );
  await Promise.all([workers.sdk.stop(), workers.fetch.stop()]);
  return [
    {
      id: '15',
      label: 'GET /transactions/{id} by the SDK',
      unit: '/s',
      railhead: sideOf('SDK, one caller', runs['GET, SDK']),
      peer: sideOf('fetch, one caller', runs['GET, fetch']),
      target: TARGET,
    },
  ];
}
