// Export and erasure of a customer's external accounts. An erasure marks the accounts as deleted
// and removes all details except the type.
import {
  CUSTOMER_ROWS_SQL,
  changedRows,
  ERASED,
  type PersonalData,
} from '../../../runtime/operation/personal-data.ts';

const ERASE_ACCOUNTS = `update external_accounts a set version = version + 1, platform_account_id = null,
    verified_name = null, default_uma = false, trusted_at = null, updated_at = $2,
    deleted_at = coalesce(deleted_at, $2), duplicate_key = '${ERASED} ' || id,
    info = json_build_object('accountType', account_type)
  where customer_id = $1 and duplicate_key <> '${ERASED} ' || id returning id`;

export const externalAccountPersonalData: PersonalData = {
  tables: {
    external_accounts: { rows: CUSTOMER_ROWS_SQL, without: ['duplicate_key'], erasure: 'emptied' },
  },
  subjects: { external_accounts: 'customer_id = $1' },
  async empty({ db, clocks }, { id, platform_id: platformId }) {
    const now = new Date(await clocks.nowOf({ platformId }));
    return { external_accounts: await changedRows(db, ERASE_ACCOUNTS, [id, now]) };
  },
};
