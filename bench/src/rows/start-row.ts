// Row 4: time until the first 200 with an empty and with an existing data folder, and memory of the
// idle processes. The peer is Prism with the same document. Memory of PostgreSQL counts pages
// shared by its processes once.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { familyOf, residentMb, sharedMb } from '../machine/proc.ts';
import { printProgress, type Row, type Side } from '../table/row.ts';
import { startPrism } from './read-row.ts';

/** The server releases the memory of its start after six to twelve idle seconds. */
const IDLE_MS = 12_000;
/** Target: megabytes of the idle server and its database. */
const MAX_IDLE_MB = 130;

/** Process id of the PostgreSQL that serves a data folder: the first line of its lock file. */
const postgresPid = (dataDir: string) =>
  Number.parseInt(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);

interface Measured {
  cold: number[];
  warm: number[];
  node: number[];
  postgres: number[];
  prism: number[];
  prismMb: number[];
}

/** One round. Both sides start one after the other and become idle together. */
async function measureRound(bench: Bench, round: number, into: Measured): Promise<void> {
  const dataDir = path.join(bench.scratch, `start-${round}`);
  const args = ['--data-dir', dataDir];
  const log = path.join(bench.scratch, 'start.log');
  const cold = await startServer(bench, args, { log });
  into.cold.push(cold.startedMs);
  await cold.process.stop();
  const prism = await startPrism(bench.root);
  into.prism.push(prism.startedMs);
  const warm = await startServer(bench, args, { log });
  into.warm.push(warm.startedMs);
  await sleep(IDLE_MS);
  into.node.push(residentMb(warm.process.pid));
  into.postgres.push(sharedMb(familyOf(postgresPid(dataDir))));
  into.prismMb.push(residentMb(prism.process.pid));
  await warm.process.stop();
  await prism.process.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

export async function startRows(bench: Bench): Promise<Row[]> {
  const measured: Measured = { cold: [], warm: [], node: [], postgres: [], prism: [], prismMb: [] };
  for (let round = 1; round <= bench.settings.rounds; round++) {
    await measureRound(bench, round, measured);
    const last = Object.entries(measured).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(0)}`);
    printProgress(`round ${round}, start in ms and memory in MB: ${last.join(', ')}`);
  }
  const side = (name: string, values: number[]): Side => ({
    name,
    values,
    p50: [],
    p99: [],
    errors: 0,
  });
  const row = (
    id: string,
    subject: string,
    unit: Row['unit'],
    serverSide: Side,
    peer: Side,
  ): Row => ({
    id,
    label: subject,
    unit,
    railhead: serverSide,
    peer,
  });
  const started = side('Prism', measured.prism);
  const prismMemory = side('Prism', measured.prismMb);
  const totalMb = measured.node.map((mb, index) => mb + (measured.postgres[index] as number));
  return [
    row(
      '4a',
      'start to first 200, empty folder',
      'ms',
      side('server + database', measured.cold),
      started,
    ),
    row(
      '4b',
      'start to first 200, second start',
      'ms',
      side('server + database', measured.warm),
      started,
    ),
    row('4c', 'idle memory, node alone', 'MB', side('server', measured.node), prismMemory),
    {
      ...row(
        '4d',
        'idle memory, with PostgreSQL',
        'MB',
        side('server + database', totalMb),
        prismMemory,
      ),
      maxValue: MAX_IDLE_MB,
    },
  ];
}
