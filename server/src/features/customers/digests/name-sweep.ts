// Computes the digests of names of rows that an earlier version stored, in batches in the
// background. Concurrent processes share the work, because a row is updated only in the version
// that was read.
import type { Time } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import type { Vault } from '../../../runtime/security/vault.ts';

const SWEEP_INTERVAL_MS = 60_000;

export const NAME_BATCH = 500;

interface VersionedRow {
  id: string;
  version: number;
}

interface Source<R extends VersionedRow> {
  name: string;
  /** Selects up to `NAME_BATCH` rows without digests. */
  select: string;
  /** Stores digests as JSON: $1 are the IDs, $2 the versions that were read, $3 the digests. */
  update: string;
  digests(vault: Vault, row: R): readonly string[];
}

/** Rows that cannot be decrypted have no digests, so that they do not stop the sweep. */
function decryptDigests<R extends VersionedRow>({ digests }: Source<R>, vault: Vault, row: R) {
  try {
    return digests(vault, row);
  } catch {
    return [];
  }
}

async function indexBatch<R extends VersionedRow>(db: Database, vault: Vault, source: Source<R>) {
  const rows = await db.query<R & object>(source.select, []);
  if (rows.length === 0) return 0;
  const digests = rows.map((row) => JSON.stringify(decryptDigests(source, vault, row)));
  const values = [rows.map(({ id }) => id), rows.map(({ version }) => version), digests];
  return (await db.query(source.update, values)).length;
}

export function nameSweep<R extends VersionedRow>(source: Source<R>): Sweep {
  let nextRunAt: Time = 0;
  return {
    name: source.name,
    async run({ effects, db, vault }) {
      const now = effects.now();
      if (now < nextRunAt) return 0;
      const count = await indexBatch(db, vault, source);
      if (count === 0) nextRunAt = now + SWEEP_INTERVAL_MS;
      return count;
    },
  };
}
