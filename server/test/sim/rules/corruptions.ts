// Corruptions of strong authentication and agents, each with a part of the rule or message that
// must report it. `invariants.test.ts` runs the statements on the database of a simulation.

/** Starts a payment that waits for authentication. */
const START_PAYMENT = `update transactions set status = 'PROCESSING', funds = 'HELD'
  where status = 'PENDING_AUTHORIZATION'`;
/** Counts an agent's payment that waits for the decision of the platform. */
const COUNT_PAYMENT = `insert into ledger_transfers
  (transaction_id, step, phase, debit, credit, currency, amount, created_at)
  select w.transaction_id, step, phase, debit, credit, currency, amount, l.created_at
  from ledger_transfers l, (select transaction_id from agent_actions
    where status = 'PENDING_APPROVAL' limit 1) w
  where step in ('count.agent', 'velocity.agent.day', 'velocity.agent.month') and l.transaction_id =
    (select transaction_id from agent_actions where status = 'APPROVED' limit 1)`;
const setPolicySql = (limits: string, extraFields = '') => `update agents set policy =
  '{"spendingLimits":{"currency":"USD","perTransactionLimit":9000000000${limits}}${extraFields}}'`;

export const CORRUPTIONS: [rule: string, statements: string[]][] = [
  [
    'a payment waits for the authentication of its customer',
    ["update sca_challenges set status = 'REPLACED' where kind = 'PAYMENT' and status = 'PENDING'"],
  ],
  [
    'and its challenges are [SATISFIED]',
    [
      `update transactions set status = 'PENDING_AUTHORIZATION' where quote_id in
          (select subject from sca_challenges where kind = 'PAYMENT' and status = 'SATISFIED'
            and steps::text = '[]')`,
    ],
  ],
  ['which has no expiry job', ["delete from jobs where kind = 'quotes.expire-authorization'"]],
  [
    'was not authorized and has transfers',
    [
      `insert into ledger_transfers
          (transaction_id, step, phase, debit, credit, currency, amount, created_at)
          select t.id, 'pay', 'posted', l.debit, l.credit, l.currency, 1, l.created_at
          from transactions t, ledger_transfers l
          where t.failure_reason = 'SCA_NOT_COMPLETED' and l.step = 'deposit' limit 1`,
    ],
  ],
  ['payments that require strong authentication start after it', [START_PAYMENT]],
  [
    'started without a login session',
    [
      'update sca_lockouts set session_expires_at = null',
      `update sca_challenges set status = 'SATISFIED', steps = '[]'
          where kind = 'PAYMENT' and status = 'PENDING'`,
      START_PAYMENT,
    ],
  ],
  [
    'a challenge ends once',
    ["update sca_challenges set status = 'SATISFIED' where status = 'EXPIRED'"],
  ],
  [
    'a challenge is satisfied by one proof',
    [
      `insert into sca_events (id, platform_id, customer_id, type, subject, created_at)
          select 'made up', platform_id, customer_id, 'AUTHORIZED', subject, created_at
          from sca_challenges where status = 'SATISFIED' and kind = 'PAYMENT' limit 1`,
    ],
  ],
  [
    'a challenge is satisfied by one proof',
    ["update sca_challenges set status = 'SATISFIED' where status = 'PENDING'"],
  ],
  [
    'a lockout follows the number of failures',
    ['update sca_lockouts set failed_attempts = failed_attempts + 2'],
  ],
  [
    'times and is locked until',
    [
      `update sca_lockouts set failed_attempts = 6,
          locked_until = updated_at + interval '1 minute', suspended = false`,
      `update sca_lockouts set failed_attempts = 7, locked_until = updated_at`,
    ],
  ],
  [
    'every failure counts once',
    ['update sca_lockouts set failed_attempts = 0, locked_until = null where failed_attempts > 0'],
  ],
  [
    'sca_events are kept permanently',
    [
      'alter table sca_events disable trigger sca_events_immutable',
      'delete from sca_events where id in (select id from sca_events limit 1)',
    ],
  ],
  [
    'agent_audit are kept permanently',
    ['alter table agent_audit disable trigger agent_audit_immutable', 'delete from agent_audit'],
  ],
  [
    'agent actions are decided once',
    [
      `update agent_actions a set status = 'APPROVED' where status = 'REJECTED' and not exists
        (select 1 from agent_actions b where b.transaction_id = a.transaction_id and b.id <> a.id)`,
    ],
  ],
  [
    'an agent payment matches its decision',
    ["update agent_actions set status = 'REJECTED' where status = 'APPROVED'"],
  ],
  [
    'an agent payment matches its decision',
    ["update agent_actions set status = 'APPROVED' where status = 'PENDING_APPROVAL'"],
  ],
  [
    ', and has transfers',
    [
      `insert into ledger_transfers
          (transaction_id, step, phase, debit, credit, currency, amount, created_at)
          select a.transaction_id, 'pay', 'posted', l.debit, l.credit, l.currency, 1, l.created_at
          from agent_actions a, ledger_transfers l
          where a.status = 'PENDING_APPROVAL' and l.step = 'deposit' limit 1`,
    ],
  ],
  [
    'agent usage equals its payments',
    [
      `update transactions set sent_amount = sent_amount + 1000000, status = status
          where agent_id is not null`,
    ],
  ],
  [
    'agent usage equals its payments',
    [
      `update ledger_accounts set balance = balance - 1
          where id like 'velocity:Agent:%' and floor is null`,
    ],
  ],
  ['exceeds perTransactionLimit of', [setPolicySql(',"perTransactionLimit":0'), COUNT_PAYMENT]],
  [
    'agent payments are within the policy',
    [setPolicySql('', ',"accountRestrictions":{"allowedAccountIds":[]}'), COUNT_PAYMENT],
  ],
  ['acted while paused or deleted', ['update agents set paused = true', COUNT_PAYMENT]],
  [
    'every action is in the audit log',
    [
      `insert into agent_audit (id, platform_id, customer_id, agent_id, action_id, what, actor,
          details, created_at) select 'made up', platform_id, customer_id, agent_id, id,
          'ACTION_APPROVED', 'made up', '{}', created_at from agent_actions
          where status = 'PENDING_APPROVAL' limit 1`,
    ],
  ],
  [
    'every action is in the audit log',
    [
      `insert into agent_actions select a.* from agent_actions b, json_populate_record(b,
          '{"id":"AgentAction:made-up"}') a where b.status = 'REJECTED' limit 1`,
    ],
  ],
];
