// Agents, the codes they are connected with, what they asked for, and who did what. How much an agent has
// spent lies in the ledger, as a platform's daily volume does.
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
  /** Null until its code was redeemed, and once it was deleted. */
  token_hash: col.text.null.mut,
  policy: col.json<Policy>().mut,
  /** What its limits were in before, and until when: what was spent then still counts. */
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
    status: col.word<CodeStatus>().mut,
    expires_at: col.time,
    created_at: col.time,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => row.status, states: codeStates }],
    // A code that was drawn before: another is drawn.
    races: ['agent_device_codes_pkey'],
  },
);

export const agentActions = table(
  'agent_actions',
  {
    id: col.text,
    platform_id: col.text,
    agent_id: col.text,
    customer_id: col.text,
    type: col.word<ActionType>(),
    status: col.word<ActionStatus>().mut,
    quote_id: col.text.null,
    /** It waits as PENDING until somebody has decided. */
    transaction_id: col.text,
    /** Whether the holder of the wallet that pays signed when the agent asked. */
    signed: col.bool,
    rejection_reason: col.text.null.mut,
    created_at: col.time,
    updated_at: col.time.mut,
    version: col.int4,
  },
  {
    lives: [{ state: (row) => row.status, states: actionStates }],
    unique: {
      agent_actions_one_of_transaction: () =>
        new Fault('CONFLICT', 'An action with this quote waits for approval, or was approved.'),
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
