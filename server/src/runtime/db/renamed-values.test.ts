// Stored values that migrations rename, in a database of an earlier version.
import { expect, it } from 'vitest';
import { earlierDatabase } from '../../../test/kit/migrations/earlier-database.ts';

const database = earlierDatabase('renamed_values');

const JOB = `insert into jobs (id, kind, platform_id, input, due_at) values ($1, $2, 'p', $3, now())`;

it('renamed values keep their meaning in jobs, account actions and rail results', async () => {
  await database.migrateUntil('0043');
  const jobs: [string, object, object][] = [
    ['payout.send', { transactionId: 't', ask: 'check' }, { transactionId: 't', request: 'check' }],
    ['refund.send', { transactionId: 't' }, { transactionId: 't' }],
    ['cards.pull', { at: 0, asked: true, tries: 3 }, { at: 0, requested: true, attempts: 3 }],
    ['cards.pull', { at: 1, asked: true }, { at: 1, requested: true }],
    ['cards.pull', { at: 2 }, { at: 2 }],
  ];
  for (const [index, [kind, oldInput]] of jobs.entries()) {
    await database.query(JOB, [`Job:${index}`, kind, oldInput]);
  }
  await database.query(`insert into account_actions
      (id, account_id, platform_id, actor, action, reason, created_at)
    values ('AccountAction:1', 'a', 'p', 'operator', 'refuse', 'r', now())`);
  await database.query(`insert into awaited_rail_results (id, platform_id, kind, since)
    values ('Transaction:1', 'p', 'pull', now()), ('Transaction:2', 'p', 'payout', now())`);
  await database.query(`insert into rail_results (id, transaction_id, kind, state, created_at) values
    ('Transaction:1/pull/settled', 'Transaction:1', 'pull', 'settled', now()),
    ('Transaction:2/payout/failed', 'Transaction:2', 'payout', 'failed', now())`);
  await database.migrateUntil();
  const storedJobs = await database.query<{ input: object }>('select input from jobs order by id');
  expect(storedJobs.rows.map(({ input }) => input)).toEqual(jobs.map(([, , newInput]) => newInput));
  const actions = await database.query('select action from account_actions');
  expect(actions.rows).toEqual([{ action: 'reject' }]);
  const awaitedResults = await database.query('select kind from awaited_rail_results order by id');
  expect(awaitedResults.rows).toEqual([{ kind: 'debit' }, { kind: 'payout' }]);
  const results = await database.query('select id, kind from rail_results order by id');
  expect(results.rows).toEqual([
    { id: 'Transaction:1/debit/settled', kind: 'debit' },
    { id: 'Transaction:2/payout/failed', kind: 'payout' },
  ]);
});
