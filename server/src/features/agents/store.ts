// Tables of agents, device codes, actions and the audit. Usage of spending limits is counted in the
// ledger, like the velocity limits of platforms.
import { Fault } from '../../kernel/fault.ts';
import { col, type RowOf, table } from '../../runtime/db/table.ts';
import type { Policy } from './policy/policy.ts';
import {
  type ActionStatus,
  type ActionType,
  actionStates,
  type CodeStatus,
  codeStates,
} from './states.ts';

export const agents = table('agents', {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  name: col.text.mut,
  paused: col.bool.mut,
  /** Null before the device code is redeemed and after deletion. */
  token_hash: col.text.null.mut,
  policy: col.json<Policy>().mut,
  /**
   * Former currencies of the limits and the times of their replacement. Earlier spending still
   * counts.
   */
  former_currencies: col.json<{ currency: string; until: string }[]>().mut,
  deleted_at: col.time.null.mut,
  created_at: col.time,
  updated_at: col.time.mut,
  version: col.int4,
});

export const deviceCodes = table(
  'agent_device_codes',
  {
    /** Hash of the code. */
    id: col.text,
    platform_id: col.text,
    agent_id: col.text,
    status: col.enum<CodeStatus>().mut,
    expires_at: col.time,
    created_at: col.time,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: codeStates }],
    // If generated codes collide, the operation is retried with another code.
    contendedKeys: ['agent_device_codes_pkey'],
  },
);

export const agentActions = table(
  'agent_actions',
  {
    id: col.text,
    platform_id: col.text,
    agent_id: col.text,
    customer_id: col.text,
    type: col.enum<ActionType>(),
    status: col.enum<ActionStatus>().mut,
    quote_id: col.text.null,
    /** The transaction, which starts when the action is approved. */
    transaction_id: col.text,
    /** Whether the request contained the signature of the source wallet. */
    signed: col.bool,
    rejection_reason: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lifecycles: [{ state: (row) => row.status, states: actionStates }],
    unique: {
      agent_actions_one_of_transaction: () =>
        new Fault(
          'CONFLICT',
          'An action with this quote is pending approval or was approved. Use another quote.',
        ),
    },
  },
);

export const agentAudit = table('agent_audit', {
  id: col.text,
  platform_id: col.text,
  customer_id: col.text,
  agent_id: col.text,
  action_id: col.text.null,
  what: col.text,
  actor: col.text,
  details: col.json<Record<string, unknown>>(),
  created_at: col.time,
});

export type AgentRow = RowOf<typeof agents>;
export type CodeRow = RowOf<typeof deviceCodes>;
export type ActionRow = RowOf<typeof agentActions>;
export type AuditRow = RowOf<typeof agentAudit>;
