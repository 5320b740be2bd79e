// Two servers that differ only in the number of their payments, and the requests to these servers.
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  AUTHORIZATION,
  FUNDS,
  mapConcurrently,
  personBody,
  type Request,
  requester,
  startServer,
} from '../../machine/api.ts';
import type { Bench } from '../../machine/bench.ts';
import type { Child } from '../../machine/children.ts';
import { runCommand } from '../../machine/command.ts';
import type { Probe } from '../../processes/probe-process.ts';
import { clientProbes, executeProbes, type KnownValues, rareClientProbes } from './api-probes.ts';
import { FIRST_AMOUNT, fillPayments, numberedId } from './fill.ts';

const PEOPLE = 10;
/** Number of platforms in addition to the first, each with a share of the payments. */
const OTHER_PLATFORMS = 7;
const BASE = '/operator/v1';
const DAY_MS = 86_400_000;
const COMPLETION_MS = 30_000;

export interface OperatorServer {
  database: string;
  payments: number;
  port: number;
  process: Child;
  authorization: string;
  probes: Record<ProbeKind, Probe[]>;
  /** Stops the server and starts it again. Returns the milliseconds until its first reply. */
  restart(): Promise<number>;
}

type ProbeKind =
  | 'lists'
  | 'rare'
  | 'search'
  | 'sums'
  | 'platforms'
  | 'client'
  | 'rareOfClient'
  | 'execute';

type Payment = KnownValues['payer'] & { id: string };

/** Creates a customer and executes a payment to an external account. */
async function pay(request: Request, index: number): Promise<Payment> {
  const person = await request<{ id: string }>('POST', '/customers', {
    ...personBody(index, ['USD']),
    platformCustomerId: `template-${index}`,
  });
  const accounts = `/customers/internal-accounts?customerId=${person.id}&currency=USD`;
  const { data } = await request<{ data: { id: string }[] }>('GET', accounts);
  const source = data[0]?.id as string;
  await request('POST', `/sandbox/internal-accounts/${source}/fund`, { amount: FUNDS });
  const payee = await request<{ id: string }>('POST', '/customers/external-accounts', {
    customerId: person.id,
    currency: 'USD',
    accountInfo: {
      accountType: 'USD_ACCOUNT',
      accountNumber: `1234${index}6000`,
      routingNumber: '021000021',
      beneficiary: { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' },
    },
  });
  const quote = await request<{ id: string; transactionId: string }>('POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: source },
    destination: { destinationType: 'ACCOUNT', accountId: payee.id },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 5_000,
  });
  await request('POST', `/quotes/${quote.id}/execute`);
  return { id: quote.transactionId, customer: person.id, source, payee: payee.id };
}

async function waitForCompletion(request: Request, id: string): Promise<void> {
  const deadline = performance.now() + COMPLETION_MS;
  while (performance.now() < deadline) {
    const { status } = await request<{ status: string }>('GET', `/transactions/${id}`);
    if (status === 'COMPLETED') return;
    await sleep(50);
  }
  throw new Error(`${id} did not complete within ${COMPLETION_MS} ms`);
}

const get = (name: string, query: string): Probe => ({ name, path: `${BASE}/${query}` });

const search = (name: string, body: object): Probe => ({
  ...{ name: `search by ${name}`, path: `${BASE}/search` },
  body: JSON.stringify(body),
});

const dayOf = (time: number) => new Date(time).toISOString().slice(0, 10);
const isoDaysAgo = (days: number) => new Date(Date.now() - days * DAY_MS).toISOString();

interface ServerFacts {
  /**
   * IDs of a payment and its quote, and the reference of the payment. The payment is among the
   * 50,000 newest of its platform.
   */
  payment: string;
  quote: string;
  reference: string;
  /** Cursor of the page that follows this payment. */
  cursor: string;
  at: Date;
  platform: string;
  people: number;
  /** Rail of all payments. */
  rail: string;
}

/**
 * Lists of payments, quotes, customers and events, with filters that find rows after reading few
 * others.
 */
