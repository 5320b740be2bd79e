// Row 2: executing quotes between internal accounts over HTTP, complete: credentials and an
// Idempotency-Key on each request, events written, and the deliverer sending them to a receiver.
// Compared with pgbench, which posts one transfer per transaction without the rest, and with the
// same operation as one interactive transaction per request.
import { AUTHORIZATION, BASE, copyQuotes, DATABASE, PEER_DATABASE } from '../machine/api.ts';
import type { Api, Bench, Templates } from '../machine/bench.ts';
import { startWorker, type Worker } from '../machine/children.ts';
import { databaseUrl } from '../machine/cluster.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import type { Load } from '../processes/load-process.ts';
import type { PeerOptions } from '../processes/peer-process.ts';
import { bestOf, note, type Row, sideOf, takeTurns } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

export type Kind = keyof Templates;

/** Quotes per second prepared for the first run of each side; later runs get at least half. */
const FIRST_GUESS = { ours: 3_000, peer: 800 };
/** More quotes than the fastest run so far would have used. */
const SPARE = 1.5;

export interface Parts {
  bench: Bench;
  api: Api;
  load: Worker;
  /** The processes whose processor time is shown after each run. */
  groups: Record<string, () => number[]>;
}

/**
 * Suspends the server, which would otherwise deliver events on a peer's time; returns a function
 * that resumes it.
 */
function pauseServer(api: Api): () => void {
  api.process.pause();
  return () => api.process.resume();
}

export interface RunOptions {
  /** Open load: requests at fixed times. Otherwise each follows a response. */
  perSecond?: number;
  /** Executes this many quotes, as far as the time suffices. */
  count?: number;
}

/** The run, with an error if its quotes ran out before a rate could be measured. */
function checked(run: Run, seconds: number): Run {
  if ((run.measuredS ?? seconds) >= seconds / 10) return run;
  return { ...run, perSecond: 0, errors: run.errors + 1, firstError: 'the quotes ran out' };
}

/** Executes fresh quotes at a port for a while; records how many the next run may need. */
export function executor(parts: Parts, database: string) {
  const { bench, api, load } = parts;
  const { warmupMs } = bench.settings;
  const guess = database === DATABASE ? FIRST_GUESS.ours : FIRST_GUESS.peer;
  let fastest = guess / 2;
  let done = 0;
  let busy: ReturnType<typeof watchProcessor> | undefined;
  let last: Run | undefined;
  return {
    done: () => done,
    /** Microseconds of processor time of a group for each request of the last run. */
    each: (group: string) => busy?.each(group, last?.done ?? 0) ?? 0,
    async run(
      kind: Kind,
      port: number,
      connections: number,
      seconds: number,
      { perSecond, count }: RunOptions = {},
    ): Promise<Run> {
      await bench.cluster.checkpoint();
      const rate = perSecond ?? (last ? fastest * SPARE : guess);
      const wanted = count ?? Math.ceil(rate * (seconds + warmupMs / 1000));
      const quotes = await copyQuotes(bench, database, api.templates[kind], wanted);
      const resume = database === DATABASE ? undefined : pauseServer(api);
      busy = watchProcessor(parts.groups);
      const measured = await load.call<Run>('run', {
        port,
        connections,
        warmupMs,
        seconds,
        method: 'POST',
        paths: quotes.map((quote) => `${BASE}/quotes/${quote.quote_id}/execute`),
        once: true,
        perSecond,
        authorization: AUTHORIZATION,
        keyed: true,
        status: 200,
      } satisfies Load);
      const run = count === undefined ? checked(measured, seconds) : measured;
      last = run;
      note(busy.report(run.done));
      resume?.();
      fastest = Math.max(fastest, run.perSecond);
      done += run.done;
      return run;
    },
  };
}

const CHECK = `select
  (select count(*) from transactions where type = 'OUTGOING' and status = 'COMPLETED') as completed,
  (select count(*) from idempotency) as remembered,
  (select count(*) from transactions t where t.type = 'OUTGOING' and t.status = 'COMPLETED'
    and not exists (select from ledger_transfers l where l.transaction_id = t.id)) as unpaid,
  (select count(*) from (select currency from ledger_accounts
    group by currency having sum(balance) <> 0) unbalanced) as unbalanced,
  (select count(*) from webhook_attempts where result <> 'delivered') as failed,
  (select count(*) from webhook_attempts where result = 'delivered') as delivered,
  (select count(*) from events) as events`;

