// Several server processes on one machine. The supervisor owns the embedded database if there is
// one, migrates the database, and starts the processes. The processes share the port, the database
// and the data folder. The supervisor serves no requests, so that a failure of a process cannot
// stop the supervisor.
import { mkdirSync } from 'node:fs';
import type { Config } from '../config.ts';
import { probeListen } from '../http/connection/listen.ts';
import { systemEffects } from '../runtime/config/system-effects.ts';
import { migrate } from '../runtime/db/migrate.ts';
import {
  configuredMasterKey,
  masterKeyFile,
  readMasterKey,
} from '../runtime/security/master-key.ts';
import { masterKeyFor } from '../runtime/security/stored-keys.ts';
import { createShutdown, onSignals } from '../shutdown.ts';
import { banner, databaseOf, openLog, report, watchDatabase } from '../startup.ts';
import { createFleet } from './fleet.ts';
import { prepareProcesses } from './process.ts';

/**
 * In a terminal SIGHUP means that the terminal is closed. Without a terminal SIGHUP requests a replacement.
 */
const isTerminal = () => process.stdin.isTTY || process.stderr.isTTY;

export async function supervise(config: Config, argv: readonly string[]): Promise<void> {
  // With port 0 the system selects one port for all processes, including replacements.
  const port = await probeListen(config);
  const effects = systemEffects();
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 });
  const log = openLog(effects, config, 0);
  const configuredKey = configuredMasterKey(config) ?? readMasterKey(masterKeyFile(config.dataDir));
  const { url, embedded } = await databaseOf(config, effects);
  let isShuttingDown = () => false;
  try {
    await masterKeyFor(url, configuredKey, config.dataDir, effects);
    await migrate(url, effects.now);
    prepareProcesses(argv);
    const { processes, drainMs } = config;
    const fleet = createFleet({ processes, env: { port, databaseUrl: url }, log });
    const shutdown = createShutdown(async () => {
      await fleet.stop();
      await embedded?.stop();
    }, log);
    isShuttingDown = shutdown.isShuttingDown;
    const onSignal = (signal: string) =>
      shutdown.start(signal, drainMs > 0 ? () => fleet.drain(drainMs) : undefined);
    onSignals(['SIGTERM', 'SIGINT'], onSignal);
    onSignals(['SIGHUP'], (signal) => (isTerminal() ? onSignal(signal) : fleet.replace()));
    watchDatabase(embedded, log);
    const serving = await fleet.start().catch(async (error: unknown) => {
      await fleet.stop();
      throw error;
    });
    report(banner(config, serving));
  } catch (error) {
    if (isShuttingDown()) return;
    await embedded?.stop();
    throw error;
  }
}
