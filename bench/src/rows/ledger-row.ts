// Row 1: transfers between ledger accounts. The committer receives them as change sets. Pgbench
// runs one transaction per transfer. Both run with the number of callers at which they are fastest.

import type { Bench, Spread } from '../machine/bench.ts';
import { startWorker } from '../machine/children.ts';
import { ACCOUNTS, fillAccounts, OPENING_BALANCE, PGBENCH_DATABASE } from '../machine/pgbench.ts';
import { familyOf, watchProcessor } from '../machine/proc.ts';
import { alternate, bestOf, printProgress, type Row, sideOf } from '../table/row.ts';
import type { Run } from '../table/stats.ts';

const LEDGER_DATABASE = 'bench_ledger';

/** Compares the ledger with the acknowledged transfers. Any difference is an error. */
async function countDifferences(bench: Bench, name: string, doneCount: number): Promise<number> {
  const [row] = await bench.cluster.rows<{ transfers: string; wrong: string; total: string }>(
    name,
    `with posted as (
      select id, sum(amount) as amount from (
        select debit as id, -amount as amount from ledger_transfers
        union all select credit, amount from ledger_transfers) legs group by id)
    select (select count(*) from ledger_transfers) as transfers,
      count(*) filter (where a.balance - $1 <> coalesce(m.amount, 0) or a.balance < 0) as wrong,
      sum(a.balance) as total
    from ledger_accounts a left join posted m using (id)`,
    [OPENING_BALANCE],
  );
  const isConsistent =
    Number(row?.transfers) === doneCount && row?.total === `${ACCOUNTS * OPENING_BALANCE}`;
  const wrongCount = Number(row?.wrong) + (isConsistent ? 0 : 1);
  printProgress(
    `${name}: ${row?.transfers} transfers for ${doneCount} acknowledged, ${row?.wrong} wrong balances`,
  );
  return wrongCount;
}

export async function ledgerRows(bench: Bench): Promise<Row[]> {
  const { cluster, settings, quick } = bench;
  const { seconds, warmupMs, rounds, tuningSeconds } = settings;
  const url = await fillAccounts(cluster, LEDGER_DATABASE);
  const pgbench = await bench.pgbench();
  const worker = startWorker('ledger', { profile: bench.profile });
  await worker.call('open', url);
  let transferCount = 0;
  const runCommitter = async (spread: Spread, callers: number, runSeconds = seconds) => {
    await cluster.checkpoint();
    const processorUse = watchProcessor({
      committer: () => [worker.pid],
      PostgreSQL: () => familyOf(cluster.pid),
    });
    const run = await worker.call<Run>('run', { spread, callers, warmupMs, seconds: runSeconds });
    printProgress(processorUse.report(run.completedCount));
    transferCount += run.completedCount;
    return run;
  };
  const choices = quick ? [256] : [128, 256, 1_024];
  const search = (spread: Spread) =>
    bestOf(`committer, ${spread}, callers`, choices, (n) => runCommitter(spread, n, tuningSeconds));
  const bestCallers = { spread: await search('spread'), hot: await search('hot') };
  const runs = await alternate(
    {
      'committer, spread': () => runCommitter('spread', bestCallers.spread),
      'pgbench, spread': () => pgbench.run('spread'),
      'committer, hot': () => runCommitter('hot', bestCallers.hot),
      'pgbench, hot': () => pgbench.run('hot'),
    },
    rounds,
  );
  await worker.call('close');
  await worker.stop();
  const wrongCount = await countDifferences(bench, LEDGER_DATABASE, transferCount);
  const wrongPeerCount = await countDifferences(bench, PGBENCH_DATABASE, pgbench.transferCount());
  const side = (name: string, runs: readonly Run[], errors: number) => {
    const side = sideOf(name, runs);
    return { ...side, errors: side.errors + errors };
  };
  const row = (id: string, subject: string, kind: Spread, target: number): Row => ({
    id,
    label: `ledger transfers, ${subject}`,
    unit: '/s',
    railhead: side(
      `committer, ${bestCallers[kind]} callers`,
      runs[`committer, ${kind}`],
      wrongCount,
    ),
    peer: side(`pgbench, ${pgbench.best[kind]} clients`, runs[`pgbench, ${kind}`], wrongPeerCount),
    target,
  });
  return [row('1a', '10,000 accounts', 'spread', 2), row('1b', 'one hot account', 'hot', 8)];
}
