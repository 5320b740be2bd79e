// Personal data of agents. An export lists the data. An erasure removes the agents, clears the
// rejection reasons of agent actions, and retains the audit.
import {
  CUSTOMER_ROWS_SQL,
  changedRows,
  type PersonalData,
} from '../../runtime/operation/personal-data.ts';
import { deleteNextAgent } from './management/management.ts';

const CLEAR_REASONS_SQL = `update agent_actions set rejection_reason = null, version = version + 1
  where customer_id = $1 and rejection_reason is not null returning id`;

export const agentPersonalData: PersonalData = {
  tables: {
    agents: { rows: CUSTOMER_ROWS_SQL, without: ['token_hash'], erasure: 'removed' },
    agent_actions: { rows: CUSTOMER_ROWS_SQL, erasure: 'emptied' },
    agent_audit: {
      rows: CUSTOMER_ROWS_SQL,
      erasure: { retained: 'audit of agent actions, by ID' },
    },
  },
  subjects: { agent_actions: 'customer_id = $1' },
  end: deleteNextAgent,
  empty: async ({ db }, { id }) => ({
    agent_actions: await changedRows(db, CLEAR_REASONS_SQL, [id]),
  }),
};
