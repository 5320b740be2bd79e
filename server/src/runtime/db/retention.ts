// Rows that are of no use after a while. They are deleted in small bites, so that a long pause of the server
// makes no statement long; which are found by the index on their time, and their order does not matter.
import type { Time } from '../../kernel/effects.ts';
import type { Sweep } from '../jobs/jobs.ts';

interface RetentionRule {
  table: string;
  /** The column that a row's age is told by. */
  time: string;
  /** How long after that time it is kept. */
  keepMs: number;
}

const AT_ONCE = 5_000;
const USUAL_MS = 10 * 60_000;

const statement = ({ table, time }: RetentionRule) => `delete from ${table} where id in (
  select id from ${table} where ${time} < $1 limit ${AT_ONCE}) returning 1`;

/** Deletes rows of these tables that were kept for long enough, and looks again after `everyMs`. */
export function retentionSweep(
  name: string,
  kept: readonly RetentionRule[],
  everyMs = USUAL_MS,
): Sweep {
  const rules = kept.map((each) => ({ sql: statement(each), keepMs: each.keepMs }));
  let next: Time = 0;
  return {
    name,
    async run({ effects, db }) {
      const now = effects.now();
      if (now < next) return 0;
      const bites = rules.map(({ sql, keepMs }) => db.query(sql, [new Date(now - keepMs)]));
      const gone = (await Promise.all(bites)).map(({ length }) => length);
      if (gone.every((count) => count < AT_ONCE)) next = now + everyMs;
      return gone.reduce((sum, count) => sum + count, 0);
    },
  };
}
