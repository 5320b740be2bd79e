// Manual and automatic actions, with their reasons, on internal and external accounts, stablecoins,
// mints and burns.
import { iso } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

const accountActions = table('account_actions', {
  id: col.text,
  /** ID of the account, stablecoin, mint or burn. */
  account_id: col.text,
  platform_id: col.text,
  actor: col.text,
  action: col.text,
  reason: col.text.null,
  created_at: col.time,
});

interface AccountAction {
  actor: string;
  action: string;
  reason: string | null;
}

export function recordAccountAction(
  ctx: Ctx,
  { id, platform_id }: { id: string; platform_id: string },
  { actor, action, reason }: AccountAction,
): void {
  ctx.insert(accountActions, {
    id: ctx.id('AccountAction'),
    account_id: id,
    platform_id,
    actor,
    action,
    reason,
    created_at: ctx.now,
  });
}

const view = ({ actor, action, reason, created_at }: RowOf<typeof accountActions>) => ({
  actor,
  action,
  reason,
  createdAt: iso(created_at),
});

/** The first 1,000 actions on an account, oldest first. */
export async function accountActionsOf({ db }: { db: Pick<Database, 'find'> }, id: string) {
  return (await db.find(accountActions, { account_id: id }, { orderBy: 'id' })).map(view);
}

export interface ActionsQuery {
  limit?: number | undefined;
  /** `nextCursor` of the previous page. */
  cursor?: string | undefined;
}

/** A page of the actions on an account of a platform, oldest first. */
export async function pageOfAccountActions(
  { db }: { db: Pick<Database, 'page'> },
  { id, platform_id: platformId }: { id: string; platform_id: string },
  { limit = 1_000, cursor }: ActionsQuery,
) {
  const filters = [{ column: 'account_id', op: '=', value: id } as const];
  const query = { filters, sort: 'asc', limit, cursor } as const;
  const { rows, ...rest } = await db.page(accountActions, query);
  return { platformId, data: rows.map(view), ...rest };
}
