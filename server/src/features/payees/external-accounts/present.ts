// The API view of external accounts, access by ID, and status transitions with their event.
import { maskAccountInfo, railsOf } from '../../../catalog/accounts/account-info.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Ctx, timestamps } from '../../../runtime/operation/context.ts';
import { hasInstitution } from './account.ts';
import { statusUpdated } from './contract.ts';
import { type ExternalAccountEvent, externalAccountStates } from './states.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

/**
 * The resource `ExternalAccount`. `masked` shows only the last four characters of account numbers.
 */
export function presentExternalAccount(row: ExternalAccountRow, { masked = false } = {}) {
  const info = masked ? maskAccountInfo(row.info) : row.info;
  const rails = hasInstitution(info) ? { paymentRails: railsOf(row.info) } : {};
  return {
    id: row.id,
    ...(row.customer_id === null ? {} : { customerId: row.customer_id }),
    status: row.status,
    ...(row.platform_account_id === null ? {} : { platformAccountId: row.platform_account_id }),
    ...(row.ownership_type === null ? {} : { ownershipType: row.ownership_type }),
    currency: row.currency,
    defaultUmaDepositAccount: row.default_uma,
    ...(row.beneficiary_status === null
      ? {}
      : { beneficiaryVerificationStatus: row.beneficiary_status }),
    ...(row.verified_name === null
      ? {}
      : { beneficiaryVerifiedData: { fullName: row.verified_name } }),
    accountInfo: { ...info, ...rails },
    ...timestamps(row),
  };
}

/** The resource for the caller, masked if it has the VIEW permission only. */
export const presentTo = (ctx: Ctx, row: ExternalAccountRow) =>
  presentExternalAccount(row, {
    masked: ctx.caller.permissions.every((permission) => permission === 'VIEW'),
  });

/** The owner whose accounts a group of paths contains. */
export type Owner = 'customer' | 'platform';

/**
 * An external account of the caller's platform, of `owner` if specified. Throws ACCOUNT_NOT_FOUND.
 */
export async function externalAccountOf(
  ctx: Ctx,
  id: string,
  owner?: Owner,
): Promise<ExternalAccountRow> {
  const row = isId(id, 'ExternalAccount') ? await ctx.read(externalAccounts, id) : undefined;
  const isOfCaller = row?.platform_id === ctx.caller.platformId && row.deleted_at === null;
  if (isOfCaller && (!owner || (row.customer_id === null) === (owner === 'platform'))) return row;
  throw new Fault('ACCOUNT_NOT_FOUND', 'Account not found.');
}

/** Stages the status and its event. */
export function transitionExternalAccount(
  ctx: Ctx,
  row: ExternalAccountRow,
  event: ExternalAccountEvent,
): ExternalAccountRow {
  const status = externalAccountStates.next(row.status, event);
  const updatedAccount = ctx.update(externalAccounts, row, { status, updated_at: ctx.now });
  ctx.emit(statusUpdated, row.id, presentExternalAccount(updatedAccount));
  return updatedAccount;
}
