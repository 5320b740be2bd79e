// Row 10: a page of transactions with filters. The peer is a minimal Fastify route that sends the
// same statements through `pg` and returns the rows as JSON.
import { transactions } from '../../../server/src/features/payments/transactions/store.ts';
import { countSql, type Filter, pageSql } from '../../../server/src/runtime/db/paging.ts';
import { AUTHORIZATION, BASE, copyQuotes, DATABASE } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { startWorker } from '../machine/children.ts';
import { databaseUrl } from '../machine/cluster.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import type { ListOptions } from '../processes/bare-process.ts';
import type { Load } from '../processes/load-process.ts';
import { alternate, bestOf, printProgress, type Row, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

const TRANSACTIONS = 100_000;
const POOL_SIZE = 16;

/** The page that both sides read: the newest 20 transactions of one customer and status. */
async function pageOf(bench: Bench) {
  const [row] = await bench.cluster.rows<{ platform: string; customer: string; status: string }>(
    DATABASE,
    `select platform_id as platform, customer_id as customer, status from transactions
      where customer_id is not null and type = 'OUTGOING' limit 1`,
  );
  const { platform, customer, status } = row as NonNullable<typeof row>;
  const filters: Filter[] = [
    { column: 'platform_id', op: '=', value: platform },
    { column: 'customer_id', op: '=', value: customer },
    { column: 'status', op: '=', value: status },
  ];
  const query = { filters, sort: 'desc', limit: 20 } as const;
  return {
    path: `/transactions?customerId=${customer}&status=${status}&limit=20`,
    statements: [pageSql(transactions, query), countSql(transactions, query)],
  };
}

export async function listRows(bench: Bench): Promise<Row[]> {
  const { settings, quick, cluster } = bench;
  const { seconds, warmupMs, rounds, tuningSeconds } = settings;
  const api = await bench.api();
  await copyQuotes(bench, DATABASE, api.templates.convert, quick ? 5_000 : TRANSACTIONS);
  await cluster.rows(DATABASE, 'vacuum analyze transactions');
  const { path, statements } = await pageOf(bench);
  const bareServer = startWorker('bare');
  const url = databaseUrl(cluster.url, DATABASE);
  const listPath = `${BASE}/transactions`;
  const options: ListOptions = { url, poolSize: POOL_SIZE, path: listPath, statements };
  const barePort = await bareServer.call<number>('listenWithRows', options);
  const load = startWorker('load');
  const get = async (port: number, connections: number, runSeconds = seconds) => {
    await cluster.checkpoint();
    const processorUse = watchProcessor({
      server: () => [api.process.pid],
      'bare Fastify': () => [bareServer.pid],
      PostgreSQL: () => familyOf(cluster.pid),
    });
    const run = await load.call<Run>('run', {
      ...{ port, connections, warmupMs, seconds: runSeconds, method: 'GET', paths: [BASE + path] },
      ...{
        isSinglePass: false,
        authorization: AUTHORIZATION,
        hasIdempotencyKeys: false,
        status: 200,
      },
    } satisfies Load);
    printProgress(processorUse.report(run.completedCount));
    return run;
  };
  const findBest = (name: string, port: number) =>
    bestOf(`list, ${name}, connections`, quick ? [64] : [16, 64], (n) =>
      get(port, n, tuningSeconds),
    );
  const bestConnections = {
    railhead: await findBest('railhead', api.port),
    bare: await findBest('bare', barePort),
  };
  const runs = await alternate(
    {
      'list, railhead': () => get(api.port, bestConnections.railhead),
      'list, bare Fastify': () => get(barePort, bestConnections.bare),
    },
    rounds,
  );
  for (const child of [load, bareServer]) await child.stop();
  return [
    {
      id: '10',
      label: 'GET /transactions, a page of 20 with filters',
      unit: '/s',
      railhead: sideOf(`server, ${bestConnections.railhead} connections`, runs['list, railhead']),
      peer: sideOf(`bare Fastify and pg, ${bestConnections.bare}`, runs['list, bare Fastify']),
      target: 0.5,
    },
  ];
}
