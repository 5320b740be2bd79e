// The server under test and its data. The server is a process with the start command of
// `npm start`, on a database of the shared PostgreSQL. Its customers have funds and two quotes
// each. Further quotes are copies that are inserted in SQL, because a run executes more quotes
// than could be created over HTTP before the first expires.
import fs from 'node:fs';
import net from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Api, Bench, Templates } from './bench.ts';
import { type Child, type StartOptions, startNode } from './children.ts';

export const BASE = '/2025-10-13';
const CLIENT = { id: 'bench', secret: 'bench-secret' };
export const basic = (id: string, secret: string) =>
  `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}`;
export const AUTHORIZATION = basic(CLIENT.id, CLIENT.secret);
export const DATABASE = 'bench_api';
/** A copy of the database, for the peer with one transaction per request. */
export const PEER_DATABASE = 'bench_api_peer';

const START_MS = 60_000;
const CONCURRENCY = 32;

export const findFreePort = (): Promise<number> =>
  new Promise((resolve, reject) => {
    const server = net.createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as net.AddressInfo;
      server.close(() => resolve(port));
    });
  });

/** Arguments of Node in the start script of the checkout: flags and program. */
function startCommand(root: string): string[] {
  const text = fs.readFileSync(path.join(root, 'package.json'), 'utf8');
  const { scripts } = JSON.parse(text) as { scripts: { start: string } };
  const [, ...args] = scripts.start.split(' ');
  return args.map((arg) => (arg.startsWith('-') ? arg : path.join(root, arg)));
}

/** Starts the server and waits until it responds with its platform. */
export async function startServer(
  { root, node }: Pick<Bench, 'root' | 'node'>,
  args: readonly string[],
  options: StartOptions & { log: string; logLevel?: string },
): Promise<{ port: number; process: Child; startedMs: number }> {
  const port = await findFreePort();
  const startMs = performance.now();
  const child = startNode([...startCommand(root), '--port', `${port}`, ...args], {
    cwd: root,
    node,
    profile: options.profile,
    log: options.log,
    env: {
      RAILHEAD_CLIENT_ID: CLIENT.id,
      RAILHEAD_CLIENT_SECRET: CLIENT.secret,
      RAILHEAD_SAMPLE_CUSTOMER: 'none',
      RAILHEAD_RATE_LIMIT: '0',
      RAILHEAD_RATE_LIMIT_QUOTES: '0',
      RAILHEAD_RATE_LIMIT_BYTES: '0',
      LOG_LEVEL: options.logLevel ?? 'info',
      ...options.env,
    },
  });
  await waitUntilReady(`http://127.0.0.1:${port}${BASE}/config`, child);
  return { port, process: child, startedMs: performance.now() - startMs };
}

/** Polls until the response is 200. Throws if the process exits first, or after 60 s. */
export async function waitUntilReady(url: string, child: Child): Promise<void> {
  const deadline = performance.now() + START_MS;
  let hasEnded = false;
  void child.exit.then(() => {
    hasEnded = true;
  });
  while (performance.now() < deadline && !hasEnded) {
    const status = await fetch(url, { headers: { authorization: AUTHORIZATION } }).then(
      async (reply) => {
        await reply.arrayBuffer();
        return reply.status;
      },
      () => 0,
    );
    if (status === 200) return;
    await sleep(5);
  }
  throw new Error(`${url} did not return 200. Output of the server: ${child.output()}`);
}

/** Processes items with limited concurrency. Returns results in order. */
export async function mapConcurrently<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
) {
  const results: R[] = [];
  let nextIndex = 0;
  const worker = async () => {
    for (let index = nextIndex++; index < items.length; index = nextIndex++) {
      results[index] = await work(items[index] as T, index);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, worker));
  return results;
}

export type Request = Api['request'];

