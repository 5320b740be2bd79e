// External accounts: bank accounts and wallets that receive payments or are debited.

import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import { contentionFault, Fault } from '../../../kernel/fault.ts';
import type { Database, FindOptions } from '../../../runtime/db/database.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
import type { Ctx, Reader } from '../../../runtime/operation/context.ts';
import { type ExternalAccountStatus, externalAccountStates } from './states.ts';

export const BENEFICIARY_STATUSES = [
  'MATCHED',
  'PARTIAL_MATCH',
  'NOT_MATCHED',
  'UNSUPPORTED',
  'CHECKED_BY_RECEIVING_FI',
  'PENDING',
] as const;
export type BeneficiaryStatus = (typeof BENEFICIARY_STATUSES)[number];

export const OWNERSHIP_TYPES = ['FIRST_PARTY', 'THIRD_PARTY'] as const;
export type OwnershipType = (typeof OWNERSHIP_TYPES)[number];

export const externalAccounts = table(
  'external_accounts',
  {
    id: col.text,
    platform_id: col.text,
    /** Null for accounts of the platform. */
    customer_id: col.text.null,
    currency: col.text,
    account_type: col.text,
    status: col.enum<ExternalAccountStatus>().mut,
    platform_account_id: col.text.null,
    ownership_type: col.enum<OwnershipType>().null,
    default_uma: col.bool.mut,
    beneficiary_status: col.enum<BeneficiaryStatus>().null.mut,
    verified_name: col.text.null.mut,
    /**
     * `accountInfo` of the request, reduced to known fields and completed with derived fields. Only
     * the type remains after an erasure.
     */
    info: col.json<AccountInfo>(),
    /** Hash of the details and the currency, equal for duplicates of an account. */
    duplicate_key: col.text,
    /**
     * Time at which the owner exempted payments to the account from a second factor. Such an
     * account cannot be deleted.
     */
    trusted_at: col.time.null.mut,
    /** Time of the last proof of ownership. */
    proven_at: col.time.null.mut,
    deleted_at: col.time.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    unique: {
      external_accounts_same: () =>
        new Fault('DUPLICATE_EXTERNAL_ACCOUNT', 'This account is already registered.'),
      external_accounts_default: () =>
        contentionFault('Another default account was set at the same time.'),
    },
    // On conflict the operation runs again with the other account as former default, so the last
    // request takes effect.
    contendedKeys: ['external_accounts_default'],
    lifecycles: [{ state: (row) => row.status, states: externalAccountStates }],
  },
);

export type ExternalAccountRow = RowOf<typeof externalAccounts>;

/** Reads by ID. Concurrent reads are batched. */
export const readExternalAccount = (
  reader: Reader,
  id: string,
): Promise<ExternalAccountRow | undefined> => reader.read(externalAccounts, id);

/** The commit fails if the account changed since it was read. */
export const requireExternalAccount = (ctx: Ctx, row: ExternalAccountRow): void =>
  ctx.require(externalAccounts, row);

/** Accounts that match all specified column values. */
export const findExternalAccounts = (
  db: Pick<Database, 'find'>,
  filter: Partial<ExternalAccountRow>,
  options?: FindOptions<typeof externalAccounts>,
): Promise<ExternalAccountRow[]> => db.find(externalAccounts, filter, options);

/** Exempts payments to the account from SCA. Null removes the exemption. */
export const setTrusted = (
  ctx: Ctx,
  row: ExternalAccountRow,
  trusted_at: ExternalAccountRow['trusted_at'],
): ExternalAccountRow => ctx.update(externalAccounts, row, { trusted_at, updated_at: ctx.now });
