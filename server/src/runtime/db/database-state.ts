// State of the database for operators: version, size, connections, migrations and the largest tables.
// Numbers of rows are estimates of the planner.
import { iso, type Time } from '../../kernel/effects.ts';
import type { Database } from './database.ts';

const SERVER = `select current_setting('server_version') as version,
  current_setting('max_connections')::int4 as max_connections,
  pg_database_size(current_database()) as size`;

const CONNECTIONS = `select coalesce(nullif(application_name, ''), 'other') as name,
    count(*)::int4 as count, count(*) filter (where state = 'active')::int4 as active
  from pg_stat_activity where datname = current_database() group by 1 order by 1`;

const MIGRATIONS = 'select name, applied_at from schema_migrations order by name';

// A partitioned table has the rows of its partitions.
const TABLES = `select coalesce(p.relname, c.relname) as name,
    sum(greatest(c.reltuples, 0))::bigint as rows,
    sum(pg_total_relation_size(c.oid))::bigint as size
  from pg_class c left join pg_inherits i on i.inhrelid = c.oid
    left join pg_class p on p.oid = i.inhparent
  where c.relkind = 'r' and c.relnamespace = any (array['public', 'partitions']::regnamespace[])
  group by 1 order by size desc limit 10`;

interface Server {
  version: string;
  max_connections: number;
  size: bigint;
}

export async function databaseState(db: Pick<Database, 'query'>) {
  const [[server], connections, migrations, tables] = await Promise.all([
    db.query<Server>(SERVER, []),
    db.query<{ name: string; count: number; active: number }>(CONNECTIONS, []),
    db.query<{ name: string; applied_at: Time }>(MIGRATIONS, []),
    db.query<{ name: string; rows: bigint; size: bigint }>(TABLES, []),
  ]);
  const { version, max_connections, size } = server as Server;
  const latestMigration = migrations.at(-1);
  return {
    version,
    maxConnections: max_connections,
    sizeBytes: Number(size),
    connections,
    migrations: {
      count: migrations.length,
      ...(latestMigration
        ? { latest: latestMigration.name, latestAt: iso(latestMigration.applied_at) }
        : {}),
    },
    tables: tables.map((each) => ({
      ...{ name: each.name, rows: Number(each.rows) },
      sizeBytes: Number(each.size),
    })),
  };
}
