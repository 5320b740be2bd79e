// Transfers of a provider and the statements that contain them. Transfers on no statement have a
// partial index, so that the cost of reconciling a day does not depend on the history of the
// provider.

import type { Mode } from '../../kernel/mode.ts';
import type { Database } from '../../runtime/db/database.ts';
import type { RowOf } from '../../runtime/db/table.ts';
import type { Ctx } from '../../runtime/operation/context.ts';
import { providerTransfers } from './store.ts';

export type TransferOfProvider = RowOf<typeof providerTransfers>;

/** Exported so that a test can check its query plan. */
export const UNREPORTED = `select * from provider_transfers
  where provider_id = $1 and reported_day is null and (created_at, id) > ($2::timestamptz, $3)
  order by created_at, id limit 1000`;

const byIds = async (
  db: Pick<Database, 'read'>,
  providerId: string,
  ids: readonly string[],
): Promise<TransferOfProvider[]> =>
  (await Promise.all(ids.map((id) => db.read(providerTransfers, id)))).filter(
    (each) => each?.provider_id === providerId,
  ) as TransferOfProvider[];

export const reportedTransfers = {
  /** Returns the transfers with these IDs that belong to the provider. */
  byIds,
  /** Yields pages of the transfers of the provider that are on no statement, oldest first. */
  async *unreported(
    db: Pick<Database, 'query'>,
    providerId: string,
  ): AsyncGenerator<TransferOfProvider[]> {
    let position = { created_at: 0, id: '' };
    for (;;) {
      const values = [providerId, new Date(position.created_at), position.id];
      const rows = await db.query<TransferOfProvider>(UNREPORTED, values);
      if (rows.length) yield rows;
      const lastRow = rows.at(-1);
      if (!lastRow || rows.length < 1_000) return;
      position = lastRow;
    }
  },
  /**
   * Stages the day of the statement that contains a transfer. `none`: excluded from statements. Null: no
   * statement contains it yet.
   */
  async mark(ctx: Ctx, transferId: string, day: string | null): Promise<void> {
    const row = await ctx.read(providerTransfers, transferId);
    if (row) ctx.update(providerTransfers, row, { reported_day: day });
  },
};

/** Returns the names and environments of all providers. */
export const providerModes = (
  db: Pick<Database, 'query'>,
): Promise<{ providerId: string; environment: Mode }[]> =>
  db.query('select id as "providerId", environment from providers order by id');
