// A view of the database for an operator who is restricted to some platforms. Rows of other platforms
// are omitted, so that a function of a feature rejects their IDs like unknown IDs, before it reads
// their state.

import type { Operator } from '../kernel/caller.ts';
import type { Database } from '../runtime/db/database.ts';
import type { Table } from '../runtime/db/table.ts';

/** The platform of a row, or undefined if it belongs to none. */
function platformOf({ name }: Table, row: Record<string, unknown>): string | undefined {
  const id = name === 'platforms' ? row.id : row.platform_id;
  return typeof id === 'string' && id !== '' ? id : undefined;
}

/**
 * `db` without the rows of platforms that the operator may not access. Pages and SQL are unchanged.
 */
export function scopedDatabase(db: Database, { platformIds }: Operator): Database {
  if (platformIds === null) return db;
  const isVisible = (table: Table, row: object | undefined): boolean => {
    const platform = row && platformOf(table, row as Record<string, unknown>);
    return platform === undefined || platformIds.includes(platform);
  };
  return {
    ...db,
    async read(table, id) {
      const row = await db.read(table, id);
      return isVisible(table, row as object | undefined) ? row : undefined;
    },
    async find(table, where, options) {
      const rows = await db.find(table, where, options);
      return rows.filter((row) => isVisible(table, row as object));
    },
  };
}
