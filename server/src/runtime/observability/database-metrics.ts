// Metrics of the connections for reading, the lanes of the committer, and the replicas of the primary. The
// role of the server can read the state of replicas only as a member of pg_monitor. Without this
// membership, replicas are counted as `hidden`.
import type { Database } from '../db/database.ts';
import type { PoolStats } from '../db/pool.ts';
import type { Metrics } from './metrics.ts';

/** The statistics of a committer that are shown. */
interface LaneStats {
  waiting: number;
  lanes: number;
  busyLanes: number;
  maxLanes: number;
}

interface WatchDeps {
  metrics: Pick<Metrics, 'watch' | 'watchEach'>;
  db: Pick<Database, 'query' | 'pool'>;
  stats(): LaneStats;
  /** A monotonic clock in milliseconds. */
  elapsed(): number;
}

const REPLICAS = `select
    (current_setting('synchronous_standby_names') <> '')::int4 as required,
    count(r.pid) filter (where r.sync_state in ('sync', 'quorum'))::int4 as synchronous,
    count(r.pid) filter (where r.sync_state in ('async', 'potential'))::int4 as asynchronous,
    count(r.pid) filter (where r.sync_state is null)::int4 as hidden,
    max(case when r.sync_state is not null
      then coalesce(extract(epoch from r.replay_lag), 0) end)::float8 as seconds,
    max(case when not pg_is_in_recovery()
      then pg_wal_lsn_diff(pg_current_wal_lsn(), r.replay_lsn) end)::float8 as bytes
  from (select 1) one left join pg_stat_replication r on true`;

interface Replication {
  required: number;
  synchronous: number;
  asynchronous: number;
  hidden: number;
  seconds: number | null;
  bytes: number | null;
}

/** Period for which the metrics of a scrape share one query. */
const CACHE_MS = 5_000;

function watchReplication({ metrics, db, elapsed }: WatchDeps): void {
  let cachedRead: Promise<Replication> | undefined;
  let readAt = 0;

  const read = async () => {
    const [row] = await db.query<Replication>(REPLICAS);
    return row as Replication;
  };

  function readShared(): Promise<Replication> {
    if (cachedRead && elapsed() < readAt + CACHE_MS) return cachedRead;
    const nextRead = read();
    [cachedRead, readAt] = [nextRead, elapsed()];
    nextRead.catch(() => {
      if (cachedRead === nextRead) cachedRead = undefined;
    });
    return nextRead;
  }

  metrics.watchEach(
    'railhead_replicas',
    'Connected replicas of the primary: synchronous, asynchronous, or hidden from the role.',
    'state',
    async () => {
      const { synchronous, asynchronous, hidden } = await readShared();
      return new Map(Object.entries({ synchronous, asynchronous, hidden }));
    },
  );
  metrics.watch(
    'railhead_replication_required',
    '1 if a commit waits for a synchronous replica, or 0.',
    async () => (await readShared()).required,
  );
  metrics.watch(
    'railhead_replication_lag_seconds',
    'Longest delay of a replica. Absent without a visible replica.',
    async () => (await readShared()).seconds ?? undefined,
  );
  metrics.watch(
    'railhead_replication_lag_bytes',
    'Largest part of the write-ahead log that a replica has not replayed. Absent without a visible replica.',
    async () => (await readShared()).bytes ?? undefined,
  );
}

const poolCounts = ({ open, maximum }: PoolStats) => new Map(Object.entries({ open, maximum }));

/** Watches the connections of this process, and the replicas of the database. */
export function watchConnections(deps: WatchDeps): void {
  const { metrics, db, stats } = deps;
  metrics.watch('railhead_waiting_change_sets', 'Change sets waiting for a lane.', () => {
    return stats().waiting;
  });
  metrics.watchEach(
    'railhead_lanes',
    'Lanes of the committer of this process: connected, busy, and the maximum.',
    'state',
    () => {
      const { lanes, busyLanes, maxLanes } = stats();
      return new Map(Object.entries({ connected: lanes, busy: busyLanes, maximum: maxLanes }));
    },
  );
  metrics.watchEach(
    'railhead_pool_connections',
    'Connections for reading of this process: open, and the maximum.',
    'state',
    () => poolCounts(db.pool()),
  );
  metrics.watch('railhead_pool_queries', 'Queries in progress on connections for reading.', () => {
    return db.pool().queries;
  });
  watchReplication(deps);
}
