// What somebody did to an account by hand, and why: to an internal or an external account, to a stablecoin,
// or to a mint or burn.
import { iso } from '../../../kernel/effects.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

const accountActions = table('account_actions', {
  id: col.text,
  /** Of the account, the stablecoin, the mint or the burn. */
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

/** Stages the record of a move. */
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

/** Who moved it, and why, oldest first. */
export async function accountActionsOf({ db }: { db: Pick<Database, 'find'> }, id: string) {
  const moves = await db.find(accountActions, { account_id: id }, { orderBy: 'id' });
  return moves.map(({ actor, action, reason, created_at }) => ({
    actor,
    action,
    reason,
    createdAt: iso(created_at),
  }));
}
