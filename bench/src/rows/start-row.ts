// Row 4: time until the first 200, with an empty and with an existing data folder, and memory of
// the idle processes. Prism beside it, with the same document. Memory of PostgreSQL counts pages
// shared by its processes once.
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startServer } from '../machine/api.ts';
import type { Bench } from '../machine/bench.ts';
import { familyOf, residentMb, sharedMb } from '../machine/proc.ts';
import { note, type Row, type Side } from '../table/row.ts';
import { startPrism } from './read-row.ts';

/** The server releases what it held to start after six to twelve idle seconds. */
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

/** Both wait for their idle state together, one after the other has started. */
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
  const got: Measured = { cold: [], warm: [], node: [], postgres: [], prism: [], prismMb: [] };
  for (let round = 1; round <= bench.settings.rounds; round++) {
    await measureRound(bench, round, got);
    const last = Object.entries(got).map(([name, all]) => `${name} ${all.at(-1)?.toFixed(0)}`);
    note(`round ${round}, start in ms and memory in MB: ${last.join(', ')}`);
  }
  const side = (name: string, values: number[]): Side => ({
    name,
    values,
    p50: [],
    p99: [],
    errors: 0,
  });
  const row = (id: string, what: string, unit: Row['unit'], ours: Side, peer: Side): Row => ({
    id,
    what,
    unit,
    ours,
    peer,
  });
  const started = side('Prism', got.prism);
  const held = side('Prism', got.prismMb);
  const both = got.node.map((mb, index) => mb + (got.postgres[index] as number));
  return [
    row(
      '4a',
      'start to first 200, empty folder',
      'ms',
      side('server + database', got.cold),
      started,
    ),
    row(
      '4b',
      'start to first 200, second start',
      'ms',
      side('server + database', got.warm),
      started,
    ),
    row('4c', 'idle memory, node alone', 'MB', side('server', got.node), held),
    {
      ...row('4d', 'idle memory, with PostgreSQL', 'MB', side('server + database', both), held),
      maxOurs: MAX_IDLE_MB,
    },
  ];
}
