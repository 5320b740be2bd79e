// How an external account looks from outside, how it is found, and the event that tells of a new status.
import { maskAccountInfo } from '../../../catalog/accounts/account-info.ts';
import { Fault } from '../../../kernel/fault.ts';
import { isId } from '../../../kernel/id.ts';
import { type Ctx, stamps } from '../../../runtime/operation/context.ts';
import { hasInstitution, railsOfAccount } from './account.ts';
import { statusUpdated } from './contract.ts';
import { type ExternalAccountEvent, externalAccountStates } from './states.ts';
import { type ExternalAccountRow, externalAccounts } from './store.ts';

/** The resource `ExternalAccount`. `masked` hides numbers but for their last four characters. */
export function presentExternalAccount(row: ExternalAccountRow, { masked = false } = {}) {
  const info = masked ? maskAccountInfo(row.info) : row.info;
  const rails = hasInstitution(info) ? { paymentRails: railsOfAccount(row) } : {};
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
    ...stamps(row),
  };
}

/** As this caller may see it: who can look but not pay or manage gets no whole account number. */
export const presentTo = (ctx: Ctx, row: ExternalAccountRow) =>
  presentExternalAccount(row, {
    masked: ctx.caller.permissions.every((permission) => permission === 'VIEW'),
  });

/** An external account of the calling platform, its own or a customer's; ACCOUNT_NOT_FOUND otherwise. */
export async function externalAccountOf(ctx: Ctx, id: string): Promise<ExternalAccountRow> {
  const row = isId(id, 'ExternalAccount') ? await ctx.read(externalAccounts, id) : undefined;
  if (row?.platform_id !== ctx.caller.platformId || row.deleted_at !== null) {
    throw new Fault('ACCOUNT_NOT_FOUND', 'No such account.');
  }
  return row;
}

/** Whose accounts a family of paths shows. */
export type Owner = 'customer' | 'platform';

/** One that belongs to the family of the path: a customer's path does not show the platform's own. */
export async function ownedBy(ctx: Ctx, owner: Owner, id: string): Promise<ExternalAccountRow> {
  const row = await externalAccountOf(ctx, id);
  if ((row.customer_id === null) !== (owner === 'platform')) {
    throw new Fault('ACCOUNT_NOT_FOUND', 'No such account.');
  }
  return row;
}

/** Stages a change of status and the event about it. */
export function moveExternalAccount(
  ctx: Ctx,
  row: ExternalAccountRow,
  event: ExternalAccountEvent,
): ExternalAccountRow {
  const status = externalAccountStates.next(row.status, event);
  const moved = ctx.update(externalAccounts, row, { status, updated_at: ctx.now });
  ctx.emit(statusUpdated, row.id, presentExternalAccount(moved));
  return moved;
}
