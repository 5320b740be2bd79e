// Export, erasure and retention of messages of providers. Only a rejected or contradictory message
// has a body. A message about an unknown payment belongs to no customer and is removed at the end
// of its retention period.
import { retentionSweep } from '../../../runtime/db/retention.ts';
import type { Sweep } from '../../../runtime/jobs/jobs.ts';
import { changedRows, type PersonalData } from '../../../runtime/operation/personal-data.ts';
import { bodyContext } from './store.ts';

const CUSTOMER_CONDITION_SQL =
  'transaction_id in (select id from transactions where customer_id = $1)';

const EMPTY_SQL = `update provider_messages set body = null
  where ${CUSTOMER_CONDITION_SQL} and body is not null returning id`;

export const providerMessagePersonalData: PersonalData = {
  tables: {
    provider_messages: {
      rows: `t.${CUSTOMER_CONDITION_SQL}`,
      without: ['digest'],
      open: ({ vault }, { id, body }) =>
        typeof body === 'string'
          ? { body: vault.openOwn(body, bodyContext(String(id))).toString() }
          : {},
      erasure: 'emptied',
    },
  },
  async empty({ db }, { id }) {
    return { provider_messages: await changedRows(db, EMPTY_SQL, [id]) };
  },
};

export const messageRetention = (keepMs: number): Sweep =>
  retentionSweep('provider-messages.purge', [
    { table: 'provider_messages', time: 'created_at', keepMs },
  ]);
