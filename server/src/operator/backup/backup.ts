// `railhead-server backup archive|create|restore|verify`: backups of the embedded PostgreSQL, and the
// verification of backups of any PostgreSQL. A verification restores a backup into a temporary folder
// and recovers the database. It then opens the database with the master key and verifies the books.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../config.ts';
import { verifyLedger } from '../../features/accounting/index.ts';
import { allErasures } from '../../features/customers/privacy/index.ts';
import { systemEffects } from '../../runtime/config/system-effects.ts';
import {
  archiveLog,
  backupBefore,
  createBaseBackup,
  walFolder,
} from '../../runtime/postgres/base-backup.ts';
import { withEmbedded } from '../../runtime/postgres/embedded.ts';
import { clusterOf, DATABASE_USER } from '../../runtime/postgres/embedded-cluster.ts';
import { openScratch, type Scratch } from '../../runtime/postgres/scratch.ts';
import { usageError } from '../cli/flags.ts';
import { withSystem } from '../cli/system.ts';
import type { Output } from '../cli/verb.ts';

const USAGE = 'Usage: railhead-server backup archive|create|restore|verify [flags] [--json]';

export const BACKUP_HELP = `${USAGE}

  archive --to FOLDER   archive the write-ahead log of the embedded database from its next start
  create --to FOLDER    copy the embedded database into the folder while it runs
  restore --from FOLDER --into DATA [--until TIME]
                        restore a backup into a new data folder, without master key and files
  verify --from FOLDER  restore into a temporary folder, open it with the master key, and verify
                        the books. Exit code 1 if they do not balance
  verify --restore-command COMMAND --postgres FOLDER --user NAME --database NAME
                        verify a backup of another PostgreSQL. COMMAND restores into $RESTORED.
                        FOLDER contains the programs of that PostgreSQL version

  --until TIME          recover to this time, such as 2026-11-28T12:00:00Z. Without it, to the
                        newest state
  --erasures FILE       verify: also write the list of erasures to this new file
  --work FOLDER         verify: parent of the temporary folder (default: the temporary folder of
                        the system)
`;

const stringFlag = { type: 'string' } as const;
const FLAGS = {
  to: stringFlag,
  from: stringFlag,
  into: stringFlag,
  until: stringFlag,
  erasures: stringFlag,
  work: stringFlag,
  'restore-command': stringFlag,
  postgres: stringFlag,
  user: stringFlag,
  database: stringFlag,
  json: { type: 'boolean', default: false },
} as const;

interface BackupFlags {
  verb: string;
  isJson: boolean;
  value(name: Exclude<keyof typeof FLAGS, 'json'>): string | undefined;
  required(name: Exclude<keyof typeof FLAGS, 'json'>): string;
  until: Date | undefined;
}

const isTime = (value: string) => /^\d{4}-\d\d-\d\dT[\d:.]+(Z|[+-]\d\d:\d\d)$/.test(value);

/** Throws a usage error for an unknown verb or flag, or an invalid time. */
export function readBackupFlags(argv: readonly string[]): BackupFlags {
  const [verb = '', ...args] = argv;
  if (!(verb in VERBS)) {
    throw usageError(`backup needs a verb: ${Object.keys(VERBS).join(', ')}\n${USAGE}`);
  }
  let values: Partial<Record<keyof typeof FLAGS, string | boolean>>;
  try {
    ({ values } = parseArgs({ args: args, options: FLAGS }));
  } catch (error) {
    throw usageError(`${(error as Error).message}\n${USAGE}`);
  }
  const value: BackupFlags['value'] = (name) => values[name] as string | undefined;
  const untilText = value('until');
  if (untilText !== undefined && !isTime(untilText)) {
    throw usageError('--until must be a time with a zone, such as 2026-11-28T12:00:00Z');
  }
  return {
    verb,
    isJson: values.json === true,
    value,
    required(name) {
      const requiredValue = value(name);
      if (requiredValue === undefined) throw usageError(`--${name} is required\n${USAGE}`);
      return requiredValue;
    },
    until: untilText === undefined ? undefined : new Date(untilText),
  };
}

function assertEmbedded({ databaseUrl }: Config): void {
  if (databaseUrl === undefined) return;
  throw usageError(
    'This verb applies to the embedded database only, but DATABASE_URL is set. ' +
      'Use the tools of this PostgreSQL, such as pgBackRest',
  );
}

const withEmbeddedDatabase = <T>({ dataDir }: Config, work: (url: string) => Promise<T>) =>
  withEmbedded({ dir: dataDir, random: systemEffects().random }, work);

async function archive(config: Config, flags: BackupFlags): Promise<Output> {
  assertEmbedded(config);
  const folder = path.resolve(flags.required('to'));
  const wal = walFolder(folder);
  await withEmbeddedDatabase(config, async (url) => {
    fs.mkdirSync(wal, { recursive: true, mode: 0o700 });
    // The user that runs PostgreSQL writes the archive.
    const { uid, gid } = fs.statSync(clusterOf(config.dataDir));
    if (process.getuid?.() === 0) fs.chownSync(wal, uid, gid);
    await archiveLog(url, folder);
  });
  const line = `The write-ahead log is archived in ${wal} from the next start of the server.\n`;
  return { json: { folder: wal }, text: line };
}

async function create(config: Config, flags: BackupFlags): Promise<Output> {
  assertEmbedded(config);
  const folder = path.resolve(flags.required('to'));
  const time = new Date(systemEffects().now());
  const cluster = clusterOf(config.dataDir);
  const backup = await withEmbeddedDatabase(config, (url) =>
    createBaseBackup(url, cluster, folder, time),
  );
  return { json: backup, text: `${backup.name}: ${megabytes(backup.bytes)} MB\n` };
}

