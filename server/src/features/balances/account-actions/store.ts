// Manual actions, with their reasons, on internal and external accounts, stablecoins, mints and burns.
import { iso } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

const accountActions = table('account_actions', {
  id: col.text,
  /** Id of the account, stablecoin, mint or burn. */
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

/** Oldest first. */
export async function accountActionsOf({ db }: { db: Pick<Database, 'find'> }, id: string) {
  const actions = await db.find(accountActions, { account_id: id }, { orderBy: 'id' });
  return actions.map(({ actor, action, reason, created_at }) => ({
    actor,
    action,
    reason,
    createdAt: iso(created_at),
  }));
}
