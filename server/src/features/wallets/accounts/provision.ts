// Provisioning of wallets with their accounts. A wallet receives IDs for payloads and bundles, and a seed
// that the custodian generates. E-mail codes are the first credential of a customer with an address. Keys are
// derived on first use, because one import can create thousands of customers.
import { uuid7 } from '../../../kernel/id.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { type InternalAccountRow, isBalance } from '../../balances/internal-accounts/index.ts';
import { type CustomerRow, dataKeyOf, readCustomer } from '../../customers/records/index.ts';
import { wallets } from '../store.ts';
import { addCredential } from './credentials.ts';
import { custodyOf, type WalletDeps } from './wallet.ts';

async function openWallet(
  ctx: Ctx,
  deps: WalletDeps,
  customer: CustomerRow,
  account: InternalAccountRow,
): Promise<void> {
  const key = dataKeyOf(customer);
  if (!key) return; // The customer was erased concurrently.
  const custodyIds = { organizationId: uuid7(ctx.effects), walletId: uuid7(ctx.effects) };
  const { seed } = await custodyOf(ctx, deps).newSeed(custodyIds);
  const row = ctx.insert(wallets, {
    id: account.id,
    platform_id: account.platform_id,
    customer_id: customer.id,
    organization_id: custodyIds.organizationId,
    user_id: uuid7(ctx.effects),
    wallet_id: custodyIds.walletId,
    seed,
    created_at: ctx.now,
  });
  if (customer.email === null) return;
  addCredential(ctx, { row, key }, { type: 'EMAIL_OTP', uniquenessKey: 'EMAIL_OTP' });
}

/** Stages wallets for those new accounts of a customer that are embedded wallets. */
export async function openWallets(
  ctx: Ctx,
  deps: WalletDeps,
  customer: CustomerRow,
  accounts: readonly InternalAccountRow[],
): Promise<void> {
  for (const account of accounts) {
    if (!isBalance(account)) await openWallet(ctx, deps, customer, account);
  }
}

/**
 * Stages wallets for new accounts of many customers, some of whom may have been deleted
 * concurrently.
 */
export async function openWalletsForAccounts(
  ctx: Ctx,
  deps: WalletDeps,
  accounts: readonly InternalAccountRow[],
): Promise<void> {
  const walletAccounts = accounts.filter((account) => !isBalance(account));
  const owners = await Promise.all(
    walletAccounts.map(({ customer_id: id }) => (id === null ? undefined : readCustomer(ctx, id))),
  );
  for (const [index, account] of walletAccounts.entries()) {
    const owner = owners[index];
    if (owner) await openWallets(ctx, deps, owner, [account]);
  }
}
