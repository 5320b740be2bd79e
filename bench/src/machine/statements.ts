// For profiles: the statements with the highest total time in PostgreSQL since the last call.

import { printProgress } from '../table/row.ts';
import type { Cluster } from './cluster.ts';

const TOP = `select d.datname as database, calls, round(total_exec_time) as ms,
    round((mean_exec_time * 1000)::numeric) as us_each, rows,
    round(wal_bytes / 1048576.0) as wal_mb, left(regexp_replace(query, '\\s+', ' ', 'g'), 110) as text
  from pg_stat_statements s join pg_database d on d.oid = s.dbid
  where total_exec_time > 20 order by total_exec_time desc limit 25`;

export async function printStatements(cluster: Cluster): Promise<void> {
  const rows = await cluster.rows<Record<string, unknown>>('postgres', TOP);
  for (const { database, calls, ms, us_each, rows: count, wal_mb, text } of rows) {
    printProgress(
      `${ms} ms, ${calls} × ${us_each} µs, ${count} rows, ${wal_mb} MB log, ${database}: ${text}`,
    );
  }
  await cluster.rows('postgres', 'select pg_stat_statements_reset()');
}
