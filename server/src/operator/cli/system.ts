// The installation that an operator's command uses: the database in DATABASE_URL, or the embedded
// one of the data folder, which is shared with a running server and otherwise started for the call.

import type { Config } from '../../config.ts';
import { gateway } from '../../connectors/gateway/index.ts';
import { connectorRegistry, custodyKeysOf, storageOf } from '../../connectors/registry.ts';
import { sealOldCustomers } from '../../features/customers/records/index.ts';
import { ENQUEUE } from '../../features/notifications/webhooks/index.ts';
import { openProviderDirectory, type ProviderDirectory } from '../../features/providers/index.ts';
import { retentionPartsOf } from '../../features/retention/index.ts';
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
import { checkSigningKeys } from '../../runtime/security/keys.ts';
import { masterKeyIn } from '../../runtime/security/master-key.ts';
import { createVault } from '../../runtime/security/vault.ts';
import type { System } from './verb.ts';

/** Verifying reads every transfer: 100 million of them take minutes. */
const statementTimeoutMs = 3_600_000;

/** Called only by verbs that seal data. */
function keyOf(config: Config, effects: Effects): Uint8Array {
  if (config.masterKey) return config.masterKey;
  if (config.production) throw new Error('RAILHEAD_MASTER_KEY must be set for this in production.');
  return masterKeyIn(config.dataDir, effects);
}

async function onDatabase<T>(
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
  const masterKey = () => keyOf(config, effects);
  const vault = createVault(effects, masterKey);
  const clocks = createClocks(db, effects);
  const runtime: Runtime = { effects, db, vault, clocks, committer, wake };
  // Read on demand only: a faulty file must not block verification of the books.
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
  let checked: Promise<void> | undefined;
  const checkMasterKey = () => {
    checked ??= checkSigningKeys(runtime, masterKey());
    return checked;
  };
  const storage = storageOf(effects, config.files);
  try {
    // The server cannot decrypt data that was sealed under another master key.
    await sealOldCustomers(db, vault, checkMasterKey);
    return await work({
      runtime,
      files: createFiles(runtime, storage),
      retention: retentionPartsOf({ ...config, databaseUrl: url }, runtime, storage),
      connectorsOf,
      providers,
      builtIn: () => registry().builtIn(),
      fundingOf: (environment) => connectorsOf(environment).funding,
      walletRecoveryMs: config.walletRecoveryMs,
      stream: (text, values) => streamRows({ url, statementTimeoutMs }, text, values),
      masterKey,
      checkMasterKey,
    });
  } finally {
    await committer.close();
    await db.close();
  }
}

/** Runs `work` on the configured installation, migrated. */
export async function withSystem<T>(
  config: Config,
  work: (system: System) => Promise<T>,
): Promise<T> {
  if (config.databaseUrl) return onDatabase(config.databaseUrl, config, work);
  const { random } = systemEffects();
  return withEmbedded({ dir: config.dataDir, random }, (url) => onDatabase(url, config, work));
}
