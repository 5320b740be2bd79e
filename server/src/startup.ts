// Common parts of the start of one process and of several: the log, the database, and the output of
// the command.
import path from 'node:path';
import type pg from 'pg';
import type { Config } from './config.ts';
import { type StorageSettings, storageOf } from './connectors/registry.ts';
import { openEpoch } from './features/notifications/events/index.ts';
import { type RetentionOptions, retentionDepsOf } from './features/retention/index.ts';
import type { Effects } from './kernel/effects.ts';
import { ROLES } from './runtime/config/roles.ts';
import { CONNECTIONS_PER_PROCESS, type ConnectionLimits } from './runtime/db/connections/limits.ts';
import { connectLane } from './runtime/db/lane.ts';
import { announceMigrations } from './runtime/db/migrate.ts';
import { createFiles } from './runtime/files/files.ts';
import { STORAGE_FAILURES } from './runtime/jobs/circuit-report.ts';
import type { Circuits } from './runtime/jobs/circuits.ts';
import { createLog, type Log, lineWriter, redactText } from './runtime/observability/log.ts';
import type { Runtime } from './runtime/operation/operate.ts';
import { type Embedded, startEmbedded } from './runtime/postgres/embedded.ts';

/** The content of `credentials.json`. */
export interface CredentialsFile {
  baseUrl: string;
  clientId: string;
  clientSecret: string;
  webhookPublicKey: string;
  docsUrl: string;
}

/** Message of a process that serves requests. Without the role `api` it has no credentials. */
export interface Serving {
  origin: string;
  credentials: CredentialsFile | undefined;
  /** URL at which the first administrator enrolls. Absent after the enrollment. */
  enrollUrl?: string | undefined;
}

export const report = (line: string) => void process.stderr.write(`${line}\n`);

/**
 * The log on standard output, flushed at exit. Lines of one of several processes begin with its
 * number, 0 for the supervisor. An uncaught error is logged without secrets and ends the process with
 * code 1.
 */
export function openLog(effects: Effects, { logLevel }: Config, number?: number): Log {
  const out = lineWriter(process.stdout.fd, number !== undefined);
  const writeNumbered = (line: string) => out.write(`{"process":${number},${line.slice(1)}`);
  const log = createLog(effects, logLevel, number === undefined ? out.write : writeNumbered);
  process.on('uncaughtException', (err) => {
    log.error({ err }, 'the process crashed');
    if (logLevel === 'silent') report(redactText(String(err)));
    process.exit(1);
  });
  process.on('exit', () => {
    log.flush();
    out.flush();
  });
  return log;
}

/** Connections for operator commands. */
const SPARE_CONNECTIONS = 16;

/** The configured database, or the embedded database, which this process then owns. */
export async function databaseOf(
  config: Config,
  effects: Effects,
): Promise<{ url: string; embedded?: Embedded }> {
  if (config.databaseUrl) return { url: config.databaseUrl };
  report('Starting the database …');
  // An additional process runs while processes are replaced.
  const maxConnections = CONNECTIONS_PER_PROCESS * (config.processes + 1) + SPARE_CONNECTIONS;
  const random = (bytes: number) => effects.random(bytes);
  const embedded = await startEmbedded({ dir: config.dataDir, random, maxConnections });
  return { url: embedded.url, embedded };
}

/**
 * A connection of the committer. Each new connection opens the epoch of events, because a crash of the
 * database may have closed the previous connection.
 */
export async function connectCommitter(settings: {
  databaseUrl: string;
  connectionLimits?: ConnectionLimits | undefined;
}): Promise<pg.Client> {
  const client = await connectLane(settings.databaseUrl, settings.connectionLimits);
  try {
    await announceMigrations(client);
    await openEpoch(client);
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    throw error;
  }
}

/** The storage of files, the files in it, and the dependencies of the retention. */
export function fileDepsOf(
  settings: RetentionOptions & { databaseUrl: string; files: StorageSettings },
  runtime: Runtime,
  circuits: Circuits,
) {
  const effects = circuits.effects(runtime.effects, 'storage', STORAGE_FAILURES);
  const storage = storageOf(effects, settings.files);
  const retention = retentionDepsOf(settings, runtime, storage);
  return { storage, files: createFiles(runtime, storage), retention };
}

/** Ends the process if the embedded database ends. */
export function watchDatabase(embedded: Embedded | undefined, log: Log): void {
  embedded?.exited.then((reason) => {
    log.error({ reason }, 'the database exited');
    process.exit(1);
  });
}

export const credentialsPath = ({ dataDir }: Config) => path.join(dataDir, 'credentials.json');

function rolesLines({ processes, roles }: Config): string[] {
  const lines: string[] = [];
  if (processes > 1) lines.push(`  Processes      ${processes}`);
  if (roles.length < ROLES.length) lines.push(`  Roles          ${roles.join(', ')}`);
  return lines;
}

function credentialsLines(
  config: Config,
  storedFile: CredentialsFile,
  operatorLines: readonly string[],
): string[] {
  const { clientId, clientSecret, baseUrl } = storedFile;
  const secret = clientSecret || '(not stored, was shown when the token was created)';
  return [
    `  Base URL       ${baseUrl}`,
    `  Client ID      ${clientId}`,
    `  Client secret  ${secret}`,
    `  Docs           ${storedFile.docsUrl}`,
    `  Credentials    ${credentialsPath(config)}`,
    ...operatorLines,
    ...rolesLines(config),
    '',
    '  Public key for webhook signatures:',
    ...storedFile.webhookPublicKey
      .trim()
      .split('\n')
      .map((line) => `  ${line}`),
    '',
    '  Try it:',
    `  curl -u '${clientId}:${clientSecret}' ${baseUrl}/platform/internal-accounts`,
  ];
}

/** The output of a successful start. */
export function banner(config: Config, { origin, credentials, enrollUrl }: Serving): string {
  const operatorLines = [
    ...(config.console ? [`  Console        ${origin}/console`] : []),
    ...(enrollUrl ? [`  Operator       ${enrollUrl}`] : []),
  ];
  const lines = credentials
    ? credentialsLines(config, credentials, operatorLines)
    : [`  Readiness      ${origin}/readyz`, `  Metrics        ${origin}/metrics`];
  const roles = credentials ? [] : rolesLines(config);
  return ['', 'Railhead is running.', '', ...lines, ...roles, ''].join('\n');
}
