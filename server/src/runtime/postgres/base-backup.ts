// A base backup of a running PostgreSQL over SQL, because the embedded PostgreSQL has no programs for
// backups. The folder of the cluster is copied between pg_backup_start and pg_backup_stop, with the
// write-ahead log that the copy needs. The copy is renamed to its name when it is complete.
import fs from 'node:fs';
import path from 'node:path';
import type pg from 'pg';
import { connectDatabase } from '../db/connections/connect.ts';

/** The archive of the write-ahead log in the folder of the backups. */
export const walFolder = (folder: string) => path.join(folder, 'wal');

/** Folders that are copied empty, because their content belongs to the running server. */
const EMPTY_FOLDERS = new Set(['pg_wal', 'pg_replslot', 'pg_stat_tmp', 'pg_dynshmem', 'pg_notify']);
const OMITTED_FILES = new Set([
  'postmaster.pid',
  'postmaster.opts',
  'backup_label',
  'recovery.signal',
]);
const BASE = /^base-\d{8}T\d{6}Z$/;
const SEGMENT = /^[0-9A-F]{24}$/;

const isMissing = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOENT';

function copyFile(from: string, to: string): number {
  try {
    fs.copyFileSync(from, to, fs.constants.COPYFILE_FICLONE);
    return fs.statSync(to).size;
  } catch (error) {
    // A table was dropped during the copy. The log contains the change.
    if (isMissing(error)) return 0;
    throw error;
  }
}

/** Copies a folder that changes during the copy. Returns its bytes. */
function copyFolder(from: string, to: string, isTop = false): number {
  fs.mkdirSync(to, { mode: 0o700 });
  let bytes = 0;
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isSymbolicLink())
      throw new Error(`${source} is a tablespace, which is not supported.`);
    if (isTop && EMPTY_FOLDERS.has(entry.name)) fs.mkdirSync(target, { mode: 0o700 });
    else if (entry.isDirectory()) bytes += copyFolder(source, target);
    else if (entry.isFile() && !(isTop && OMITTED_FILES.has(entry.name))) {
      bytes += copyFile(source, target);
    }
  }
  return bytes;
}

const readFirstRow = async (client: pg.Client, text: string) => (await client.query(text)).rows[0];

/** The name of a segment without its timeline. */
const positionOf = (segment: string) => segment.slice(8);

function copyLog(from: string, to: string, firstSegment: string, lastSegment: string): void {
  for (const name of fs.readdirSync(from)) {
    if (!SEGMENT.test(name)) continue;
    const position = positionOf(name);
    if (position >= positionOf(firstSegment) && position <= positionOf(lastSegment)) {
      copyFile(path.join(from, name), path.join(to, name));
    }
  }
}

export interface BaseBackup {
  name: string;
  bytes: number;
}

/** The name of a backup of this time. */
const nameAt = (time: Date) => `base-${time.toISOString().replaceAll(/[-:]|\.\d+/g, '')}`;

/**
 * Creates a backup. `cluster` is the folder of the PostgreSQL at `url`. This process must be able to read
 * the folder.
 */
export async function createBaseBackup(
  url: string,
  cluster: string,
  folder: string,
  time: Date,
): Promise<BaseBackup> {
  const name = nameAt(time);
  const target = path.join(folder, name);
  const temporaryFolder = `${target}.part`;
  fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
  fs.rmSync(temporaryFolder, { recursive: true, force: true });
  const client = await connectDatabase(url, { name: 'railhead backup' });
  try {
    const startResult = await readFirstRow(
      client,
      `select pg_walfile_name(pg_backup_start('railhead', true)) as first`,
    );
    const bytes = copyFolder(cluster, temporaryFolder, true);
    // Copied last, as in pg_basebackup, because this file contains the newest checkpoint.
    const controlFile = path.join('global', 'pg_control');
    copyFile(path.join(cluster, controlFile), path.join(temporaryFolder, controlFile));
    const stopResult = await readFirstRow(
      client,
      'select pg_walfile_name(lsn) as last, labelfile from pg_backup_stop(false)',
    );
    const logFolder = path.join(temporaryFolder, 'pg_wal');
    copyLog(path.join(cluster, 'pg_wal'), logFolder, startResult.first, stopResult.last);
    fs.writeFileSync(path.join(temporaryFolder, 'backup_label'), stopResult.labelfile, {
      mode: 0o600,
    });
    fs.renameSync(temporaryFolder, target);
    return { name, bytes };
  } finally {
    await client.end();
    fs.rmSync(temporaryFolder, { recursive: true, force: true });
  }
}

/**
 * The command that archives a segment. A file with the name of a segment is complete and is never replaced.
 * PostgreSQL repeats the command if it was killed before it recorded the success, so the same segment is
 * accepted again.
 */
export function archiveCommand(folder: string): string {
  const target = `"${walFolder(folder)}/%f"`;
  const copyCommand = `cp "%p" ${target}.part && mv ${target}.part ${target}`;
  return `if test -f ${target}; then cmp -s "%p" ${target}; else ${copyCommand}; fi`;
}

/** Sets the archive command of the PostgreSQL at `url`, from its next start on. */
export async function archiveLog(url: string, folder: string): Promise<void> {
  const client = await connectDatabase(url, { name: 'railhead backup' });
  const quoteText = (text: string) => `'${text.replaceAll("'", "''")}'`;
  try {
    await client.query(`alter system set archive_mode = 'on'`);
    await client.query(`alter system set archive_command = ${quoteText(archiveCommand(folder))}`);
    await client.query(`alter system set archive_timeout = '60s'`);
    await client.query('select pg_reload_conf()');
  } finally {
    await client.end();
  }
}

/**
 * The folder of the newest backup before `time`, or of the newest backup without a time. Throws if there is
 * no such backup.
 */
export function backupBefore(folder: string, time?: Date): string {
  const limitName = time && nameAt(time);
  const names = fs.readdirSync(folder).filter((each) => BASE.test(each));
  const usableNames = names.filter((each) => limitName === undefined || each < limitName).sort();
  const lastName = usableNames.at(-1);
  if (lastName !== undefined) return path.join(folder, lastName);
  throw new Error(
    names.length === 0
      ? `${folder} contains no backup.`
      : `${folder} contains no backup from before ${time?.toISOString()}.`,
  );
}
