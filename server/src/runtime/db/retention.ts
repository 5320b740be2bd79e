// Deletes rows after their retention period. Rows are deleted in small batches, so that no statement is
// long even after a long downtime. An index on the time selects the rows in any order.
import type { Time } from '../../kernel/effects.ts';
import type { Sweep } from '../jobs/jobs.ts';

interface RetentionRule {
  table: string;
  /** The column that determines a row's age. */
  time: string;
  /** Retention period after the time in the column, in milliseconds. */
  keepMs: number;
}

const BATCH_SIZE = 5_000;
const DEFAULT_INTERVAL_MS = 10 * 60_000;

const deleteSql = ({ table, time }: RetentionRule) => `delete from ${table} where id in (
  select id from ${table} where ${time} < $1 limit ${BATCH_SIZE}) returning 1`;

/**
 * Deletes rows of these tables after their retention period. Without a backlog, checks again after
 * `everyMs`.
 */
export function retentionSweep(
  name: string,
  retentionRules: readonly RetentionRule[],
  everyMs = DEFAULT_INTERVAL_MS,
): Sweep {
  const rules = retentionRules.map((each) => ({ sql: deleteSql(each), keepMs: each.keepMs }));
  let nextTime: Time = 0;
  return {
    name,
    async run({ effects, db }) {
      const now = effects.now();
      if (now < nextTime) return 0;
      const batches = rules.map(({ sql, keepMs }) => db.query(sql, [new Date(now - keepMs)]));
      const counts = (await Promise.all(batches)).map(({ length }) => length);
      if (counts.every((count) => count < BATCH_SIZE)) nextTime = now + everyMs;
      return counts.reduce((sum, count) => sum + count, 0);
    },
  };
}
