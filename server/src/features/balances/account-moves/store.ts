// What somebody did to an account by hand, and why: to an internal or an external account, to a stablecoin,
// or to a mint or burn.
import { iso } from '../../../kernel/world.ts';
import type { Database } from '../../../runtime/db/database.ts';
import { col, table } from '../../../runtime/db/table.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

const accountMoves = table('account_moves', {
  id: col.text,
  /** Of the account, the stablecoin, the mint or the burn. */
  account_id: col.text,
  platform_id: col.text,
  actor: col.text,
  move: col.text,
  reason: col.text.null,
  created_at: col.time,
});

interface Move {
  actor: string;
  move: string;
  reason: string | null;
}

/** Stages the record of a move. */
export function recordMove(
  ctx: Ctx,
  { id, platform_id }: { id: string; platform_id: string },
  { actor, move, reason }: Move,
): void {
  ctx.insert(accountMoves, {
    id: ctx.id('AccountMove'),
    account_id: id,
    platform_id,
    actor,
    move,
    reason,
    created_at: ctx.now,
  });
}

/** Who moved it, and why, oldest first. */
export async function movesOf({ db }: { db: Pick<Database, 'find'> }, id: string) {
  const moves = await db.find(accountMoves, { account_id: id }, { orderBy: 'id' });
  return moves.map(({ actor, move, reason, created_at }) => ({
    actor,
    move,
    reason,
    createdAt: iso(created_at),
  }));
}
