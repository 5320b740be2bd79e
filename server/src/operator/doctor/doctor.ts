// `railhead-server doctor`: problems of an installation, and their remedies. The command is
// read-only: it migrates no database, and creates no key and no folder.
import fs from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import type { Config } from '../../config.ts';
import { longestOverdueSeconds } from '../../features/notifications/webhooks/index.ts';
import { providerMetrics } from '../../features/providers/index.ts';
import { isUnavailable, messageWithCause } from '../../kernel/fault.ts';
import { systemEffects } from '../../runtime/config/system-effects.ts';
import { connectDatabase } from '../../runtime/db/connections/connect.ts';
import { type Database, openDatabase } from '../../runtime/db/database.ts';
import {
  checkArchive,
  checkClock,
  checkConnections,
  checkDeliveries,
  checkDurability,
  checkJobs,
  checkMigrations,
  checkPartitions,
  checkProviders,
  checkReplica,
  checkServer,
  checkTransactions,
} from '../../runtime/diagnosis/database-checks.ts';
import { type Finding, failure, success } from '../../runtime/diagnosis/finding.ts';
import {
  checkDataFolder,
  checkDisk,
  checkMasterKeyFile,
  checkNode,
  checkProductionSettings,
} from '../../runtime/diagnosis/machine-checks.ts';
import { withEmbedded } from '../../runtime/postgres/embedded.ts';
import { createDataKeys } from '../../runtime/security/data-keys.ts';
import { openPublishedKeys } from '../../runtime/security/keys.ts';
import {
  configuredMasterKey,
  masterKeyFile,
  readMasterKey,
} from '../../runtime/security/master-key.ts';
import { createVault } from '../../runtime/security/vault.ts';
import { usageError } from '../cli/flags.ts';
import { withoutControlCharacters } from '../cli/table.ts';
import type { Output } from '../cli/verb.ts';

const USAGE = 'Usage: railhead-server doctor [--json]';

export const DOCTOR_HELP = `${USAGE}

Checks settings, machine, database, keys, backups, providers, jobs and webhook deliveries.
Read-only. The exit code is 1 if a check found an error.
`;

/** Whether the result is JSON. Throws a usage error for an unknown flag. */
export function readDoctorFlags(argv: readonly string[]): boolean {
  try {
    const options = { json: { type: 'boolean', default: false } } as const;
    return parseArgs({ args: [...argv], options }).values.json;
  } catch (error) {
    throw usageError(`${(error as Error).message}\n${USAGE}`);
  }
}

const statementTimeoutMs = 10_000;

/** Checks that the master key opens the signing keys. The same key opens all other sealed data. */
async function checkMasterKey(config: Config, db: Database): Promise<Finding> {
  const effects = systemEffects();
  try {
    const key = configuredMasterKey(config) ?? readMasterKey(masterKeyFile(config.dataDir));
    const keys = key && createDataKeys({ db, effects, masterKey: () => key });
    await keys?.read();
    const vault = keys && createVault(effects, keys);
    const count = await openPublishedKeys(db, effects.now(), vault);
    return success('keys', `The master key opens all ${count} signing keys.`);
  } catch (error) {
    if (isUnavailable(error)) throw error;
    const remedy = 'Restore the master key of this database. No other key decrypts its data.';
    return failure('keys', (error as Error).message, remedy);
  }
}

/** Checks of rows, which need the tables of this version. */
async function checkContent(config: Config, db: Database): Promise<Finding[]> {
  return [
    await checkMasterKey(config, db),
    checkProviders(await providerMetrics.unusable(db)),
    checkDeliveries(await longestOverdueSeconds({ db, effects: systemEffects() })),
  ];
}

async function checkDatabase(config: Config, url: string): Promise<Finding[]> {
  const { now } = systemEffects();
  const { production, processes } = config;
  const { finding, isCurrent } = await checkMigrations(url);
  const client = await connectDatabase(url, {
    name: 'railhead doctor',
    settings: [`statement_timeout = ${statementTimeoutMs}`],
  });
  const db = openDatabase({ url, poolSize: 1, statementTimeoutMs });
  try {
    const generalFindings = [
      await checkServer(client),
      await checkDurability(client),
      await checkReplica(client, production),
      await checkConnections(client, processes),
      await checkClock(client, now),
      await checkArchive(client, production),
      await checkTransactions(client),
      finding,
    ];
    if (!isCurrent) return generalFindings;
    return [
      ...generalFindings,
      await checkPartitions(client, now()),
      await checkJobs(client),
      ...(await checkContent(config, db)),
    ];
  } finally {
    await client.end();
    await db.close();
  }
}

async function databaseFindings(config: Config): Promise<Finding[]> {
  const { random } = systemEffects();
  try {
    if (config.databaseUrl) return await checkDatabase(config, config.databaseUrl);
    if (!fs.existsSync(path.join(config.dataDir, 'postgres'))) {
      return [success('database', 'There is no database yet. The first start creates it.')];
    }
    return await withEmbedded({ dir: config.dataDir, random }, (url) => checkDatabase(config, url));
  } catch (error) {
    const [line = ''] = messageWithCause(error as Error).split('\n');
    return [failure('database', line, 'Check DATABASE_URL, the network and PostgreSQL.')];
  }
}

/**
 * A line with the result, and a line with the remedy. Control characters are replaced, because the
 * problem of a provider is text of a third party.
 */
function textOf({ check, status, detail, remedy }: Finding): string {
  const start = `${status.padEnd(7)}  ${check.padEnd(12)}  `;
  const lines = remedy === undefined ? [detail] : [detail, remedy];
  return lines
    .map(
      (line, index) =>
        (index === 0 ? start : ' '.repeat(start.length)) + withoutControlCharacters(line),
    )
    .map((line) => `${line}\n`)
    .join('');
}

/** The result of all checks. `problems` are invalid settings, which prevent all further checks. */
export async function runDoctor(config: Config | { problems: readonly string[] }): Promise<Output> {
  const findings = [checkNode(process.versions.node)];
  if ('problems' in config) {
    const remedy = 'See docs/settings.md. No further check was run.';
    findings.push(...config.problems.map((problem) => failure('settings', problem, remedy)));
  } else {
    findings.push(
      checkProductionSettings(config),
      checkDataFolder(config),
      checkDisk(config.dataDir),
      checkMasterKeyFile(config),
      ...(await databaseFindings(config)),
    );
  }
  const hasFailed = findings.some(({ status }) => status === 'ERROR');
  return { json: { findings }, text: findings.map(textOf).join(''), hasFailed: hasFailed };
}
