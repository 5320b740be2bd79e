// A wallet comes with its account: names that mean something in payloads and bundles alone, a seed that the
// custodian draws, and one-time codes by e-mail as the first credential where the customer has an address.
// No key is derived here, because customers are registered by the thousand: whoever first needs one derives
// it.
import { uuid7 } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type InternalAccountRow, isBalance } from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../../customers/records/index.ts';
import { wallets } from '../store.ts';
import { addCredential } from './credentials.ts';
import { custodyOf, type WalletParts } from './wallet.ts';

async function openWallet(
  ctx: Ctx,
  parts: WalletParts,
  customer: CustomerRow,
  account: InternalAccountRow,
): Promise<void> {
  const key = dataKeyOf(customer);
  if (!key) return; // erased meanwhile: nobody is left to have a wallet
  const names = { organizationId: uuid7(ctx.effects), walletId: uuid7(ctx.effects) };
  const { seed } = await custodyOf(ctx, parts).newSeed(names);
  const row = ctx.insert(wallets, {
    id: account.id,
    platform_id: account.platform_id,
    customer_id: customer.id,
    organization_id: names.organizationId,
    user_id: uuid7(ctx.effects),
    wallet_id: names.walletId,
    seed,
    created_at: ctx.now,
  });
  if (customer.email === null) return;
  addCredential(ctx, { row, key }, { type: 'EMAIL_OTP', uniquenessKey: 'EMAIL_OTP' });
}

/** Stages the wallets of those of a customer's new accounts that are to be one. */
export async function openWallets(
  ctx: Ctx,
  parts: WalletParts,
  customer: CustomerRow,
  accounts: readonly InternalAccountRow[],
): Promise<void> {
  for (const account of accounts) {
    if (!isBalance(account)) await openWallet(ctx, parts, customer, account);
  }
}

/** The same for new accounts of many customers, some of them perhaps deleted meanwhile. */
export async function openWalletsForAccounts(
  ctx: Ctx,
  parts: WalletParts,
  accounts: readonly InternalAccountRow[],
): Promise<void> {
  const owned = accounts.filter((account) => !isBalance(account));
  const owners = await Promise.all(
    owned.map(({ customer_id: id }) => (id === null ? undefined : readCustomer(ctx, id))),
  );
  for (const [at, account] of owned.entries()) {
    const owner = owners[at];
    if (owner) await openWallets(ctx, parts, owner, [account]);
  }
}
