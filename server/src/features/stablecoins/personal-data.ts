// Export of orders that name a customer's accounts. An erasure keeps them. The record of manual
// decisions is described here, because orders are the last of what it names.
import type { PersonalData } from '../../runtime/operation/personal-data.ts';

const ACCOUNTS_OUTSIDE = 'select id from external_accounts where customer_id = $1';

export const stablecoinPersonalData: PersonalData = {
  tables: {
    account_actions: {
      rows: `t.account_id in (select id from internal_accounts where customer_id = $1
        union all select id from external_accounts where customer_id = $1
        union all select o.id from stablecoin_operations o
          where o.destination ->> 'accountId' in (${ACCOUNTS_OUTSIDE})
            or o.source ->> 'externalAccountId' in (${ACCOUNTS_OUTSIDE}))`,
      erasure: { stays: 'which account, mint or burn an operator moved, and why' },
    },
    stablecoin_links: {
      rows: `t.account_id in (${ACCOUNTS_OUTSIDE})`,
      erasure: {
        stays: 'what a provider calls an account, which an order under way is still about',
      },
    },
    stablecoin_operations: {
      rows: `t.destination ->> 'accountId' in (${ACCOUNTS_OUTSIDE})
        or t.source ->> 'externalAccountId' in (${ACCOUNTS_OUTSIDE})`,
      erasure: {
        stays: 'what a platform minted or burnt, with the ids of accounts that are emptied',
      },
    },
  },
};
