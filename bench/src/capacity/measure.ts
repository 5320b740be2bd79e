// `npm run capacity -- --measure`: the costs of one operation of each kind on this machine. The costs are
// processor time of Node and of PostgreSQL, bytes on disk by retention, and bytes of the log. The figures
// of model.ts are results of this command.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AUTHORIZATION,
  BASE,
  FUNDS,
  mapConcurrently,
  personBody,
  requester,
  startServer,
} from '../machine/api.ts';
import { startWorker, stopAll } from '../machine/children.ts';
import { type Cluster, startCluster } from '../machine/cluster.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import { sizesOf, walBytes } from '../rows/load-rows.ts';

const DATABASE = 'bench_capacity';
const PEOPLE = 200;
const COUNT = 2_000;
const WARM_UP = 1_000;
const SETTLE_MS = 120_000;

/** Retention of the rows of each table. Rows of all other tables are kept permanently. */
const RETENTION_BY_TABLE: Readonly<Record<string, keyof Bytes>> = {
  events: 'events',
  webhook_attempts: 'events',
  api_requests: 'requests',
  api_request_reads: 'requests',
  api_request_bodies: 'bodies',
  idempotency: 'replies',
  // Rows that are updated in place, or removed when their job or delivery is completed.
  jobs: 'reused',
  webhook_queue: 'reused',
  ledger_accounts: 'reused',
  payment_counts: 'reused',
};

interface Bytes {
  kept: number;
  replies: number;
  events: number;
  requests: number;
  bodies: number;
  reused: number;
}

interface Measurement {
  kind: string;
  nodeUs: number;
  postgresUs: number;
  events: number;
  log: number;
  bytes: Bytes;
  tables: string;
}

type Send = <R>(method: string, path: string, body?: unknown) => Promise<R>;

