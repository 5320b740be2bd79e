// Deletes a customer. All of its accounts must have a zero balance.
import { Fault } from '../../../kernel/fault.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import { findInternalAccounts } from '../../balances/internal-accounts/index.ts';
import { readLedgerAccount } from '../../balances/ledger-accounts/index.ts';
import { type CustomerRow, customerOf, updateCustomer } from '../records/index.ts';
import { CLOSE_CARDS, END_AGENTS } from './customer-jobs.ts';
import { customerView } from './views.ts';

export interface DeletionDeps {
  /** Whether the customer has a payment in progress. */
  isCustomerPaying(ctx: Ctx, customerId: string): Promise<boolean>;
}

/**
 * Throws CONFLICT if an account of the customer has a balance, held funds or a shortfall, or
 * if a payment is in progress. Otherwise freezes the accounts, so that either the deletion or a
 * simultaneous deposit is rejected.
 */
async function freezeAccounts(
  ctx: Ctx,
  { isCustomerPaying }: DeletionDeps,
  row: CustomerRow,
): Promise<void> {
  const [accounts, isPaying] = await Promise.all([
    findInternalAccounts(ctx.db, { customer_id: row.id }),
    isCustomerPaying(ctx, row.id),
  ]);
  const ids = accounts.map((account) => account.id);
  const ledgerAccounts = await Promise.all(ids.map((id) => readLedgerAccount(ctx, id)));
  const nonEmptyIds = ids.filter(
    (_, index) => ledgerAccounts[index]?.balance || ledgerAccounts[index]?.held,
  );
  const owingIds = accounts.filter((each) => each.owed > 0n).map((each) => each.id);
  if (nonEmptyIds.length) {
    const reason = 'The customer still has funds. Transfer the balances of its accounts first.';
    throw new Fault('CONFLICT', reason, { accountIds: nonEmptyIds });
  }
  if (isPaying) {
    const reason = 'A payment of the customer is in progress. Retry after its completion.';
    throw new Fault('CONFLICT', reason, undefined, { isRetryable: true });
  }
  if (owingIds.length) {
    const reason = 'The customer has a shortfall from a reversed payment. Fund the account first.';
    throw new Fault('CONFLICT', reason, { accountIds: owingIds });
  }
  for (const id of ids) ctx.freeze(id, { empty: true });
}

/**
 * Deletes a customer of the calling platform and stages the jobs that delete its agents and close
 * its cards.
 */
export async function deleteCustomer(ctx: Ctx, deps: DeletionDeps, id: string) {
  const row = await customerOf(ctx, id, { rejectDeleted: true });
  await freezeAccounts(ctx, deps, row);
  const deletedCustomer = updateCustomer(ctx, row, { deleted_at: ctx.now });
  const { platformId, environment, tokenId } = ctx.caller;
  for (const job of [END_AGENTS, CLOSE_CARDS]) {
    ctx.later(job, { platformId, environment, customerId: id, tokenId });
  }
  return customerView(ctx, deletedCustomer);
}
