// Row 2: executing quotes between internal accounts over HTTP, with all steps. Each request has
// credentials and an Idempotency-Key. Events are written, and webhooks are delivered to a receiver.
// The peers are pgbench, which only posts one transfer per transaction, and the same operation in
// one interactive transaction per request.
import { AUTHORIZATION, BASE, copyQuotes, DATABASE, PEER_DATABASE } from '../machine/api.ts';
import type { Api, Bench, Templates } from '../machine/bench.ts';
import { startWorker, type Worker } from '../machine/children.ts';
import { databaseUrl } from '../machine/cluster.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import type { Load } from '../processes/load-process.ts';
import type { PeerOptions } from '../processes/peer-process.ts';
import { alternate, bestOf, printProgress, type Row, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

export type Kind = keyof Templates;

/**
 * Quotes per second that are prepared for the first run of each side. At least three quarters of
 * them are prepared for later runs.
 */
const FIRST_GUESS = { railhead: 3_000, peer: 800 };
/** Factor by which more quotes are prepared than the fastest previous run would have used. */
const RESERVE_FACTOR = 1.5;

export interface RowContext {
  bench: Bench;
  api: Api;
  load: Worker;
  /** Processes whose processor time is printed after each run. */
  groups: Record<string, () => number[]>;
}

/**
 * Suspends the server, so that it delivers no events during the run of a peer. Returns a function that
 * resumes it.
 */
function pauseServer(api: Api): () => void {
  api.process.pause();
  return () => api.process.resume();
}

export interface RunOptions {
  /** Open load: requests start at fixed times. Absent: each request follows a response. */
  perSecond?: number;
  /** Number of quotes to execute. By default as many as the time allows. */
  count?: number;
}

/** The run, with an error if its quotes ran out before a rate could be measured. */
function addExhaustionError(run: Run, seconds: number): Run {
  if ((run.measuredS ?? seconds) >= seconds / 10) return run;
  return {
    ...run,
    perSecond: 0,
    errors: run.errors + 1,
    firstError: 'the prepared quotes were used up before the end of the measurement',
  };
}

/**
 * Executes new quotes at a port for a number of seconds. Records how many quotes the next run may
 * need.
 */
export function executor(context: RowContext, database: string) {
  const { bench, api, load } = context;
  const { warmupMs } = bench.settings;
  const initialRate = database === DATABASE ? FIRST_GUESS.railhead : FIRST_GUESS.peer;
  let fastestRate = initialRate / 2;
  let executedCount = 0;
  let processorUse: ReturnType<typeof watchProcessor> | undefined;
  let lastRun: Run | undefined;
  return {
    done: () => executedCount,
    /** Processor time of a group per request of the last run, in microseconds. */
    usPerRequest: (group: string) =>
      processorUse?.usPerItem(group, lastRun?.completedCount ?? 0) ?? 0,
    async run(
      kind: Kind,
      port: number,
      connections: number,
      seconds: number,
      { perSecond, count }: RunOptions = {},
    ): Promise<Run> {
      await bench.cluster.checkpoint();
      const rate = perSecond ?? (lastRun ? fastestRate * RESERVE_FACTOR : initialRate);
      const quoteCount = count ?? Math.ceil(rate * (seconds + warmupMs / 1000));
      const quotes = await copyQuotes(bench, database, api.templates[kind], quoteCount);
      const resume = database === DATABASE ? undefined : pauseServer(api);
      processorUse = watchProcessor(context.groups);
      const measuredRun = await load.call<Run>('run', {
        port,
        connections,
        warmupMs,
        seconds,
        method: 'POST',
        paths: quotes.map((quote) => `${BASE}/quotes/${quote.quote_id}/execute`),
        isSinglePass: true,
        perSecond,
        authorization: AUTHORIZATION,
        hasIdempotencyKeys: true,
        status: 200,
      } satisfies Load);
      const run = count === undefined ? addExhaustionError(measuredRun, seconds) : measuredRun;
      lastRun = run;
      printProgress(processorUse.report(run.completedCount));
      resume?.();
      fastestRate = Math.max(fastestRate, run.perSecond);
      executedCount += run.completedCount;
      return run;
    },
  };
}

const CHECK = `select
  (select count(*) from transactions where type = 'OUTGOING' and status = 'COMPLETED') as completed,
  (select count(*) from idempotency) as keys,
  (select count(*) from transactions t where t.type = 'OUTGOING' and t.status = 'COMPLETED'
    and not exists (select from ledger_transfers l where l.transaction_id = t.id)) as unpaid,
  (select count(*) from (select currency from ledger_accounts
    group by currency having sum(balance) <> 0) unbalanced) as unbalanced,
  (select count(*) from webhook_attempts where result <> 'delivered') as failed,
  (select count(*) from webhook_attempts where result = 'delivered') as delivered,
  (select count(*) from events) as events`;

/** Number of executed quotes in a database. */
export async function countExecuted(bench: Bench, name: string): Promise<number> {
  const [row] = await bench.cluster.rows<{ completed: string }>(name, CHECK);
  return Number(row?.completed);
}

/** Compares the database with the acknowledged requests. Any difference is an error. */
export async function differences(bench: Bench, name: string, doneCount: number): Promise<number> {
  const [row] = await bench.cluster.rows<Record<string, string>>(name, CHECK);
  const counts = Object.entries(row ?? {}).map(([kind, count]) => `${count} ${kind}`);
  printProgress(`${name}: ${doneCount} acknowledged; ${counts.join(', ')}`);
  const countOf = (column: string) => Number(row?.[column]);
  const missingCount =
    Math.abs(countOf('completed') - doneCount) + Math.abs(countOf('keys') - doneCount);
  return missingCount + countOf('unpaid') + countOf('unbalanced') + countOf('failed');
}

/** The interactive peer with the pool size and connections at which it was fastest in this run. */
export async function preparePeer(context: RowContext, peer: Worker) {
  const { bench } = context;
  const { tuningSeconds } = bench.settings;
  const [platform] = await bench.cluster.rows<{ id: string }>(
    PEER_DATABASE,
    'select platform_id as id from quotes limit 1',
  );
  const listen = (poolSize: number) =>
    peer.call<number>('listen', {
      url: databaseUrl(bench.cluster.url, PEER_DATABASE),
      poolSize,
      platformId: platform?.id as string,
      authorization: AUTHORIZATION,
    } satisfies PeerOptions);
  const { run, done } = executor(context, PEER_DATABASE);
  const choices = bench.quick ? ['16/64'] : ['8/64', '16/64', '32/64', '32/256'];
  const split = (choice: string) => choice.split('/').map(Number) as [number, number];
  const bestSetting = await bench.interactive(() =>
    bestOf('interactive, pool/connections', choices, async (choice) => {
      const [poolSize, connections] = split(choice);
      return run('convert', await listen(poolSize), connections, tuningSeconds);
    }),
  );
  const [poolSize, connections] = split(bestSetting);
  const port = await listen(poolSize);
  const { seconds } = bench.settings;
  return {
    name: `pool ${poolSize}, ${connections}`,
    done,
    run: (kind: Kind, options?: RunOptions) => run(kind, port, connections, seconds, options),
  };
}

async function attachReceiver(api: Api): Promise<Worker> {
  const receiver = startWorker('receiver');
  const port = await receiver.call<number>('listen');
  await api.request('PATCH', '/config', { webhookEndpoint: `http://127.0.0.1:${port}/events` });
  return receiver;
}

export async function executeRows(bench: Bench): Promise<Row[]> {
  const { settings, quick } = bench;
  const { rounds, seconds, tuningSeconds } = settings;
  const api = await bench.api();
  const pgbench = await bench.pgbench();
  const receiver = await attachReceiver(api);
  const load = startWorker('load');
  const peerWorker = startWorker('peer');
  const groups = {
    server: () => [api.process.pid],
    interactive: () => [peerWorker.pid],
    PostgreSQL: () => familyOf(bench.cluster.pid),
    load: () => [load.pid],
    receiver: () => [receiver.pid],
  };
  const context = { bench, api, load, groups };
  const serverExecutor = executor(context, DATABASE);
  const connections = await bestOf('execute, connections', quick ? [64] : [64, 256], (n) =>
    serverExecutor.run('convert', api.port, n, tuningSeconds),
  );
  const peer = await preparePeer(context, peerWorker);
  const execute = (kind: Kind) => () => serverExecutor.run(kind, api.port, connections, seconds);
  const runPgbench = (spread: 'spread' | 'hot') => async () => {
    const resume = pauseServer(api);
    const run = await pgbench.run(spread);
    resume();
    return run;
  };
  const runs = await alternate(
    {
      'execute, spread': execute('convert'),
      'pgbench, spread': runPgbench('spread'),
      'interactive, spread': () => peer.run('convert'),
      'execute, hot': execute('hot'),
      'pgbench, hot': runPgbench('hot'),
      'execute, one currency': execute('pay'),
      'interactive, one currency': () => peer.run('pay'),
    },
    rounds,
  );
  printProgress(`${await receiver.call<number>('count')} events delivered during the runs`);
  for (const child of [load, peerWorker, api.process]) await child.stop();
  const wrongCount = await differences(bench, DATABASE, serverExecutor.done());
  const wrongPeerCount = await differences(bench, PEER_DATABASE, peer.done());
  await receiver.stop();
  const side = (name: string, runs: Run[], errors: number) => {
    const side = sideOf(name, runs);
    return { ...side, errors: side.errors + errors };
  };
  const server = (runs: Run[]) => side(`server, ${connections} connections`, runs, wrongCount);
  const interactive = (runs: Run[]) => side(`interactive, ${peer.name}`, runs, wrongPeerCount);
  const pgbenchSide = (kind: 'spread' | 'hot') =>
    side(`pgbench, ${pgbench.best[kind]} clients`, runs[`pgbench, ${kind}`], 0);
  const row = (
    id: string,
    subject: string,
    serverSide: Row['railhead'],
    peerSide: Row['peer'],
    target?: number,
  ): Row => ({
    id,
    label: `execute a quote${subject}`,
    unit: '/s',
    railhead: serverSide,
    peer: peerSide,
    target,
  });
  const spread = () => server(runs['execute, spread']);
  return [
    row('2a', ', 2,000 source accounts', spread(), pgbenchSide('spread'), 0.5),
    row('2b', ', one hot source account', server(runs['execute, hot']), pgbenchSide('hot'), 1.5),
    row('2c', ', 2,000 source accounts', spread(), interactive(runs['interactive, spread']), 6),
    row(
      '2d',
      ', one currency, no system account',
      server(runs['execute, one currency']),
      interactive(runs['interactive, one currency']),
    ),
  ];
}
