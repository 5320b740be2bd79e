// The committer of the ledger rows, in a separate process like a server. Each caller submits a change set
// with one transfer, waits for its result and submits the next.

import { newId } from '../../../server/src/kernel/id.ts';
import { emptyChangeSet } from '../../../server/src/runtime/committer/change-set.ts';
import {
  type Committer,
  createCommitter,
  LANES,
} from '../../../server/src/runtime/committer/committer.ts';
import { systemEffects } from '../../../server/src/runtime/config/system-effects.ts';
import { connectLane } from '../../../server/src/runtime/db/lane.ts';
import type { Spread } from '../machine/bench.ts';
import { ACCOUNTS, FIRST_NUMBER, ID_HEAD } from '../machine/pgbench.ts';
import { serveJobs } from '../machine/worker-channel.ts';
import { createTally, type Run, type Tally } from '../table/stats.ts';

interface Transfers {
  spread: Spread;
  callers: number;
  warmupMs: number;
  seconds: number;
}

const effects = systemEffects();
const ids = Array.from({ length: ACCOUNTS }, (_, index) => `${ID_HEAD}${FIRST_NUMBER + index + 1}`);
let committer: Committer | undefined;

function createTransfer(spread: Spread) {
  const from = spread === 'hot' ? 0 : Math.floor(Math.random() * ACCOUNTS);
  const to = (from + 1 + Math.floor(Math.random() * (ACCOUNTS - 1))) % ACCOUNTS;
  const changeSet = emptyChangeSet();
  changeSet.transfers.push({
    transaction_id: newId(effects, 'Transaction'),
    step: 'pay',
    phase: 'posted',
    debit: ids[from] as string,
    credit: ids[to] as string,
    currency: 'USD',
    amount: 1n,
    created_at: effects.now(),
  });
  return changeSet;
}

async function runCaller(target: Committer, spread: Spread, tally: Tally): Promise<void> {
  while (tally.isRunning()) {
    const startMs = performance.now();
    try {
      const outcome = await target.commit(createTransfer(spread));
      if (outcome.ok) tally.ok(startMs);
      else tally.error(JSON.stringify(outcome.rejection));
    } catch (error) {
      tally.error(String(error));
      return;
    }
  }
}

async function run({ spread, callers, warmupMs, seconds }: Transfers): Promise<Run> {
  const target = committer;
  if (!target) throw new Error('the committer is not open. Call `open` first.');
  const tally = createTally(warmupMs, seconds);
  await Promise.all(Array.from({ length: callers }, () => runCaller(target, spread, tally)));
  return tally.result();
}

async function openCommitter(url: string): Promise<void> {
  const createdCommitter = createCommitter({ connect: () => connectLane(url) });
  committer = createdCommitter;
  while (createdCommitter.stats().lanes < LANES)
    await new Promise((resolve) => setTimeout(resolve, 10));
}

serveJobs({
  open: openCommitter,
  run,
  close: () => committer?.close(),
});