const megabytes = (bytes: number) => (bytes / 1_000_000).toFixed(0);

/**
 * Copies a backup. For root, the copy belongs to the owner of the archived log or an unprivileged
 * user.
 */
function copyBackup(backup: string, cluster: string, wal: string): void {
  fs.cpSync(backup, cluster, { recursive: true, mode: fs.constants.COPYFILE_FICLONE });
  if (process.getuid?.() !== 0) return;
  const owner = fs.existsSync(wal) ? fs.statSync(wal) : { uid: 65_534, gid: 65_534 };
  const { uid, gid } = owner.uid === 0 ? { uid: 65_534, gid: 65_534 } : owner;
  for (const name of ['.', ...(fs.readdirSync(cluster, { recursive: true }) as string[])]) {
    fs.lchownSync(path.join(cluster, name), uid, gid);
  }
}

/** A restored copy of the embedded database, recovered and running. */
async function recoverCopy(flags: BackupFlags, cluster: string): Promise<Scratch> {
  const folder = path.resolve(flags.required('from'));
  const wal = walFolder(folder);
  copyBackup(backupBefore(folder, flags.until), cluster, wal);
  return openScratch({
    cluster,
    wal: fs.existsSync(wal) ? wal : undefined,
    until: flags.until,
    user: DATABASE_USER,
    database: 'postgres',
  });
}

async function restore(_: Config, flags: BackupFlags): Promise<Output> {
  const targetFolder = path.resolve(flags.required('into'));
  const cluster = clusterOf(targetFolder);
  if (fs.existsSync(cluster)) {
    throw new Error(`${targetFolder} already contains a database. Choose another folder.`);
  }
  fs.mkdirSync(targetFolder, { recursive: true, mode: 0o700 });
  const scratch = await recoverCopy(flags, cluster);
  await scratch.stop();
  const line = `The database was restored into ${targetFolder}. Copy the master key and the files there.\n`;
  return { json: { folder: targetFolder }, text: line };
}

/** Restores with a command of the operator, such as a command of pgBackRest. */
async function restoreByCommand(flags: BackupFlags, cluster: string): Promise<Scratch> {
  const command = flags.required('restore-command');
  const bin = flags.required('postgres');
  const user = flags.required('user');
  const database = flags.required('database');
  fs.mkdirSync(cluster, { mode: 0o700 });
  execFileSync('/bin/sh', ['-c', command], {
    env: { ...process.env, RESTORED: cluster },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return openScratch({ cluster, bin, until: flags.until, user, database });
}

interface VerificationResult {
  balanced: boolean;
  transfers: number;
  problems: readonly string[];
  erasures: unknown[];
}

/** Opens the restored database with the configured master key and verifies its books. */
async function verifyBooks(config: Config, url: string): Promise<VerificationResult> {
  return withSystem({ ...config, databaseUrl: url }, async (system) => {
    await system.checkMasterKey?.();
    const { balanced, totals, problems } = await verifyLedger(system.runtime);
    const transfers = totals.reduce((sum, each) => sum + Number(each.transfers), 0);
    const erasures = await allErasures(system.runtime);
    return { balanced, transfers, problems, erasures };
  });
}

async function verify(config: Config, flags: BackupFlags): Promise<Output> {
  const startedAt = performance.now();
  const erasuresFile = flags.value('erasures');
  const work = fs.mkdtempSync(
    path.join(path.resolve(flags.value('work') ?? os.tmpdir()), 'railhead-verify-'),
  );
  // PostgreSQL runs as a user other than root.
  fs.chmodSync(work, 0o711);
  const cluster = path.join(work, 'postgres');
  try {
    const scratch = await (flags.value('restore-command') === undefined
      ? recoverCopy(flags, cluster)
      : restoreByCommand(flags, cluster));
    const restoredMs = performance.now() - startedAt;
    try {
      const result = await verifyBooks(config, scratch.url);
      if (erasuresFile !== undefined) {
        fs.writeFileSync(erasuresFile, `${JSON.stringify(result.erasures)}\n`, {
          mode: 0o600,
          flag: 'wx',
        });
      }
      const verifiedMs = performance.now() - startedAt - restoredMs;
      return report(result, { restore: restoredMs / 1_000, verify: verifiedMs / 1_000 });
    } finally {
      await scratch.stop();
    }
  } finally {
    fs.rmSync(work, { recursive: true, force: true });
  }
}

function report(result: VerificationResult, seconds: { restore: number; verify: number }): Output {
  const { balanced, transfers, problems, erasures } = result;
  const verdict = balanced ? 'The books balance.' : 'THE BOOKS DO NOT BALANCE:';
  const lines = [
    `Restored in ${seconds.restore.toFixed(1)} s, verified in ${seconds.verify.toFixed(1)} s`,
    `Transfers: ${transfers}`,
    `Erasures: ${erasures.length}`,
    'The master key opens the backup.',
    verdict,
    ...problems.map((each) => `  ${each}`),
  ];
  const json = { balanced, transfers, erasures: erasures.length, problems, seconds };
  return { json, text: `${lines.join('\n')}\n`, hasFailed: !balanced };
}

const VERBS: Record<string, (config: Config, flags: BackupFlags) => Promise<Output>> = {
  archive,
  create,
  restore,
  verify,
};

export const runBackup = (config: Config, flags: BackupFlags): Promise<Output> =>
  (VERBS[flags.verb] as (typeof VERBS)[string])(config, flags);
