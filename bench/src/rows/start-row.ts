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

/** Process ID of the PostgreSQL that serves a data folder: the first line of its lock file. */
const postgresPid = (dataDir: string) =>
  Number.parseInt(fs.readFileSync(path.join(dataDir, 'postgres', 'postmaster.pid'), 'utf8'), 10);

interface Measurements {
  coldStart: number[];
  warmStart: number[];
  node: number[];
  postgres: number[];
  prism: number[];
  prismMb: number[];
}

/** One round. Both sides start one after the other and become idle together. */
async function measureRound(
  bench: Bench,
  round: number,
  measurements: Measurements,
): Promise<void> {
  const dataDir = path.join(bench.scratch, `start-${round}`);
  const args = ['--data-dir', dataDir];
  const log = path.join(bench.scratch, 'start.log');
  const coldServer = await startServer(bench, args, { log });
  measurements.coldStart.push(coldServer.startedMs);
  await coldServer.process.stop();
  const prism = await startPrism(bench.root);
  measurements.prism.push(prism.startedMs);
  const warmServer = await startServer(bench, args, { log });
  measurements.warmStart.push(warmServer.startedMs);
  await sleep(IDLE_MS);
  measurements.node.push(residentMb(warmServer.process.pid));
  measurements.postgres.push(sharedMb(familyOf(postgresPid(dataDir))));
  measurements.prismMb.push(residentMb(prism.process.pid));
  await warmServer.process.stop();
  await prism.process.stop();
  fs.rmSync(dataDir, { recursive: true, force: true });
}

export async function startRows(bench: Bench): Promise<Row[]> {
  const measurements: Measurements = {
    coldStart: [],
    warmStart: [],
    node: [],
    postgres: [],
    prism: [],
    prismMb: [],
  };
  for (let round = 1; round <= bench.settings.rounds; round++) {
    await measureRound(bench, round, measurements);
    const lastValues = Object.entries(measurements).map(
      ([name, values]) => `${name} ${values.at(-1)?.toFixed(0)}`,
    );
    printProgress(`round ${round}, start in ms and memory in MB: ${lastValues.join(', ')}`);
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
  const prismStart = side('Prism', measurements.prism);
  const prismMemory = side('Prism', measurements.prismMb);
  const totalMb = measurements.node.map(
    (mb, index) => mb + (measurements.postgres[index] as number),
  );
  return [
    row(
      '4a',
      'start to first 200, empty folder',
      'ms',
      side('server + database', measurements.coldStart),
      prismStart,
    ),
    row(
      '4b',
      'start to first 200, second start',
      'ms',
      side('server + database', measurements.warmStart),
      prismStart,
    ),
    row('4c', 'idle memory, node alone', 'MB', side('server', measurements.node), prismMemory),
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