/** Quotes that are executed in a database. */
export async function executedIn(bench: Bench, name: string): Promise<number> {
  const [row] = await bench.cluster.rows<{ completed: string }>(name, CHECK);
  return Number(row?.completed);
}

/** Compares the database with the acknowledged requests; any difference is an error. */
export async function differences(bench: Bench, name: string, done: number): Promise<number> {
  const [row] = await bench.cluster.rows<Record<string, string>>(name, CHECK);
  const seen = Object.entries(row ?? {}).map(([what, count]) => `${count} ${what}`);
  note(`${name}: ${done} acknowledged; ${seen.join(', ')}`);
  const at = (what: string) => Number(row?.[what]);
  const lost = Math.abs(at('completed') - done) + Math.abs(at('remembered') - done);
  return lost + at('unpaid') + at('unbalanced') + at('failed');
}

/** The interactive peer with the pool size and connections at which it was fastest in this run. */
export async function preparePeer(parts: Parts, peer: Worker) {
  const { bench } = parts;
  const { tryS } = bench.settings;
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
  const { run, done } = executor(parts, PEER_DATABASE);
  const choices = bench.quick ? ['16/64'] : ['8/64', '16/64', '32/64', '32/256'];
  const split = (choice: string) => choice.split('/').map(Number) as [number, number];
  const best = await bench.interactive(() =>
    bestOf('interactive, pool/connections', choices, async (choice) => {
      const [poolSize, connections] = split(choice);
      return run('convert', await listen(poolSize), connections, tryS);
    }),
  );
  const [poolSize, connections] = split(best);
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
  const { rounds, seconds, tryS } = settings;
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
  const parts = { bench, api, load, groups };
  const ours = executor(parts, DATABASE);
  const connections = await bestOf('execute, connections', quick ? [64] : [64, 256], (n) =>
    ours.run('convert', api.port, n, tryS),
  );
  const peer = await preparePeer(parts, peerWorker);
  const execute = (kind: Kind) => () => ours.run(kind, api.port, connections, seconds);
  const plain = (spread: 'spread' | 'hot') => async () => {
    const resume = pauseServer(api);
    const run = await pgbench.run(spread);
    resume();
    return run;
  };
  const runs = await takeTurns(
    {
      'execute, spread': execute('convert'),
      'pgbench, spread': plain('spread'),
      'interactive, spread': () => peer.run('convert'),
      'execute, hot': execute('hot'),
      'pgbench, hot': plain('hot'),
      'execute, one currency': execute('pay'),
      'interactive, one currency': () => peer.run('pay'),
    },
    rounds,
  );
  note(`${await receiver.call<number>('count')} events delivered meanwhile`);
  for (const child of [load, peerWorker, api.process]) await child.stop();
  const wrong = await differences(bench, DATABASE, ours.done());
  const wrongPeer = await differences(bench, PEER_DATABASE, peer.done());
  await receiver.stop();
  const side = (name: string, of: Run[], more: number) => {
    const made = sideOf(name, of);
    return { ...made, errors: made.errors + more };
  };
  const server = (of: Run[]) => side(`server, ${connections} connections`, of, wrong);
  const interactive = (of: Run[]) => side(`interactive, ${peer.name}`, of, wrongPeer);
  const bare = (kind: 'spread' | 'hot') =>
    side(`pgbench, ${pgbench.best[kind]} clients`, runs[`pgbench, ${kind}`], 0);
  const row = (id: string, what: string, a: Row['ours'], b: Row['peer'], target?: number): Row => ({
    id,
    what: `execute a quote${what}`,
    unit: '/s',
    ours: a,
    peer: b,
    target,
  });
  const spread = () => server(runs['execute, spread']);
  return [
    row('2a', ', 2,000 source accounts', spread(), bare('spread'), 0.5),
    row('2b', ', one hot source account', server(runs['execute, hot']), bare('hot'), 1.5),
    row('2c', ', 2,000 source accounts', spread(), interactive(runs['interactive, spread']), 6),
    row(
      '2d',
      ', one currency, no system account',
      server(runs['execute, one currency']),
      interactive(runs['interactive, one currency']),
    ),
  ];
}
