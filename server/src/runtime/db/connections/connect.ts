// Opens a connection to the host that accepts writes. With synchronous replication, a host is by
// default used only after a replica has confirmed a commit on it. A primary that restarts without
// its replicas, or that does not detect its replacement, is therefore not used. The rows that it
// recovered from its log may not exist on a replica.
import pg from 'pg';
import { readDatabaseUrl } from '../../../kernel/net/database-url.ts';
import { addConnection, closeFormerConnections, INSTANCE } from './former-primary.ts';
import { CONFIRM, cancelWait, hasCanceledWait, watchWaits } from './replication.ts';

interface ConnectOptions {
  /** Name of the connection, as PostgreSQL lists it. */
  name: string;
  /** Settings of the session: `name = value`. */
  settings?: readonly string[];
  types?: pg.CustomTypesConfig;
  pipeline?: boolean;
  /** Maximum time to connect to a host. Defaults to 10,000. */
  timeoutMs?: number;
  /** Whether a replica must confirm a commit first. Defaults to true. */
  confirmed?: boolean;
  /** Maximum time for the confirmation. Defaults to 5,000. */
  confirmMs?: number;
}

const TIMEOUT_MS = 10_000;
const CONFIRM_MS = 5_000;
/** Time without a response after which the next host is tried concurrently. */
const NEXT_HOST_MS = 250;
/**
 * Period after which a connection without traffic is checked. Without a response, it is closed 10 s later.
 */
const KEEP_ALIVE_MS = 10_000;

const STATE = `select pg_is_in_recovery() as standby, ${INSTANCE}`;

// Commits must reach the disk, and the disk of the synchronous replica if there is one.
const DURABLE = `select set_config('synchronous_commit', 'on', false)
  where current_setting('synchronous_commit') in ('off', 'local', 'remote_write')`;

// The tests use the same settings, so that every PostgreSQL uses the same plans. By default,
// PostgreSQL assumes disks on which a random page costs four times as much as the next page, and
// scans complete tables. The compilation of a plan takes longer than its execution.
export const PLANS = ['set random_page_cost = 1.1', 'set jit = off'];

/** The error of a connection to a standby, with the code that PostgreSQL returns for a write. */
const standbyError = () =>
  Object.assign(new Error('the database is a standby'), { code: '25006', severity: 'FATAL' });

/** Code of the error of a primary on which no replica has confirmed a commit. */
export const UNCONFIRMED = 'UNCONFIRMED';

const unconfirmedError = () =>
  Object.assign(new Error('no replica has confirmed a commit'), { code: UNCONFIRMED });

/** Rejects and releases the backend if `work` waits for a replica beyond the limit. */
async function awaitInTime<R>(client: pg.Client, work: Promise<R>, limitMs: number): Promise<R> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      void cancelWait(client);
      reject(unconfirmedError());
    }, limitMs);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
    work.catch(() => undefined);
  }
}

async function prepare(
  client: pg.Client,
  requiresPrimary: boolean,
  { settings = [], confirmed = true, confirmMs = CONFIRM_MS }: ConnectOptions,
): Promise<{ instance: string; isConfirmed: boolean }> {
  const statements = [
    STATE,
    ...PLANS,
    ...settings.map((each) => `set ${each}`),
    ...(confirmed ? [DURABLE, CONFIRM] : [DURABLE]),
  ];
  // The driver returns one result for each statement of a text.
  const work = client.query(statements.join('; ')) as unknown as Promise<pg.QueryResult[]>;
  const results = await awaitInTime(client, work, confirmMs);
  const { standby, instance } = results[0]?.rows[0] ?? {};
  if (requiresPrimary && standby) throw standbyError();
  if (hasCanceledWait(client)) throw unconfirmedError();
  return { instance, isConfirmed: confirmed && results.at(-1)?.rows[0]?.position != null };
}

/** Opens a connection to one host of `databaseUrl`. */
async function connectHost(
  url: string,
  requiresPrimary: boolean,
  { databaseUrl, ...options }: ConnectOptions & { databaseUrl: string },
): Promise<pg.Client> {
  const { name, types, pipeline, timeoutMs = TIMEOUT_MS } = options;
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    connectionTimeoutMillis: timeoutMs,
    types,
    pipeline,
  });
  client.on('error', () => undefined); // The query in flight fails with the error, and 'end' follows.
  watchWaits(client);
  try {
    await client.connect();
    const { instance, isConfirmed } = await prepare(client, requiresPrimary, options);
    addConnection(client, { instance, url: databaseUrl });
    if (isConfirmed) closeFormerConnections(client);
    return client;
  } catch (error) {
    client.connection.stream.destroy();
    throw error;
  }
}

/**
 * The failure of all hosts, with the code of an unconfirmed primary or of the first host that responded with
 * an error.
 */
function noHostError(failures: readonly (Error & { code?: string; severity?: string })[]): Error {
  const text = failures.map(({ message }) => message).join('; ');
  const { code, severity } =
    failures.find((each) => each.code === UNCONFIRMED) ??
    failures.find((each) => 'severity' in each) ??
    (failures[0] as (typeof failures)[0]);
  const cause = new AggregateError(failures);
  const error = new Error(`no host of the database accepts writes: ${text}`, { cause });
  return Object.assign(error, { code, ...(severity === undefined ? {} : { severity }) });
}

/**
 * Connects to the first host that can be used. Hosts are tried in order. If a host does not respond within
 * NEXT_HOST_MS, the next host is tried concurrently.
 */
function connectFirst(hosts: readonly string[], openHost: (host: string) => Promise<pg.Client>) {
  return new Promise<pg.Client>((resolve, reject) => {
    const failures: Error[] = [];
    let startedCount = 0;
    let isSettled = false;
    let timer: NodeJS.Timeout | undefined;

    function onOpen(client: pg.Client): void {
      if (isSettled) return void client.end();
      isSettled = true;
      clearTimeout(timer);
      resolve(client);
    }

    function onFailure(error: Error): void {
      failures.push(error);
      if (failures.length < hosts.length) startNext();
      else reject(noHostError(failures));
    }

    function startNext(): void {
      clearTimeout(timer);
      const host = hosts[startedCount++];
      if (isSettled || host === undefined) return;
      timer = setTimeout(startNext, NEXT_HOST_MS);
      openHost(host).then(onOpen, onFailure);
    }

    startNext();
  });
}

/** Opens a connection to the database. `url` is a DATABASE_URL. */
export async function connectDatabase(url: string, options: ConnectOptions): Promise<pg.Client> {
  const { hosts, requiresPrimary } = readDatabaseUrl(url);
  const [firstHost] = hosts;
  const hostOptions = { ...options, databaseUrl: url };
  const openHost = (host: string) => connectHost(host, requiresPrimary, hostOptions);
  return hosts.length === 1 && firstHost !== undefined
    ? openHost(firstHost)
    : connectFirst(hosts, openHost);
}
