// pgbench as the reference: one transaction and one function call per transfer. The statements are
// prepared, and run through the unix socket of the same PostgreSQL on the same two tables with the
// same IDs. The function inserts the row first and then updates both accounts in the order of their
// IDs. A contended account is therefore locked for a shorter time.
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { bestOf } from '../table/row.ts';
import { percentile, type Run } from '../table/stats.ts';
import type { Bench, BestPgbench, Spread } from './bench.ts';
import { startProgram } from './children.ts';
import type { Cluster } from './cluster.ts';

export const PGBENCH_DATABASE = 'bench_pgbench';
export const ACCOUNTS = 10_000;
export const OPENING_BALANCE = 1_000_000_000_000;
/** IDs of accounts on both sides: `ID_HEAD` and a number of eight digits. */
export const ID_HEAD = 'InternalAccount:01900000-0000-7000-8000-0000';
export const FIRST_NUMBER = 10_000_000;

const FILL = `insert into ledger_accounts (id, currency, balance, floor, created_at)
  select '${ID_HEAD}' || (${FIRST_NUMBER} + n), 'USD', ${OPENING_BALANCE}, 0, now()
  from generate_series(1, ${ACCOUNTS}) n`;

const FUNCTION = `create function bench_transfer(from_number int, to_number int, amount bigint)
returns void language plpgsql as $$
declare
  payer text := '${ID_HEAD}' || (${FIRST_NUMBER} + from_number);
  payee text := '${ID_HEAD}' || (${FIRST_NUMBER} + to_number);
begin
  insert into ledger_transfers
      (transaction_id, step, phase, debit, credit, currency, amount, created_at)
    values ('Transaction:' || uuidv7(), 'pay', 'posted', payer, payee, 'USD', amount, now());
  if payer > payee then
    update ledger_accounts set balance = balance + amount where id = payee and currency = 'USD';
    if not found then raise exception 'account not found'; end if;
  end if;
  update ledger_accounts set balance = balance - amount
    where id = payer and currency = 'USD' and (floor is null or balance - held - amount >= floor);
  if not found then raise exception 'insufficient funds'; end if;
  if payer < payee then
    update ledger_accounts set balance = balance + amount where id = payee and currency = 'USD';
    if not found then raise exception 'account not found'; end if;
  end if;
end $$`;

const SCRIPTS: Record<Spread, string> = {
  spread: `\\set a random(1, ${ACCOUNTS})
\\set shift random(1, ${ACCOUNTS - 1})
\\set b 1 + (:a + :shift - 1) % ${ACCOUNTS}
select bench_transfer(:a, :b, 1);
`,
  hot: `\\set b random(2, ${ACCOUNTS})
select bench_transfer(1, :b, 1);
`,
};

/** Share of the transactions whose latency is logged. Logging all would cost the peer time. */
const SAMPLING_RATE = 0.2;
/**
 * Seconds of the warm-up before the measured run. The warm-up of the committer is not measured
 * either.
 */
const WARMUP_S = 1;

/** Creates a database with accounts only. */
export async function fillAccounts(cluster: Cluster, name: string): Promise<string> {
  const url = await cluster.create(name);
  await cluster.rows(name, FILL);
  await cluster.rows(name, 'vacuum analyze ledger_accounts');
  return url;
}

/** The version line of pgbench, or undefined if it is not installed. */
export function pgbenchVersion(): string | undefined {
  const { status, stdout } = spawnSync('pgbench', ['--version'], { encoding: 'utf8' });
  return status === 0 ? stdout.trim() : undefined;
}

/** Latencies in milliseconds, from the logs of the threads. */
function readLatencies(folder: string): number[] {
  return fs
    .readdirSync(folder)
    .filter((name) => name.startsWith('run.'))
    .flatMap((name) => fs.readFileSync(path.join(folder, name), 'utf8').split('\n'))
    .filter((line) => line !== '')
    .map((line) => Number(line.split(' ')[2]) / 1000);
}

function readOutput(output: string) {
  const readNumber = (pattern: RegExp) => Number(pattern.exec(output)?.[1] ?? 0);
  return {
    perSecond: readNumber(/tps = ([\d.]+)/),
    done: readNumber(/actually processed: (\d+)/),
    failed: readNumber(/failed transactions: (\d+)/),
  };
}

type RunOnce = (spread: Spread, clients: number, seconds: number) => Promise<Run>;

function runnerOf(cluster: Cluster, scratch: string): RunOnce {
  const connectionFlags = ['-h', cluster.socket, '-p', '5432', '-U', 'railhead'];
  return async (spread, clients, seconds) => {
    const folder = fs.mkdtempSync(path.join(scratch, 'pgbench-'));
    const options = ['-n', '-M', 'prepared', '-j', '2', '-c', `${clients}`, '-T', `${seconds}`];
    const log = ['-l', `--log-prefix=${folder}/run`, `--sampling-rate=${SAMPLING_RATE}`];
    const script = ['-f', path.join(scratch, `${spread}.sql`)];
    const child = startProgram('pgbench', [
      ...connectionFlags,
      ...options,
      ...log,
      ...script,
      PGBENCH_DATABASE,
    ]);
    await child.exit;
    const { perSecond, done, failed } = readOutput(child.output());
    const isAborted = /aborted|FATAL|ERROR/.test(child.output()) || done === 0;
    const latencies = readLatencies(folder);
    fs.rmSync(folder, { recursive: true });
    return {
      perSecond,
      p50: percentile(latencies, 0.5),
      p99: percentile(latencies, 0.99),
      errors: failed + (isAborted ? 1 : 0),
      firstError: failed || isAborted ? child.output() : undefined,
      completedCount: done,
    };
  };
}

/**
 * Prepares pgbench in a separate database and finds the number of clients at which it is fastest.
 */
export async function preparePgbench(bench: Bench): Promise<BestPgbench> {
  const { cluster, scratch, settings, quick } = bench;
  await fillAccounts(cluster, PGBENCH_DATABASE);
  await cluster.rows(PGBENCH_DATABASE, FUNCTION);
  for (const [spread, text] of Object.entries(SCRIPTS)) {
    fs.writeFileSync(path.join(scratch, `${spread}.sql`), text);
  }
  const runOnce = runnerOf(cluster, scratch);
  let transferCount = 0;
  const run = async (spread: Spread, clients: number, seconds: number) => {
    await cluster.checkpoint();
    const warmUpRun = await runOnce(spread, clients, WARMUP_S);
    const measuredRun = await runOnce(spread, clients, Math.ceil(seconds));
    transferCount += warmUpRun.completedCount + measuredRun.completedCount;
    const firstError = warmUpRun.firstError ?? measuredRun.firstError;
    return { ...measuredRun, errors: warmUpRun.errors + measuredRun.errors, firstError };
  };
  const choices = quick ? [16] : [8, 16, 32];
  const search = (spread: Spread) =>
    bestOf(`pgbench, ${spread}, clients`, choices, (n) => run(spread, n, settings.tuningSeconds));
  const bestClients = { spread: await search('spread'), hot: await search('hot') };
  return {
    best: bestClients,
    run: (spread) => run(spread, bestClients[spread], settings.seconds),
    transferCount: () => transferCount,
  };
}
