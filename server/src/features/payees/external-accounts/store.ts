// An external account: a bank account or wallet outside, that money can go to or be pulled from.

import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import { contended, Fault } from '../../../kernel/fault.ts';
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
    /** Null when it is the platform's own. */
    customer_id: col.text.null,
    currency: col.text,
    account_type: col.text,
    status: col.word<ExternalAccountStatus>().mut,
    platform_account_id: col.text.null,
    ownership_type: col.word<OwnershipType>().null,
    default_uma: col.bool.mut,
    beneficiary_status: col.word<BeneficiaryStatus>().null.mut,
    verified_name: col.text.null.mut,
    /** `accountInfo` as it was created, without fields that its type does not have. */
    info: col.json<AccountInfo>(),
    /** What decides whether two accounts are the same one. */
    duplicate_key: col.text,
    /** When its owner said that payments to it need no second factor; such an account stays. */
    trusted_at: col.time.null.mut,
    /** When its owner last showed that the wallet is theirs. */
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
        contended('Another default account was set at the same time. Retry.'),
    },
    // Decided again with the other one as the former default, so that the last request wins.
    contendedKeys: ['external_accounts_default'],
    lifecycles: [{ state: (row) => row.status, states: externalAccountStates }],
  },
);

export type ExternalAccountRow = RowOf<typeof externalAccounts>;

/** One account by id, read together with those that concurrent callers ask for. */
export const readExternalAccount = (
  reader: Reader,
  id: string,
): Promise<ExternalAccountRow | undefined> => reader.read(externalAccounts, id);

/** The commit fails if the account changed since it was read. */
export const requireExternalAccount = (ctx: Ctx, row: ExternalAccountRow): void =>
  ctx.require(externalAccounts, row);

/** Accounts whose columns equal all the given values. */
export const findExternalAccounts = (
  db: Pick<Database, 'find'>,
  where: Partial<ExternalAccountRow>,
  options?: FindOptions<typeof externalAccounts>,
): Promise<ExternalAccountRow[]> => db.find(externalAccounts, where, options);

/** Payments to it need no strong authentication from `trusted_at` on; null: again they do. */
export const setTrusted = (
  ctx: Ctx,
  row: ExternalAccountRow,
  trusted_at: ExternalAccountRow['trusted_at'],
): ExternalAccountRow => ctx.update(externalAccounts, row, { trusted_at, updated_at: ctx.now });
