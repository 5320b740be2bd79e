// Row 3: reading one transaction. The peers are a minimal Fastify route that returns the same bytes
// without a database, and Prism, which generates a response from the OpenAPI document.
import path from 'node:path';
import {
  AUTHORIZATION,
  BASE,
  copyQuotes,
  DATABASE,
  findFreePort,
  waitUntilReady,
} from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { type Child, startNode, startWorker } from '../machine/children.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import type { Load } from '../processes/load-process.ts';
import { alternate, bestOf, printProgress, type Row, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

const TRANSACTIONS = 10_000;

const prismProgram = (root: string) =>
  path.join(root, 'bench', 'node_modules', '@stoplight', 'prism-cli', 'dist', 'index.js');

/** Starts Prism with the OpenAPI document and minimal logging. Prism serves paths without the base path. */
export async function startPrism(
  root: string,
): Promise<{ port: number; process: Child; startedMs: number }> {
  const port = await findFreePort();
  const startMs = performance.now();
  const args = ['mock', path.join(root, 'openapi.json'), '-h', '127.0.0.1', '-p', `${port}`];
  const child = startNode([prismProgram(root), ...args, '--verboseLevel', 'silent']);
  await waitUntilReady(`http://127.0.0.1:${port}/config`, child);
  return { port, process: child, startedMs: performance.now() - startMs };
}

export async function readRows(bench: Bench): Promise<Row[]> {
  const { settings, quick, cluster } = bench;
  const { seconds, warmupMs, rounds, tuningSeconds } = settings;
  const api = await bench.api();
  const copies = await copyQuotes(bench, DATABASE, api.templates.convert, TRANSACTIONS);
  const paths = copies.map((copy) => `/transactions/${copy.transaction_id}`);
  const transaction = await api.request<unknown>('GET', paths[0] as string);
  const bareServer = startWorker('bare');
  const barePort = await bareServer.call<number>('listen', JSON.stringify(transaction));
  const prism = await startPrism(bench.root);
  const load = startWorker('load');
  const get = async (port: number, base: string, connections: number, runSeconds = seconds) => {
    await cluster.checkpoint();
    const processorUse = watchProcessor({
      server: () => [api.process.pid],
      'bare Fastify': () => [bareServer.pid],
      Prism: () => familyOf(prism.process.pid),
      PostgreSQL: () => familyOf(cluster.pid),
      load: () => [load.pid],
    });
    const run = await load.call<Run>('run', {
      port,
      connections,
      warmupMs,
      seconds: runSeconds,
      method: 'GET',
      paths: paths.map((path) => base + path),
      isSinglePass: false,
      authorization: AUTHORIZATION,
      hasIdempotencyKeys: false,
      status: 200,
    } satisfies Load);
    printProgress(processorUse.report(run.completedCount));
    return run;
  };
  const sides = {
    railhead: (n: number, runSeconds?: number) => get(api.port, BASE, n, runSeconds),
    bare: (n: number, runSeconds?: number) => get(barePort, BASE, n, runSeconds),
    prism: (n: number, runSeconds?: number) => get(prism.port, '', n, runSeconds),
  };
  const choices = quick ? [64] : [16, 64];
  const findBest = (name: keyof typeof sides) =>
    bestOf(`GET, ${name}, connections`, choices, (n) => sides[name](n, tuningSeconds));
  const bestConnections = {
    railhead: await findBest('railhead'),
    bare: await findBest('bare'),
    prism: await findBest('prism'),
  };
  const runs = await alternate(
    {
      'GET, railhead': () => sides.railhead(bestConnections.railhead),
      'GET, bare Fastify': () => sides.bare(bestConnections.bare),
      'GET, Prism': () => sides.prism(bestConnections.prism),
    },
    rounds,
  );
  for (const child of [load, bareServer, prism.process]) await child.stop();
  const serverSide = () =>
    sideOf(`server, ${bestConnections.railhead} connections`, runs['GET, railhead']);
  const row = (id: string, subject: string, peer: Row['peer'], target: number): Row => ({
    id,
    label: subject,
    unit: '/s',
    railhead: serverSide(),
    peer,
    target,
  });
  const bareSide = sideOf(`bare Fastify, ${bestConnections.bare}`, runs['GET, bare Fastify']);
  const prismSide = sideOf(`Prism, ${bestConnections.prism}`, runs['GET, Prism']);
  return [
    row('3a', 'GET /transactions/{id}, the same bytes', bareSide, 0.6),
    row('3b', 'GET /transactions/{id}, a mock', prismSide, 10),
  ];
}
