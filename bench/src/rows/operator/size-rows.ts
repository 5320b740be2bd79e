// Costs of two servers that differ only in the number of their payments. The costs are memory after the
// same requests, processor time without requests (sweeps, jobs and vacuum), and the start.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Bench } from '../../machine/bench.ts';
import { familyOf, residentMb, watchProcessor } from '../../machine/proc.ts';
import { printProgress, type Row, type Side } from '../../table/row.ts';
import type { OperatorServer } from './setup.ts';

/** Seconds without a request. Sweeps of a minute run several times. */
const IDLE_S = 180;
const QUICK_IDLE_S = 5;

type Servers = Record<'small' | 'large', OperatorServer>;
type Values = Record<keyof Servers, number[]>;

const sizes = ['small', 'large'] as const;

const sideOf = (server: OperatorServer, values: number[]): Side => ({
  name: `${server.payments.toLocaleString('en-US')} payments`,
  ...{ values, p50: [], p99: [], errors: 0 },
});

/** Milliseconds of processor time per second of a server and the database, without requests. */
async function idleCost(bench: Bench, server: OperatorServer): Promise<number> {
  const seconds = bench.quick ? QUICK_IDLE_S : IDLE_S;
  const processorUse = watchProcessor({
    server: () => [server.process.pid],
    PostgreSQL: () => familyOf(bench.cluster.pid),
  });
  await sleep(seconds * 1_000);
  printProgress(`idle, ${server.payments} payments: ${processorUse.report(seconds)}`);
  return (
    (processorUse.usPerItem('server', seconds) + processorUse.usPerItem('PostgreSQL', seconds)) /
    1_000
  );
}

export async function sizeRows(bench: Bench, servers: Servers, maximum: number): Promise<Row[]> {
  const newValues = (): Values => ({ small: [], large: [] });
  const [memory, idleCosts, starts] = [newValues(), newValues(), newValues()];
  for (const size of sizes) memory[size].push(residentMb(servers[size].process.pid));
  for (const size of sizes) {
    const otherProcess = servers[size === 'small' ? 'large' : 'small'].process;
    otherProcess.pause();
    idleCosts[size].push(await idleCost(bench, servers[size]));
    otherProcess.resume();
  }
  for (let round = 1; round <= bench.settings.rounds; round++) {
    for (const size of sizes) starts[size].push(await servers[size].restart());
  }
  const row = (id: string, label: string, unit: Row['unit'], values: Values): Row => ({
    ...{ id, label, unit, slowdown: { maximum } },
    railhead: sideOf(servers.large, values.large),
    peer: sideOf(servers.small, values.small),
  });
  return [
    row('16j', 'memory of the server after these requests', 'MB', memory),
    row('16k', 'processor time per second without requests', 'ms', idleCosts),
    row('16l', 'start until the first reply', 'ms', starts),
  ];
}