/** Sends requests with an idempotency key, as payment clients do. */
function keyedRequester(port: number): Send {
  return async <R>(method: string, address: string, body?: unknown) => {
    const reply = await fetch(`http://127.0.0.1:${port}${BASE}${address}`, {
      method,
      headers: {
        authorization: AUTHORIZATION,
        'idempotency-key': randomUUID(),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (reply.status >= 300) throw new Error(`${method} ${address}: ${reply.status} ${text}`);
    return JSON.parse(text) as R;
  };
}

interface Person {
  dollarAccountId: string;
  euroAccountId: string;
  bank: string;
}

async function createPerson(send: Send, index: number): Promise<Person> {
  const { id } = await send<{ id: string }>(
    'POST',
    '/customers',
    personBody(index, ['USD', 'EUR']),
  );
  const accountIn = async (currency: string) => {
    const address = `/customers/internal-accounts?customerId=${id}&currency=${currency}`;
    return (await send<{ data: { id: string }[] }>('GET', address)).data[0]?.id as string;
  };
  const [dollarAccountId, euroAccountId] = await Promise.all([accountIn('USD'), accountIn('EUR')]);
  await send('POST', `/sandbox/internal-accounts/${dollarAccountId}/fund`, { amount: FUNDS });
  const { id: bank } = await send<{ id: string }>('POST', '/customers/external-accounts', {
    customerId: id,
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: `123456${String(index).padStart(4, '0')}000`,
      routingNumber: '021000021',
      beneficiary: {
        beneficiaryType: 'INDIVIDUAL',
        fullName: 'Grace Hopper',
        countryOfResidence: 'US',
      },
    },
  });
  return { dollarAccountId, euroAccountId, bank };
}

const PENDING = `select (select count(*)::int from jobs where due_at < now() + interval '1 minute') as jobs,
  (select count(*)::int from webhook_queue) as events`;

/**
 * Waits until no job is due within a minute, and with a receiver until all events are delivered.
 * Throws after `SETTLE_MS`.
 */
async function waitForWork(cluster: Cluster, hasReceiver: boolean): Promise<void> {
  const deadline = performance.now() + SETTLE_MS;
  while (performance.now() < deadline) {
    const [row] = await cluster.rows<{ jobs: number; events: number }>(DATABASE, PENDING);
    if (row?.jobs === 0 && (!hasReceiver || row.events === 0)) return;
    await sleep(200);
  }
  throw new Error(`jobs or deliveries were not completed within ${SETTLE_MS} ms`);
}

async function eventsIn(cluster: Cluster): Promise<number> {
  const [row] = await cluster.rows<{ n: number }>(
    DATABASE,
    'select count(*)::int as n from events',
  );
  return row?.n ?? 0;
}

function growthOf(
  sizesBefore: Map<string, number>,
  sizesAfter: Map<string, number>,
  count: number,
) {
  const bytes: Bytes = { kept: 0, replies: 0, events: 0, requests: 0, bodies: 0, reused: 0 };
  const tables: string[] = [];
  for (const [name, size] of sizesAfter) {
    const perPayment = (size - (sizesBefore.get(name) ?? 0)) / count;
    bytes[RETENTION_BY_TABLE[name] ?? 'kept'] += perPayment;
    if (perPayment >= 10) tables.push(`${name} ${perPayment.toFixed(0)}`);
  }
  return { bytes, tables: tables.join(', ') };
}

/** Measures `COUNT` operations that run concurrently, with the work that follows them. */
async function measureKind(
  cluster: Cluster,
  serverPid: number,
  { kind, delivers = false, run }: { kind: string; delivers?: boolean; run(): Promise<unknown> },
): Promise<Measurement> {
  await waitForWork(cluster, delivers);
  const [sizes, log, events] = [
    await sizesOf({ cluster }, DATABASE),
    await walBytes({ cluster }, DATABASE),
    await eventsIn(cluster),
  ];
  const processorUse = watchProcessor({
    node: () => familyOf(serverPid),
    PostgreSQL: () => familyOf(cluster.pid),
  });
  const startedAt = performance.now();
  await run();
  const requestsMs = performance.now() - startedAt;
  await waitForWork(cluster, delivers);
  const [nodeUs, postgresUs] = [
    processorUse.usPerItem('node', COUNT),
    processorUse.usPerItem('PostgreSQL', COUNT),
  ];
  // Recorded requests are written after a delay.
  await sleep(600);
  const growth = growthOf(sizes, await sizesOf({ cluster }, DATABASE), COUNT);
  const measurement = {
    ...{ kind, nodeUs, postgresUs, ...growth },
    events: ((await eventsIn(cluster)) - events) / COUNT,
    log: ((await walBytes({ cluster }, DATABASE)) - log) / COUNT,
  };
  const rate = ((COUNT * 1_000) / requestsMs).toFixed(0);
  process.stderr.write(`${kind}: ${rate}/s, load ${os.loadavg()[0]?.toFixed(1)}\n`);
  return measurement;
}

async function measureAll(cluster: Cluster, root: string, scratch: string): Promise<Measurement[]> {
  const url = await cluster.create(DATABASE);
  const args = ['--database-url', url, '--data-dir', path.join(scratch, 'server')];
  const log = path.join(scratch, 'server.log');
  const server = await startServer({ root, node: process.execPath }, args, { log });
  const sendWithoutKey = requester(server.port);
  const people = await mapConcurrently(Array.from({ length: PEOPLE }), (_, n) =>
    createPerson(sendWithoutKey, n),
  );
  const send = keyedRequester(server.port);
  const personOf = (index: number) => people[index % PEOPLE] as Person;
  const repeatWork = <R>(work: (index: number) => Promise<R>, count = COUNT) =>
    mapConcurrently(Array.from({ length: count }), (_, index) => work(index));

  const quote = (index: number) =>
    send<{ id: string; transactionId: string }>('POST', '/quotes', {
      source: { sourceType: 'ACCOUNT', accountId: personOf(index).dollarAccountId },
      destination: { destinationType: 'ACCOUNT', accountId: personOf(index).euroAccountId },
      lockedCurrencySide: 'SENDING',
      lockedCurrencyAmount: 1_000,
    });
  const execute = ({ id }: { id: string }) => send('POST', `/quotes/${id}/execute`);
  const payOut = (index: number) =>
    send('POST', '/transfer-out', {
      source: { accountId: personOf(index).dollarAccountId },
      destination: { accountId: personOf(index).bank },
      amount: 1_000,
      remittanceInformation: `invoice ${index}`,
    });
  const deposit = (index: number) =>
    send('POST', `/sandbox/internal-accounts/${personOf(index).dollarAccountId}/fund`, {
      amount: 1_000,
    });

  const quotes = await repeatWork(quote, WARM_UP);
  await mapConcurrently(quotes, execute);
  await repeatWork(payOut, WARM_UP);
  await repeatWork(deposit, WARM_UP);
  await waitForWork(cluster, false);
  await cluster.checkpoint();

  let preparedQuotes: { id: string; transactionId: string }[] = [];
  const measure = (kind: string, run: () => Promise<unknown>, delivers = false) =>
    measureKind(cluster, server.process.pid, { kind, run, delivers });
  const measurements = [
    await measure('quote', async () => {
      preparedQuotes = await repeatWork(quote);
    }),
    await measure('execute', () => mapConcurrently(preparedQuotes, execute)),
    await measure('payout', () => repeatWork(payOut)),
    await measure('deposit', () => repeatWork(deposit)),
    await measure('read', () =>
      mapConcurrently(preparedQuotes, ({ transactionId }) =>
        sendWithoutKey('GET', `/transactions/${transactionId}`),
      ),
    ),
  ];
  const receiver = startWorker('receiver');
  const port = await receiver.call<number>('listen');
  await sendWithoutKey('PATCH', '/config', { webhookEndpoint: `http://127.0.0.1:${port}/events` });
  measurements.push(await measure('payout, delivered', () => repeatWork(payOut), true));
  await receiver.stop();
  await server.process.stop();
  return measurements;
}

const HEAD = ['Kind', 'Node µs', 'PostgreSQL µs', 'Log B', 'Kept B', 'Reply B', 'Events'];
const RETENTION_HEAD = ['Event B', 'Request B', 'Body B', 'Reused B'];

function tableOf(measurements: readonly Measurement[]): string {
  const lines = measurements.map(({ kind, nodeUs, postgresUs, log, events, bytes }) => {
    const { kept, replies, requests, bodies, reused } = bytes;
    const figures = [nodeUs, postgresUs, log, kept, replies].map((value) => value.toFixed(0));
    const retentionFigures = [bytes.events, requests, bodies, reused].map((value) =>
      value.toFixed(0),
    );
    return [kind, ...figures, events.toFixed(1), ...retentionFigures];
  });
  const rows = [[...HEAD, ...RETENTION_HEAD], ...lines];
  return rows.map((row) => row.map((cell) => cell.padStart(14)).join('')).join('\n');
}

/** Measures the costs and prints them. All processes have exited when the promise resolves. */
export async function measureCosts(root: string): Promise<void> {
  const parent = path.join(root, 'bench', '.railhead');
  fs.mkdirSync(parent, { recursive: true });
  const scratch = fs.mkdtempSync(path.join(parent, 'capacity-'));
  const cluster = await startCluster(path.join(scratch, 'cluster'));
  try {
    const measurements = await measureAll(cluster, root, scratch);
    const machine = `${os.cpus().length} × ${os.cpus()[0]?.model.trim()}, Node ${process.version}`;
    console.log(`${machine}; ${await cluster.describe()}\n\n${tableOf(measurements)}\n`);
    for (const { kind, tables } of measurements) console.log(`${kind}: ${tables}`);
  } finally {
    await stopAll();
    await cluster.stop();
    fs.rmSync(scratch, { recursive: true, force: true });
  }
}