function listsOf({ cursor, platform, people, rail }: ServerFacts): Probe[] {
  const busiestCustomer = numberedId('Customer', 1);
  const rareCustomer = numberedId('Customer', Math.floor(people / 2));
  const accounts = [1, Math.floor(people / 2)].map((n) => numberedId('InternalAccount', n));
  const week = `createdAfter=${isoDaysAgo(107)}&createdBefore=${isoDaysAgo(100)}`;
  return [
    get('payments', 'payments?limit=20'),
    get('payments, in the middle', `payments?limit=20&cursor=${cursor}`),
    get('payments of a platform', `payments?limit=20&platformId=${platform}`),
    get('payments of the sandbox', 'payments?limit=20&mode=sandbox'),
    get(
      'payments of a customer with a third of all',
      `payments?limit=20&customerId=${busiestCustomer}`,
    ),
    get('payments of a customer with few payments', `payments?limit=20&customerId=${rareCustomer}`),
    get('payments of an account with a third of all', `payments?limit=20&accountId=${accounts[0]}`),
    get('payments of an account with few payments', `payments?limit=20&accountId=${accounts[1]}`),
    get('payments of a type', 'payments?limit=20&type=OUTGOING'),
    get('payments of a status', 'payments?limit=20&status=COMPLETED'),
    get('payments of a currency', 'payments?limit=20&currency=USD'),
    get('payments over a rail', `payments?limit=20&rail=${rail}`),
    get('payments of a week', `payments?limit=20&${week}`),
    get('payments of a platform in a week', `payments?limit=20&platformId=${platform}&${week}`),
    get('quotes', 'quotes?limit=20'),
    get('quotes of a platform', `quotes?limit=20&platformId=${platform}`),
    get('quotes of a customer with few quotes', `quotes?limit=20&customerId=${rareCustomer}`),
    get('customers', 'customers?limit=20'),
    get('customers of a platform', `customers?limit=20&platformId=${platform}`),
    get('events', 'events?limit=20'),
  ];
}

/**
 * Filters that match few or no rows. The search for such a page ends after a time, so the page may be
 * short.
 */
const RARE_PROBES = [
  get('payments of a rare status', 'payments?limit=20&status=FAILED'),
  get('payments of a currency without payments', 'payments?limit=20&currency=KES'),
  get('payments over a rail without payments', 'payments?limit=20&rail=SEPA'),
];

function searchesOf({ payment, quote, reference }: ServerFacts): Probe[] {
  const amount = { amount: FIRST_AMOUNT + 77, currency: 'USD' };
  return [
    search('ID of a payment', { query: payment }),
    search('UUID', { query: quote.slice(quote.indexOf(':') + 1) }),
    search('reference', { query: reference }),
    search('amount', amount),
    search('amount and day', { ...amount, date: dayOf(Date.now() - 100 * DAY_MS) }),
    search('e-mail address', { query: 'unknown@example.com' }),
    search('telephone number', { query: '+44 7700 900999' }),
    search('name', { query: 'Ada Lovelace' }),
    search('name of a beneficiary', { query: 'Person 50' }),
    search("platform's ID of a customer", { query: 'person 50' }),
    search('suffix of an account number', { query: '0050' }),
  ];
}

const sumsOf = ({ platform }: ServerFacts): Probe[] => [
  get('sums of 30 days', 'metrics/payments'),
  get('sums of a year by week', `metrics/payments?bucket=week&from=${isoDaysAgo(364)}`),
  get('sums of 30 days by hour', `metrics/payments?bucket=hour&from=${isoDaysAgo(30)}`),
  get(
    'sums of a year by rail and platform',
    `metrics/payments?groupBy=rail,platform&from=${isoDaysAgo(364)}`,
  ),
  get('sums of a platform', `metrics/payments?platformId=${platform}`),
];

/** Sums for an operator of several platforms, as the overview of the console requests them. */
const sumsOfPlatforms = (authorization: string): Probe[] =>
  [
    get('overview', 'overview?mode=sandbox'),
    get('sums of 30 days', `metrics/payments?bucket=day&mode=sandbox&from=${isoDaysAgo(30)}`),
    get('sums of a day by hour', `metrics/payments?bucket=hour&mode=sandbox&from=${isoDaysAgo(1)}`),
    get('sums of a year by week', `metrics/payments?bucket=week&from=${isoDaysAgo(364)}`),
    get('trial balance', 'ledger/trial-balance'),
  ].map((probe) => ({ ...probe, authorization, name: `${probe.name}, several platforms` }));

