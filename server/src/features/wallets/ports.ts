// Wallet functions for features that must not import wallets: provisioning of wallets for new
// accounts, and authorization of a contact change that affects credentials.

import type { Ctx } from '../../runtime/operation/context.ts';
import type { InternalAccountRow } from '../balances/internal-accounts/index.ts';
import type { CustomerRow } from '../customers/records/index.ts';
import type { AuthorizeContactChange } from '../customers/registration/index.ts';
import { openWallets, openWalletsForAccounts } from './accounts/provision.ts';
import type { WalletDeps } from './accounts/wallet.ts';
import { authorizeContactChange } from './credentials/contacts.ts';

interface WalletPorts {
  /** Stages the wallets of a customer's new accounts. */
  openWallets(
    ctx: Ctx,
    customer: CustomerRow,
    accounts: readonly InternalAccountRow[],
  ): Promise<void>;
  /** Stages the wallets of new accounts of many customers. */
  openWalletsForAccounts(ctx: Ctx, accounts: readonly InternalAccountRow[]): Promise<void>;
  authorizeContactChange: AuthorizeContactChange;
}

/** The functions that the composition passes to features that must not import wallets. */
export const walletPorts = (deps: WalletDeps): WalletPorts => ({
  openWallets: (ctx, customer, accounts) => openWallets(ctx, deps, customer, accounts),
  openWalletsForAccounts: (ctx, accounts) => openWalletsForAccounts(ctx, deps, accounts),
  authorizeContactChange: authorizeContactChange(deps),
});
