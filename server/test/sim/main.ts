// `npm run sim` runs seeds one after another, each on a separate database in a temporary
// PostgreSQL.
import { randomInt } from 'node:crypto';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { migrate } from '../../src/runtime/db/migrate.ts';
import { startEmbedded } from '../../src/runtime/postgres/embedded.ts';
import { SIM_START } from './harness/sim-effects.ts';
import { connect } from './model/model.ts';
import { type Report, simulate } from './run.ts';

interface SimFlags {
  /**
   * The first seed. Random when absent. Each further seed is one higher, or has a numbered suffix
   * if the first seed is not a number.
   */
  seed: string | undefined;
  steps: number;
  seeds: number;
  verbose: boolean;
}

const TEMPLATE = 'sim_template';

const urlOf = (url: string, name: string): string => {
  const otherUrl = new URL(url);
  otherUrl.pathname = `/${name}`;
  return otherUrl.href;
};

function print(report: Report, ms: number, verbose: boolean): void {
  const { seed, steps, transactions, transfers, events, trace } = report;
  const speed = Math.round((steps / ms) * 1_000);
  console.log(
    `seed ${seed}: ${steps} steps, ${speed} a second; ${transactions} transactions, ` +
      `${transfers} transfers, ${events} events, trace ${trace.slice(0, 12)}`,
  );
  if (!verbose) return;
  const actionCounts = [...report.actionCounts].sort((a, b) => b[1] - a[1]);
  for (const [name, times] of actionCounts) console.log(`  ${String(times).padStart(6)} ${name}`);
}

/** Runs the seeds. Returns whether all passed. */
export async function main(flags: SimFlags): Promise<boolean> {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'railhead-sim-'));
  const cluster = await startEmbedded({ dir, durable: false });
  const maintenance = await connect(cluster.url);
  const firstSeed = flags.seed ?? String(randomInt(1_000_000_000));
  const isNumeric = /^\d+$/.test(firstSeed);
  const seedAt = (index: number) =>
    isNumeric ? String(Number(firstSeed) + index) : `${firstSeed}-${index}`;
  let failedCount = 0;
  try {
    await maintenance.query(`create database ${TEMPLATE}`);
    await migrate(urlOf(cluster.url, TEMPLATE), () => SIM_START);
    for (let index = 0; index < flags.seeds; index++) {
      const [seed, name] = [index === 0 ? firstSeed : seedAt(index), `sim_${index}`];
      await maintenance.query(`create database ${name} template ${TEMPLATE} strategy file_copy`);
      const startedAt = performance.now();
      let reportedAt = startedAt;
      const progress = (steps: number) => {
        if (!flags.verbose) return;
        const now = performance.now();
        console.log(
          `  seed ${seed}: ${steps} steps, ${Math.round(now - reportedAt)} ms for the latest`,
        );
        reportedAt = now;
      };
      const options = { seed, steps: flags.steps, databaseUrl: urlOf(cluster.url, name), progress };
      try {
        print(await simulate(options), performance.now() - startedAt, flags.verbose);
      } catch (error) {
        failedCount++;
        console.error(error instanceof Error ? error.message : error);
      }
      await maintenance.query(`drop database ${name} with (force)`);
    }
  } finally {
    await maintenance.end();
    await cluster.stop();
    fs.rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  }
  return failedCount === 0;
}
