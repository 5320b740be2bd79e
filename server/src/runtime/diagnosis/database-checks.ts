// Read-only checks of the database. Each check reads catalogs or a few rows.
import type pg from 'pg';
import type { Time } from '../../kernel/effects.ts';
import { CONNECTIONS_PER_PROCESS } from '../db/connections/limits.ts';
import { readPendingMigrations } from '../db/migrate.ts';
import { needsPartitions, onClient } from '../db/partitions/partitions.ts';
import { type Finding, failure, success, warning } from './finding.ts';

const CLOCK_WARNING_MS = 1_000;
const CLOCK_ERROR_MS = 30_000;
/**
 * Age of an open transaction above which it is reported. A transaction that writes delays the list of
 * events and vacuum.
 */
const OLD_TRANSACTION_S = 3_600;
/** Age of the oldest row, in transactions, above which it is reported. */
const OLD_XID = 1_000_000_000;
const OLD_DELIVERY_S = 3_600;
/** Oldest supported major version, which docs/settings.md also states. */
const OLDEST_POSTGRES = 15;

async function rowOf<R extends object>(client: pg.Client, text: string): Promise<R> {
  const { rows } = await client.query<R>(text);
  return rows[0] as R;
}

/** Checks the version of PostgreSQL. `version` is server_version_num, such as 150018. */
export function checkVersion(version: number, text: string): Finding {
  const detail = `PostgreSQL ${text} responds.`;
  if (version >= OLDEST_POSTGRES * 10_000) return success('database', detail);
  const remedy = `Upgrade to PostgreSQL ${OLDEST_POSTGRES} or newer. Older versions are not tested.`;
  return warning('database', detail, remedy);
}

/** Checks the response and the version of the database. */
export async function checkServer(client: pg.Client): Promise<Finding> {
  const { version, text } = await rowOf<{ version: number; text: string }>(
    client,
    `select current_setting('server_version_num')::int4 as version,
      split_part(current_setting('server_version'), ' ', 1) as text`,
  );
  return checkVersion(version, text);
}

/** Checks the settings by which acknowledged commits survive a crash, and the encoding. */
export async function checkDurability(client: pg.Client): Promise<Finding> {
  const row = await rowOf<Record<'fsync' | 'commit' | 'pages' | 'encoding', string>>(
    client,
    `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
      current_setting('full_page_writes') as pages, current_setting('server_encoding') as encoding`,
  );
  const problems = [
    ...(row.fsync === 'on' ? [] : [`fsync is ${row.fsync}.`]),
    ...(row.pages === 'on' ? [] : [`full_page_writes is ${row.pages}.`]),
    ...(row.commit === 'off' ? ['synchronous_commit is off.'] : []),
    ...(row.encoding === 'UTF8' ? [] : [`The encoding is ${row.encoding} instead of UTF8.`]),
  ];
  if (problems.length === 0) return success('durability', 'Commits are on disk when they return.');
  const remedy =
    'Correct postgresql.conf, because a crash can lose or damage acknowledged payments. ' +
    'A database with another encoding must be created again with UTF8.';
  return failure('durability', problems.join(' '), remedy);
}

export async function checkReplica(client: pg.Client, isProduction: boolean): Promise<Finding> {
  const { names, synchronous } = await rowOf<{ names: string; synchronous: number }>(
    client,
    `select current_setting('synchronous_standby_names') as names,
      (select count(*)::int4 from pg_stat_replication
        where sync_state in ('sync', 'quorum')) as synchronous`,
  );
  if (names === '') {
    const detail = 'There is no synchronous replica.';
    if (!isProduction) return success('replica', detail);
    return warning(
      'replica',
      `${detail} Payments since the last backup are lost with the disk of the primary.`,
      'See docs/guides/high-availability.md.',
    );
  }
  if (synchronous > 0) return success('replica', `Connected synchronous replicas: ${synchronous}.`);
  return failure(
    'replica',
    `synchronous_standby_names is ${names}, and no synchronous replica is connected.`,
    'Start the replica. Commits wait until one connects.',
  );
}

export async function checkConnections(client: pg.Client, processes: number): Promise<Finding> {
  const { maximum, used } = await rowOf<{ maximum: number; used: number }>(
    client,
    `select current_setting('max_connections')::int4
        - current_setting('superuser_reserved_connections')::int4 as maximum,
      (select count(*)::int4 from pg_stat_activity where backend_type = 'client backend') as used`,
  );
  const requiredCount = CONNECTIONS_PER_PROCESS * processes;
  const detail = `${used} of ${maximum} connections are used. This machine needs ${requiredCount}.`;
  if (maximum < requiredCount || maximum - used < CONNECTIONS_PER_PROCESS) {
    return warning('connections', detail, 'Raise max_connections, or use PgBouncer.');
  }
  return success('connections', detail);
}

export async function checkClock(client: pg.Client, now: () => Time): Promise<Finding> {
  const startTime = now();
  const { at } = await rowOf<{ at: number }>(
    client,
    'select extract(epoch from clock_timestamp())::float8 * 1000 as at',
  );
  // The middle of the query's duration is compared, because the query itself needs time.
  const differenceMs = Math.abs(at - (startTime + now()) / 2);
  const detail = `The clocks of this machine and the database differ by ${Math.round(differenceMs)} ms.`;
  const remedy = 'Synchronize both clocks with NTP, such as with chrony.';
  if (differenceMs > CLOCK_ERROR_MS) return failure('clock', detail, remedy);
  return differenceMs > CLOCK_WARNING_MS
    ? warning('clock', detail, remedy)
    : success('clock', detail);
}