async function readFacts(
  bench: Bench,
  { database, payments }: Pick<OperatorServer, 'database' | 'payments'>,
  request: Request,
  platform: string,
): Promise<ServerFacts> {
  const [row] = await bench.cluster.rows<{ id: string; quote: string; rail: string; at: Date }>(
    database,
    `select t.id, q.id as quote, t.rail, t.created_at as at
      from transactions t join quotes q on q.transaction_id = t.id
      where t.platform_id = $1 and t.id >= (select id from transactions
        where platform_id = $1 order by id desc offset $2::int limit 1)
      order by t.id limit 1`,
    [platform, Math.floor(Math.min(payments / 2, 50_000))],
  );
  const { id, quote, rail, at } = row as NonNullable<typeof row>;
  const payment = await request<{ reconciliationInstructions?: { reference: string } }>(
    'GET',
    `/transactions/${id}`,
  );
  return {
    ...{ payment: id, quote, rail, platform, at, people: Math.max(100, Math.ceil(payments / 100)) },
    reference: payment.reconciliationInstructions?.reference ?? id,
    cursor: Buffer.from(`${at.getTime()} ${id}`).toString('base64url'),
  };
}

/** Creates a database with this number of payments, and starts a server on it. */
export async function startOperatorServer(
  bench: Bench,
  name: string,
  payments: number,
): Promise<OperatorServer> {
  const { cluster, scratch, logLevel, profile } = bench;
  const database = `bench_operator_${name}`;
  const url = await cluster.create(database);
  const dataDir = path.join(scratch, `operator-${name}`);
  const args = ['--database-url', url, '--data-dir', dataDir];
  const log = path.join(scratch, `operator-${name}.log`);
  const firstServer = await startServer(bench, args, { log });
  const request = requester(firstServer.port);
  const templates = await mapConcurrently(Array.from({ length: PEOPLE }), (_, index) =>
    pay(request, index),
  );
  const templateIds = templates.map(({ id }) => id);
  for (const id of templateIds) await waitForCompletion(request, id);
  const env = { DATABASE_URL: url, RAILHEAD_DATA_DIR: dataDir };
  const otherPlatforms: string[] = [];
  for (let n = 1; n <= OTHER_PLATFORMS; n++) {
    const createdPlatform = await runCommand<{ platformId: string }>(bench, env, [
      ...['platform', 'create', '--name', `Other ${n}`],
    ]);
    otherPlatforms.push(createdPlatform.platformId);
  }
  const createToken = (...args: string[]) =>
    runCommand<{ secret: string }>(bench, env, [
      ...['operator-token', 'create', '--name', 'Bench', '--role', 'administrator', ...args],
    ]);
  const token = await createToken();
  const [mainPlatform] = await cluster.rows<{ id: string }>(
    database,
    'select platform_id as id from transactions limit 1',
  );
  const platform = mainPlatform?.id as string;
  const limitedToken = await createToken(
    '--platforms',
    [platform, ...otherPlatforms.slice(1)].join(','),
  );
  await firstServer.process.stop();
  await fillPayments(
    url,
    { payments: templateIds, mainPlatform: platform, otherPlatforms },
    payments,
  );
  await cluster.checkpoint();
  const runningServer = await startServer(bench, args, { log, logLevel, profile });
  const facts = await readFacts(
    bench,
    { database, payments },
    requester(runningServer.port),
    platform,
  );
  const [payer] = templates;
  const clientFacts = { ...facts, authorization: AUTHORIZATION, payer: payer as Payment };
  const server: OperatorServer = {
    ...{ database, payments, port: runningServer.port, process: runningServer.process },
    authorization: `Bearer ${token.secret}`,
    probes: {
      lists: listsOf(facts),
      rare: RARE_PROBES,
      search: searchesOf(facts),
      sums: sumsOf(facts),
      platforms: sumsOfPlatforms(`Bearer ${limitedToken.secret}`),
      client: clientProbes(clientFacts),
      rareOfClient: rareClientProbes(clientFacts),
      execute: executeProbes(clientFacts),
    },
    async restart() {
      await server.process.stop();
      const restartedServer = await startServer(bench, args, { log, logLevel });
      Object.assign(server, { port: restartedServer.port, process: restartedServer.process });
      return restartedServer.startedMs;
    },
  };
  return server;
}