export function requester(port: number, authorization = AUTHORIZATION): Request {
  return async <R>(method: string, path: string, body?: unknown) => {
    const reply = await fetch(`http://127.0.0.1:${port}${BASE}${path}`, {
      method,
      headers: {
        authorization,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${text}`);
    return (text === '' ? undefined : JSON.parse(text)) as R;
  };
}

interface Holder {
  dollarAccountId: string;
  euroAccountId: string;
}

/** Maximum amount of a sandbox deposit, in cents. */
export const FUNDS = 100_000_000_000;

/** Body that registers a customer. */
export const personBody = (index: number, currencies: readonly string[]) => ({
  customerType: 'INDIVIDUAL',
  platformCustomerId: `bench-${index}`,
  fullName: 'Ada Lovelace',
  birthDate: '1990-01-15',
  nationality: 'US',
  address: { line1: '1 Main St', city: 'Austin', state: 'TX', postalCode: '78701', country: 'US' },
  currencies,
});

/** A customer with a funded USD account and a EUR account. */
async function createHolder(request: Request, index: number): Promise<Holder> {
  const { id } = await request<{ id: string }>(
    'POST',
    '/customers',
    personBody(index, ['USD', 'EUR']),
  );
  const accountIn = async (currency: string) => {
    const path = `/customers/internal-accounts?customerId=${id}&currency=${currency}`;
    const { data } = await request<{ data: { id: string }[] }>('GET', path);
    return data[0]?.id as string;
  };
  const [dollarAccountId, euroAccountId] = await Promise.all([accountIn('USD'), accountIn('EUR')]);
  await request('POST', `/sandbox/internal-accounts/${dollarAccountId}/fund`, { amount: FUNDS });
  return { dollarAccountId, euroAccountId };
}

async function createQuote(request: Request, from: string, to: string): Promise<string> {
  const { id } = await request<{ id: string }>('POST', '/quotes', {
    source: { sourceType: 'ACCOUNT', accountId: from },
    destination: { destinationType: 'ACCOUNT', accountId: to },
    lockedCurrencySide: 'SENDING',
    lockedCurrencyAmount: 1_000,
  });
  return id;
}

async function createTemplates(request: Request, count: number): Promise<Templates> {
  const holders = await mapConcurrently(Array.from({ length: count }), (_, index) =>
    createHolder(request, index),
  );
  const convert = await mapConcurrently(holders, ({ dollarAccountId, euroAccountId }) =>
    createQuote(request, dollarAccountId, euroAccountId),
  );
  const pay = await mapConcurrently(holders, ({ dollarAccountId }, index) =>
    createQuote(request, dollarAccountId, (holders[(index + 1) % count] as Holder).dollarAccountId),
  );
  return { convert, pay, hot: convert.slice(0, 1) };
}

/** Starts the server on its database. Events have no endpoint until a row attaches a receiver. */
export async function startApi(bench: Bench): Promise<Api> {
  const { cluster, scratch, logLevel, profile } = bench;
  const url = await cluster.create(DATABASE);
  const args = ['--database-url', url, '--data-dir', path.join(scratch, 'server')];
  const log = path.join(scratch, 'server.log');
  const firstServer = await startServer(bench, args, { log });
  const templates = await createTemplates(requester(firstServer.port), bench.quick ? 200 : 2_000);
  await firstServer.process.stop();
  // The quotes are copied during the whole bench, so the sweep must not expire them.
  await cluster.rows(DATABASE, "update quotes set expires_at = expires_at + interval '10 years'");
  await cluster.copy(DATABASE, PEER_DATABASE);
  for (const name of [DATABASE, PEER_DATABASE]) await cluster.rows(name, 'vacuum analyze');
  const { port, process } = await startServer(bench, args, { log, profile, logLevel });
  return { port, process, templates, request: requester(port) };
}

const COPY = `with copied as materialized (
    select q, t, 'Quote:' || uuidv7() as quote_id, 'Transaction:' || uuidv7() as transaction_id
    from generate_series(1, $2::int) round
      cross join unnest($1::text[]) template(id)
      join quotes q on q.id = template.id join transactions t on t.id = q.transaction_id
    order by round
  ), payments as (
    insert into transactions select copy.* from copied, lateral jsonb_populate_record(copied.t,
      jsonb_build_object('id', copied.transaction_id, 'quote_id', copied.quote_id)) copy
  ), new_quotes as (
    insert into quotes select copy.* from copied, lateral jsonb_populate_record(copied.q,
      jsonb_build_object('id', copied.quote_id, 'transaction_id', copied.transaction_id,
        'expires_at', now() + interval '1 day')) copy
  )
  select quote_id, transaction_id from copied`;

interface Copies {
  quote_id: string;
  transaction_id: string;
}

/**
 * Creates at least `count` quotes like the templates, in an order that cycles through the accounts.
 */
export function copyQuotes(
  bench: Bench,
  database: string,
  templates: readonly string[],
  count: number,
): Promise<Copies[]> {
  const copiesPerTemplate = Math.ceil(count / templates.length);
  return bench.cluster.rows<Copies>(database, COPY, [templates, copiesPerTemplate]);
}
