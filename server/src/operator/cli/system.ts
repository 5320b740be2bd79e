// The installation that an operator's command uses: the database in DATABASE_URL, or the embedded
// database of the data folder. The embedded database is shared with a running server, or started for
// the call.
import { existsSync } from 'node:fs';
import type { Config } from '../../config.ts';
import { gateway } from '../../connectors/gateway/index.ts';
import {
  CUSTODY_COLUMNS,
  connectorRegistry,
  custodyKeysOf,
  storageOf,
} from '../../connectors/registry.ts';
import { sealOldCustomers } from '../../features/customers/records/index.ts';
import { ENQUEUE } from '../../features/notifications/webhooks/index.ts';
import { openProviderDirectory, type ProviderDirectory } from '../../features/providers/index.ts';
import { retentionDepsOf } from '../../features/retention/index.ts';
import { SEALED_COLUMNS } from '../../features.ts';
import type { Effects } from '../../kernel/effects.ts';
import type { Mode } from '../../kernel/mode.ts';
import { createClocks } from '../../runtime/clocks/clocks.ts';
import { createCommitter } from '../../runtime/committer/committer.ts';
import { systemEffects } from '../../runtime/config/system-effects.ts';
import { openDatabase } from '../../runtime/db/database.ts';
import { connectLane } from '../../runtime/db/lane.ts';
import { migrate } from '../../runtime/db/migrate.ts';
import { streamRows } from '../../runtime/db/stream.ts';
import { createFiles } from '../../runtime/files/files.ts';
import { createCircuits } from '../../runtime/jobs/circuits.ts';
import { createLog } from '../../runtime/observability/log.ts';
import type { Runtime } from '../../runtime/operation/operate.ts';
import { withEmbedded } from '../../runtime/postgres/embedded.ts';
import { createDataKeys } from '../../runtime/security/data-keys.ts';
import { checkSigningKeys } from '../../runtime/security/keys.ts';
import {
  configuredMasterKey,
  hasMasterKey,
  masterKeyFile,
  masterKeyIn,
} from '../../runtime/security/master-key.ts';
import { assertMasterKey } from '../../runtime/security/stored-keys.ts';
import { createVault } from '../../runtime/security/vault.ts';
import type { System } from './verb.ts';

/** A verification reads every transfer, which takes minutes for 100 million transfers. */
const statementTimeoutMs = 3_600_000;

/** Returns the function that reads the master key, at most once. Only some verbs need the key. */
async function masterKeyOf(url: string, config: Config, effects: Effects) {
  let key: Uint8Array | undefined;
  const file = masterKeyFile(config.dataDir);
  const isGenerated = !config.production && !hasMasterKey(config) && !existsSync(file);
  // No master key is generated for a database that already has sealed keys.
  const problem: unknown = isGenerated
    ? await assertMasterKey(url, undefined).catch((error: unknown) => error)
    : undefined;

  function read(): Uint8Array {
    const configuredKey = configuredMasterKey(config);
    if (configuredKey) return configuredKey;
    if (config.production) {
      throw new Error(
        'This command needs the master key. Set RAILHEAD_MASTER_KEY, RAILHEAD_MASTER_KEY_FILE or ' +
          'RAILHEAD_MASTER_KEY_COMMAND.',
      );
    }
    if (problem) throw problem;
    return masterKeyIn(config.dataDir, effects);
  }

  return () => {
    key ??= read();
    return key;
  };
}

async function runOnDatabase<T>(
  url: string,
  config: Config,
  work: (system: System) => Promise<T>,
): Promise<T> {
  const effects = systemEffects();
  await migrate(url, effects.now);
  const db = openDatabase({ url, poolSize: 2, statementTimeoutMs });
  const committer = createCommitter({
    connect: () => connectLane(url),
    enqueue: ENQUEUE,
    lanes: 1,
  });
  // A running server finds new jobs and events at its next poll.
  const wake = { events: () => undefined, jobs: () => undefined };
  const masterKey = await masterKeyOf(url, config, effects);
  const keys = createDataKeys({ db, effects, masterKey });
  const vault = createVault(effects, keys);
  const clocks = createClocks(db, effects);
  const runtime: Runtime = { effects, db, vault, clocks, committer, wake };
  // Connectors are created on demand, because a faulty file of a connector must not block the
  // verification of the ledger.
  let connectors: ReturnType<typeof connectorRegistry> | undefined;
  const registry = () => {
    connectors ??= connectorRegistry(effects, {
      ...config.connectors,
      custodyKeys: custodyKeysOf(vault),
    });
    return connectors;
  };
  const connectorsOf = (environment: Mode) => registry()(environment);
  let directory: Promise<ProviderDirectory> | undefined;
  const providers = () => {
    const circuits = createCircuits(effects.now);
    const log = createLog(effects, 'silent', () => {});
    directory ??= openProviderDirectory({ db, effects, vault, circuits, protocol: gateway, log });
    return directory;
  };
  let keyCheck: Promise<void> | undefined;
  const checkMasterKey = () => {
    keyCheck ??= checkSigningKeys(runtime);
    return keyCheck;
  };
  const storage = storageOf(effects, config.files);
  try {
    await keys.read();
    // The server cannot decrypt data that was sealed under another master key.
    await sealOldCustomers(db, vault, checkMasterKey);
    return await work({
      runtime,
      files: createFiles(runtime, storage),
      retention: retentionDepsOf({ ...config, databaseUrl: url }, runtime, storage),
      connectorsOf,
      providers,
      builtIn: () => registry().builtIn(),
      fundingOf: (environment) => connectorsOf(environment).funding,
      walletRecoveryMs: config.walletRecoveryMs,
      stream: (text, values) => streamRows({ url, statementTimeoutMs }, text, values),
      checkMasterKey,
      keys: { keys, masterKey, columns: [...SEALED_COLUMNS, ...CUSTODY_COLUMNS] },
    });
  } finally {
    await committer.close();
    await db.close();
  }
}

/** Migrates the configured installation and runs `work` on it. */
export async function withSystem<T>(
  config: Config,
  work: (system: System) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl) return runOnDatabase(config.databaseUrl, config, work);
  const { random } = systemEffects();
  return withEmbedded({ dir: config.dataDir, random }, (url) => runOnDatabase(url, config, work));
}
