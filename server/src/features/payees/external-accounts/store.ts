// An external account: a bank account or wallet outside, that money can go to or be pulled from.
import type { AccountInfo } from '../../../catalog/accounts/account-schemas.ts';
import { contended, Fault } from '../../../kernel/fault.ts';
import { col, type RowOf, table } from '../../../runtime/db/table.ts';
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
        new Fault('DUPLICATE_EXTERNAL_ACCOUNT', 'This account is registered already.'),
      external_accounts_default: () => contended('Another default was set at the same moment.'),
    },
    // Decided again with the other one as the former default, so that the last request wins.
    races: ['external_accounts_default'],
    lives: [{ state: (row) => row.status, states: externalAccountStates }],
  },
);

export type ExternalAccountRow = RowOf<typeof externalAccounts>;
