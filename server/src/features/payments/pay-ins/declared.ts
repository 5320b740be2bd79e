// Deposits from a wallet that nobody had declared. Whoever receives one says who controls the sending
// wallet by registering it as an external account, held at a custodian or shown to be the owner's; that is
// the answer to what a deposit is held for, and releases those that came from there.

import { rowOf } from '../../../catalog/accounts/account-info.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import {
  type ExternalAccountRow,
  isDeclared,
  readExternalAccount,
  WALLET_DECLARED,
} from '../../payees/external-accounts/index.ts';
import { readTransaction } from '../transactions/index.ts';
import { isHeld, releaseDeposit } from './deposit.ts';

/** What a declared wallet answers; who sent it, and what a person is looking at, it does not. */
const ANSWERED = ['COUNTERPARTY_DECLARATION_REQUIRED', 'WALLET_VERIFICATION_REQUIRED'];

/** The same address however it is spelled. */
function addressOf({ info }: ExternalAccountRow): (given: unknown) => string {
  const field = rowOf(info).fields.address;
  return (given) => (typeof given === 'string' ? (field?.normalise(given) ?? given) : '');
}

/** As many are looked at in one change set; the next job goes on behind the last of them. */
const AT_ONCE = 50;

const HELD = `select id from transactions
  where destination_account = any($1::text[]) and funds = 'HELD' and type = 'INCOMING'
    and pending_reason = any($2::text[]) and id > $3
  order by id limit ${AT_ONCE}`;

async function heldOn(ctx: Ctx, accountIds: string[], after: string): Promise<string[]> {
  const found = await ctx.db.query<{ id: string }>(HELD, [accountIds, ANSWERED, after]);
  return found.map(({ id }) => id);
}

/**
 * Releases what its owner got from this account and what was held until it was declared, of the deposits
 * behind the one named by `after`.
 */
export async function releaseDeclared(
  ctx: Ctx,
  externalAccountId: string,
  after = '',
): Promise<void> {
  const account = await readExternalAccount(ctx, externalAccountId);
  if (!account || !isDeclared(account)) return;
  const spelled = addressOf(account);
  const from = spelled((account.info as Record<string, unknown>).address);
  const { platform_id, customer_id, currency } = account;
  const own = await findInternalAccounts(ctx.db, { platform_id, customer_id, currency });
  const ids = await heldOn(
    ctx,
    own.map(({ id }) => id),
    after,
  );
  for (const id of ids) {
    const row = await readTransaction(ctx, id);
    if (row?.type !== 'INCOMING' || !isHeld(row)) continue;
    if (spelled(row.source.accountIdentifier) === from) await releaseDeposit(ctx, row);
  }
  const last = ids.at(-1);
  if (ids.length < AT_ONCE || last === undefined) return;
  ctx.later(WALLET_DECLARED, { externalAccountId, after: last });
}
