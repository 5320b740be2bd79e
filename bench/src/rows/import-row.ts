// Row 5: registering customers from a file of 50,000 rows. The peer is a client that registers
// customers on the same server with single requests on many connections. Both create the same rows,
// accounts and events for each customer. Peak memory is measured for the server process.
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTHORIZATION, BASE, DATABASE } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { familyOf, peakMb, resetPeak, watchProcessor } from '../machine/proc.ts';
import { alternate, bestOf, printProgress, type Row, type Side, sideOf } from '../table/row.ts';
import { percentile, type Run } from '../table/stats.ts';

const COLUMNS = [
  ...['umaAddress', 'platformCustomerId', 'customerType', 'fullName', 'birthDate'],
  ...['addressLine1', 'city', 'state', 'postalCode', 'country'],
];

const POLL_MS = 100;
/** One round, because a complete import takes a minute or more. */
const ROUNDS = 1;
const IMPORT_MS = 600_000;

interface Progress {
  status: string;
  progress: { total: number; successful: number; failed: number };
  errors?: unknown[];
}

/** A CSV file of customers whose IDs begin with `run`. */
function fileOf(run: string, domain: string, rowCount: number): string {
  const lines = [COLUMNS.join(',')];
  for (let index = 0; index < rowCount; index++) {
    const id = `${run}-${index}`;
    lines.push(
      `$${id}@${domain},${id},INDIVIDUAL,Ada Lovelace,1990-01-15,1 Main St,Austin,TX,78701,US`,
    );
  }
  return `${lines.join('\n')}\n`;
}

/** Body of the request that registers the same customer. */
const bodyOf = (run: string, domain: string, index: number) =>
  JSON.stringify({
    umaAddress: `$${run}-${index}@${domain}`,
    platformCustomerId: `${run}-${index}`,
    customerType: 'INDIVIDUAL',
    fullName: 'Ada Lovelace',
    birthDate: '1990-01-15',
    address: {
      line1: '1 Main St',
      city: 'Austin',
      state: 'TX',
      postalCode: '78701',
      country: 'US',
    },
  });

const runOf = (doneCount: number, errors: number, ms: number, latencies: number[]): Run => ({
  perSecond: (doneCount * 1000) / ms,
  p50: percentile(latencies, 0.5),
  p99: percentile(latencies, 0.99),
  errors,
  completedCount: doneCount,
});

async function importFile(port: number, content: string): Promise<Run> {
  const form = new FormData();
  form.set('file', new Blob([content], { type: 'text/csv' }), 'customers.csv');
  const headers = { authorization: AUTHORIZATION };
  const url = `http://127.0.0.1:${port}${BASE}/customers/bulk`;
  const startMs = performance.now();
  const reply = await fetch(`${url}/csv`, { method: 'POST', headers, body: form });
  const acceptedImport = (await reply.json()) as { jobId: string };
  if (reply.status !== 202)
    throw new Error(`the import was rejected: ${reply.status} ${JSON.stringify(acceptedImport)}`);
  for (;;) {
    await sleep(POLL_MS);
    const response = await fetch(`${url}/jobs/${acceptedImport.jobId}`, { headers });
    const { status, progress, errors } = (await response.json()) as Progress;
    const ms = performance.now() - startMs;
    if (ms > IMPORT_MS) throw new Error(`the import did not complete within ${IMPORT_MS} ms`);
    if (status !== 'COMPLETED' && status !== 'FAILED') continue;
    const run = runOf(progress.successful, progress.total - progress.successful, ms, []);
    return errors ? { ...run, firstError: JSON.stringify(errors[0]) } : run;
  }
}

/** Sends one POST /customers. Returns the status. */
function post(agent: http.Agent, port: number, body: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const options = {
      agent,
      port,
      host: '127.0.0.1',
      method: 'POST',
      path: `${BASE}/customers`,
      headers: {
        authorization: AUTHORIZATION,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    };
    const request = http.request(options, (reply) => {
      reply.resume();
      reply.on('end', () => resolve(reply.statusCode ?? 0));
    });
    request.on('error', reject);
    request.end(body);
  });
}

async function registerIndividually(
  port: number,
  bodyAt: (index: number) => string,
  requestCount: number,
  connections: number,
): Promise<Run> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let [nextIndex, errors] = [0, 0];
  const startMs = performance.now();
  const caller = async () => {
    while (nextIndex < requestCount) {
      const startedAt = performance.now();
      if ((await post(agent, port, bodyAt(nextIndex++))) !== 201) errors++;
      latencies.push(performance.now() - startedAt);
    }
  };
  await Promise.all(Array.from({ length: connections }, caller));
  agent.destroy();
  return runOf(requestCount - errors, errors, performance.now() - startMs, latencies);
}

export async function importRows(bench: Bench): Promise<Row[]> {
  const { quick, cluster } = bench;
  const rowCount = quick ? 2_000 : 50_000;
  const individualCount = rowCount / 5;
  const api = await bench.api();
  const { umaDomain } = await api.request<{ umaDomain: string }>('GET', '/config');
  let runCount = 0;
  const peaks: { railhead: number[]; peer: number[] } = { railhead: [], peer: [] };
  const measure = async (name: keyof typeof peaks, work: (run: string) => Promise<Run>) => {
    await cluster.checkpoint();
    resetPeak(api.process.pid);
    const processorUse = watchProcessor({
      server: () => [api.process.pid],
      PostgreSQL: () => familyOf(cluster.pid),
      client: () => [process.pid],
    });
    const run = await work(`r${process.pid}-${++runCount}`);
    const peak = peakMb(api.process.pid);
    peaks[name].push(peak);
    printProgress(
      `${processorUse.report(run.completedCount)}, peak memory of the server ${peak.toFixed(0)} MB`,
    );
    return run;
  };
  const runImport = () =>
    measure('railhead', (run) => importFile(api.port, fileOf(run, umaDomain, rowCount)));
  const runPeer = (connections: number, count = individualCount) =>
    measure('peer', (run) =>
      registerIndividually(api.port, (index) => bodyOf(run, umaDomain, index), count, connections),
    );
  const requestCount = Math.min(individualCount, 1_000);
  const bestConnections = await bestOf(
    'POST /customers, connections',
    quick ? [64] : [16, 64],
    (n) => runPeer(n, requestCount),
  );
  peaks.peer = [];
  const sides = {
    'import, a file': runImport,
    'import, one by one': () => runPeer(bestConnections),
  };
  const results = await alternate(sides, ROUNDS);
  const [{ n }] = (await cluster.rows<{ n: string }>(
    DATABASE,
    "select count(*) as n from customers where platform_customer_id like $1 || '-%'",
    [`r${process.pid}`],
  )) as [{ n: string }];
  printProgress(`${n} customers exist`);
  const file = sideOf(`a file of ${rowCount}`, results['import, a file']);
  const singleRequests = sideOf(
    `POST /customers, ${bestConnections}`,
    results['import, one by one'],
  );
  const memorySide = (side: Side, values: number[]): Side => ({
    ...side,
    values,
    p50: [],
    p99: [],
  });
  return [
    // An import reports no latencies of single rows.
    {
      id: '5a',
      label: 'customers registered',
      unit: '/s',
      railhead: { ...file, p50: [], p99: [] },
      peer: singleRequests,
      target: 1,
    },
    {
      id: '5b',
      label: 'peak memory of the server during the import',
      unit: 'MB',
      railhead: memorySide(file, peaks.railhead),
      peer: memorySide(singleRequests, peaks.peer),
    },
  ];
}
