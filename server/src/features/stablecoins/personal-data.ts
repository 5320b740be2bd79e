// Export of orders that refer to a customer's accounts. An erasure keeps these orders. The records of
// manual decisions are listed here, because they refer to orders as well as accounts.
import type { PersonalData } from '../../runtime/operation/personal-data.ts';

const EXTERNAL_ACCOUNTS = 'select id from external_accounts where customer_id = $1';

export const stablecoinPersonalData: PersonalData = {
  tables: {
    account_actions: {
      rows: `t.account_id in (select id from internal_accounts where customer_id = $1
        union all select id from external_accounts where customer_id = $1
        union all select o.id from stablecoin_operations o
          where o.destination ->> 'accountId' in (${EXTERNAL_ACCOUNTS})
            or o.source ->> 'externalAccountId' in (${EXTERNAL_ACCOUNTS}))`,
      erasure: { retained: 'operator action on an account, mint or burn, and its reason' },
    },
    stablecoin_links: {
      rows: `t.account_id in (${EXTERNAL_ACCOUNTS})`,
      erasure: {
        retained: 'references of accounts at a provider, which pending orders use',
      },
    },
    stablecoin_operations: {
      rows: `t.destination ->> 'accountId' in (${EXTERNAL_ACCOUNTS})
        or t.source ->> 'externalAccountId' in (${EXTERNAL_ACCOUNTS})`,
      erasure: {
        retained: 'mints and burns of a platform, with the IDs of erased accounts',
      },
    },
  },
};