interface MigrationFinding {
  finding: Finding;
  /** Whether the tables have the structure of this version, so that their rows can be checked. */
  isCurrent: boolean;
}

/** Checks the migrations. A database that does not match this version is a finding with the reason. */
export async function checkMigrations(url: string): Promise<MigrationFinding> {
  const createResult = (finding: Finding, isCurrent: boolean): MigrationFinding => ({
    finding,
    isCurrent,
  });
  try {
    const { expansions, contractions } = await readPendingMigrations(url);
    const [firstExpansion] = expansions;
    if (firstExpansion !== undefined) {
      const detail = `Missing migrations: ${expansions.length}, the first is ${firstExpansion}.`;
      const remedy = 'Start the server, or run railhead-server migrate.';
      return createResult(warning('migrations', detail, remedy), false);
    }
    if (contractions.length > 0) {
      const detail = `An upgrade is not completed: ${contractions.join(', ')}.`;
      const remedy =
        'Run railhead-server migrate --contract when no server of the earlier version runs.';
      return createResult(warning('migrations', detail, remedy), true);
    }
    return createResult(success('migrations', 'All migrations of this version are applied.'), true);
  } catch (error) {
    const remedy = 'See docs/guides/operating.md, Upgrades.';
    return createResult(failure('migrations', (error as Error).message, remedy), false);
  }
}

export async function checkArchive(client: pg.Client, isProduction: boolean): Promise<Finding> {
  const row = await rowOf<{ mode: string; failing: boolean; age: number | null }>(
    client,
    `select current_setting('archive_mode') as mode,
      coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false) as failing,
      extract(epoch from now() - last_archived_time)::float8 as age
    from pg_stat_archiver`,
  );
  if (row.mode === 'off') {
    const detail = 'The write-ahead log is not archived.';
    if (!isProduction) return success('backup', detail);
    return warning(
      'backup',
      `${detail} A restore returns to the last dump.`,
      'Set archive_mode, or use pgBackRest or a managed backup. See docs/backups.md.',
    );
  }
  if (row.failing) {
    const remedy = 'See the log of PostgreSQL. The disk fills until the archive works again.';
    return failure('backup', 'The last attempt to archive the write-ahead log failed.', remedy);
  }
  const detail =
    row.age === null
      ? 'The write-ahead log is archived. No segment is complete yet.'
      : `The write-ahead log was archived ${Math.round(row.age)} s ago.`;
  return success('backup', detail);
}

/** `maximumSeconds` is the age above which an open transaction is reported. */
export async function checkTransactions(
  client: pg.Client,
  maximumSeconds = OLD_TRANSACTION_S,
): Promise<Finding> {
  const { seconds, age } = await rowOf<{ seconds: number; age: number }>(
    client,
    `select coalesce(max(extract(epoch from now() - xact_start)), 0)::float8 as seconds,
      (select age(datfrozenxid)::float8 from pg_database
        where datname = current_database()) as age
    from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()`,
  );
  if (age > OLD_XID) {
    return failure(
      'transactions',
      `The oldest row is ${Math.round(age / 1_000_000)} million transactions old.`,
      'Run vacuum freeze. PostgreSQL stops accepting writes at 2,100 million.',
    );
  }
  if (seconds <= maximumSeconds) {
    return success('transactions', 'No transaction is older than an hour.');
  }
  return warning(
    'transactions',
    `A transaction has been open for ${Math.round(seconds / 60)} minutes.`,
    'End the transaction (pg_stat_activity). It delays the list of events and the removal of old rows.',
  );
}

export async function checkPartitions(client: pg.Client, now: Time): Promise<Finding> {
  if (!(await needsPartitions(onClient(client), now))) {
    return success('partitions', 'Partitions of the next weeks exist.');
  }
  const remedy = 'Start a process with the role jobs. See docs/retention.md.';
  return warning(
    'partitions',
    'Partitions of the next weeks or of stored rows are missing.',
    remedy,
  );
}

/** Checks for dead jobs, which are no longer retried. */
export async function checkJobs(client: pg.Client): Promise<Finding> {
  const { dead } = await rowOf<{ dead: number }>(
    client,
    `select count(*)::int4 as dead from jobs where state = 'dead'`,
  );
  return dead === 0
    ? success('jobs', 'No job is dead.')
    : warning(
        'jobs',
        `Jobs that have failed permanently: ${dead}.`,
        'List the jobs with railhead-server jobs list --state dead. Retry or cancel each job.',
      );
}

/** `overdueSeconds` is the delay of the delivery that has been due longest. */
export function checkDeliveries(overdueSeconds: number): Finding {
  if (overdueSeconds <= OLD_DELIVERY_S) {
    return success('deliveries', 'No delivery has been due for more than an hour.');
  }
  return warning(
    'deliveries',
    `A delivery has been due for ${Math.round(overdueSeconds / 60)} minutes.`,
    'Start a process with the role deliver. List deliveries with railhead-server webhooks pending.',
  );
}

/** `unusableProviders` are the providers that payments cannot use. */
export function checkProviders(
  unusableProviders: readonly { id: string; status: string; problem: string | null }[],
): Finding {
  if (unusableProviders.length === 0)
    return success('providers', 'No provider is paused or failing.');
  const list = unusableProviders.map(({ id, status, problem }) =>
    status === 'PAUSED' ? `${id} is paused.` : `${id}: ${problem}`,
  );
  const remedy = 'Run railhead-server providers check PROVIDER, or resume a paused provider.';
  return warning('providers', list.join(' '), remedy);
}
