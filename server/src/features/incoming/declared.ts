// Deposits from a wallet that nobody had declared. Whoever receives one says who controls the sending
// wallet by registering it as an external account, held at a custodian or shown to be the owner's; that is
// the answer to what a deposit is held for, and releases those that came from there.
import { rowOf } from '../../catalog/account-info.ts';
import type { Ctx } from '../../runtime/context.ts';
import {
  type ExternalAccountRow,
  externalAccounts,
  isDeclared,
} from '../external-accounts/index.ts';
import { internalAccounts } from '../internal-accounts/index.ts';
import { type TransactionRow, transactions } from '../transactions/index.ts';
import { isHeld, releaseDeposit } from './deposit.ts';

/** What a declared wallet answers; who sent it, and what a person is looking at, it does not. */
const ANSWERED = ['COUNTERPARTY_DECLARATION_REQUIRED', 'WALLET_VERIFICATION_REQUIRED'];

/** The same address however it is spelled. */
function addressOf({ info }: ExternalAccountRow): (given: unknown) => string {
  const field = rowOf(info).fields.address;
  return (given) => (typeof given === 'string' ? (field?.normalise(given) ?? given) : '');
}

const HELD = `select id from transactions
  where destination_account = $1 and funds = 'HELD' and type = 'INCOMING'
    and pending_reason = any($2::text[])`;

async function heldOn(ctx: Ctx, accountId: string): Promise<TransactionRow[]> {
  const found = await ctx.db.query<{ id: string }>(HELD, [accountId, ANSWERED]);
  const rows = await Promise.all(found.map(({ id }) => ctx.read(transactions, id)));
  return rows.filter((row) => row !== undefined && isHeld(row)) as TransactionRow[];
}

/** Releases what its owner got from this account and what was held until it was declared. */
export async function releaseDeclared(ctx: Ctx, externalAccountId: string): Promise<void> {
  const account = await ctx.read(externalAccounts, externalAccountId);
  if (!account || !isDeclared(account)) return;
  const spelled = addressOf(account);
  const from = spelled((account.info as Record<string, unknown>).address);
  const { platform_id, customer_id, currency } = account;
  const own = await ctx.db.find(internalAccounts, { platform_id, customer_id, currency });
  for (const { id } of own) {
    for (const row of await heldOn(ctx, id)) {
      if (spelled(row.source.accountIdentifier) === from) await releaseDeposit(ctx, row);
    }
  }
}
