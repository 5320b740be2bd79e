// Releases deposits that were held because the sending wallet was undeclared. The receiver declares a
// wallet by registering it as an external account, with its custodian or a proof of ownership.

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

/** Pending reasons that a declaration resolves. */
const RESOLVED_REASONS = ['COUNTERPARTY_DECLARATION_REQUIRED', 'WALLET_VERIFICATION_REQUIRED'];

/** Returns a function that normalizes addresses of this account type. */
function addressNormalizer({ info }: ExternalAccountRow): (address: unknown) => string {
  const field = rowOf(info).fields.address;
  return (address) => (typeof address === 'string' ? (field?.normalize(address) ?? address) : '');
}

/** Deposits per change set. The next job continues after the last deposit. */
const BATCH_SIZE = 50;

const HELD_DEPOSITS_SQL = `select id from transactions
  where destination_account = any($1::text[]) and funds = 'HELD' and type = 'INCOMING'
    and pending_reason = any($2::text[]) and id > $3
  order by id limit ${BATCH_SIZE}`;

async function findHeldDeposits(ctx: Ctx, accountIds: string[], after: string): Promise<string[]> {
  const rows = await ctx.db.query<{ id: string }>(HELD_DEPOSITS_SQL, [
    accountIds,
    RESOLVED_REASONS,
    after,
  ]);
  return rows.map(({ id }) => id);
}

/** Releases the owner's held deposits from this wallet, starting after the deposit `after`. */
export async function releaseDeclared(
  ctx: Ctx,
  externalAccountId: string,
  after = '',
): Promise<void> {
  const account = await readExternalAccount(ctx, externalAccountId);
  if (!account || !isDeclared(account)) return;
  const normalize = addressNormalizer(account);
  const walletAddress = normalize((account.info as Record<string, unknown>).address);
  const { platform_id, customer_id, currency } = account;
  const customerAccounts = await findInternalAccounts(ctx.db, {
    platform_id,
    customer_id,
    currency,
  });
  const ids = await findHeldDeposits(
    ctx,
    customerAccounts.map(({ id }) => id),
    after,
  );
  for (const id of ids) {
    const row = await readTransaction(ctx, id);
    if (row?.type !== 'INCOMING' || !isHeld(row)) continue;
    if (normalize(row.source.accountIdentifier) === walletAddress) await releaseDeposit(ctx, row);
  }
  const lastId = ids.at(-1);
  if (ids.length < BATCH_SIZE || lastId === undefined) return;
  ctx.later(WALLET_DECLARED, { externalAccountId, after: lastId });
}
