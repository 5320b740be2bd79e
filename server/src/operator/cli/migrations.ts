// `railhead-server migrate`: applies migrations without starting a server, and contractions, which
// require this command.
import { parseArgs } from 'node:util';
import type { Config } from '../../config.ts';
import { systemEffects } from '../../runtime/config/system-effects.ts';
import { contract, migrate, readPendingMigrations } from '../../runtime/db/migrate.ts';
import { withEmbedded } from '../../runtime/postgres/embedded.ts';
import { usageError } from './flags.ts';
import type { Output } from './verb.ts';

const USAGE = 'Usage: railhead-server migrate [--contract] [--dry-run] [--json]';

export const MIGRATE_HELP = `${USAGE}

Applies missing migrations that the previous version supports, as each start does.

--contract  also apply migrations that the previous version does not support. No server of that
            version may run
--dry-run   list the missing migrations without applying them
`;

interface Flags {
  contract: boolean;
  dryRun: boolean;
  isJson: boolean;
}

/** Throws a usage error for an unknown flag. */
export function readMigrateFlags(argv: readonly string[]): Flags {
  const flag = { type: 'boolean', default: false } as const;
  try {
    const options = { contract: flag, 'dry-run': flag, json: flag };
    const { values } = parseArgs({ args: [...argv], options });
    return { contract: values.contract, dryRun: values['dry-run'], isJson: values.json };
  } catch (error) {
    throw usageError(`${(error as Error).message}\n${USAGE}`);
  }
}

const linesOf = (names: readonly string[], emptyText: string) =>
  names.length === 0 ? `${emptyText}\n` : names.map((name) => `${name}\n`).join('');

/** Applies migrations to the configured database, or lists the missing migrations. */
export async function runMigrations(config: Config, flags: Flags): Promise<Output> {
  const { now, random } = systemEffects();
  async function work(url: string): Promise<Output> {
    const { expansions, contractions } = await readPendingMigrations(url);
    if (flags.dryRun) {
      const lines = [
        ...expansions,
        ...contractions.map((name) => `${name}  (with --contract only)`),
      ];
      return {
        json: { expansions, contractions },
        text: linesOf(lines, 'No migration is missing.'),
      };
    }
    const appliedNames = await migrate(url, now);
    if (flags.contract) appliedNames.push(...(await contract(url, now)));
    return {
      json: { applied: appliedNames },
      text: linesOf(appliedNames, 'No migration was missing.'),
    };
  }
  if (config.databaseUrl) return work(config.databaseUrl);
  return withEmbedded({ dir: config.dataDir, random }, work);
}
