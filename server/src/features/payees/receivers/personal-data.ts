// Export and erasure of a customer's payee discoveries. An erasure also removes payee discoveries
// with the customer as receiver.
import { CUSTOMER_ROWS_SQL, type PersonalData } from '../../../runtime/operation/personal-data.ts';

export const payeeDiscoveryPersonalData: PersonalData = {
  tables: {
    payee_discoveries: {
      rows: CUSTOMER_ROWS_SQL,
      erasure: 'removed',
      removes: `t.customer_id = $1 or t.receiver_customer_id = $1
        or t.receiver in (select id from external_accounts where customer_id = $1)`,
    },
  },
};
