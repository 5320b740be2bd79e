// Every invariant detects a violation. The test corrupts the database of a running simulation in a
// transaction that is rolled back, and the rule must report the corruption.
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../kit/app/database.ts';
import { COIN_ACTIONS } from './actions/issuing/coins.ts';
import { MINT_ACTIONS } from './actions/issuing/mints.ts';
import { observe, settleAll } from './actions/issuing/settling.ts';
import { AGENT_MANAGEMENT } from './actions/payments/agents.ts';
import { FAILURE_ACTIONS } from './actions/payments/failures.ts';
import { PAYMENT_ACTIONS } from './actions/payments/payments.ts';
import { authorizationProblems } from './harness/authorizations.ts';
import { openSim, type Sim } from './harness/sim.ts';
import { CORRUPTIONS } from './rules/corruptions.ts';
import { ISSUED_CORRUPTIONS } from './rules/corruptions-issued.ts';
import { applyStep } from './rules/invariants.ts';
import { recount } from './rules/recount.ts';
import { chooseAction, takeStep } from './run.ts';

let database: TestDatabase;
let sim: Sim;
/** The latest report for each corruption. */
const reports: (string | undefined)[] = [];

const PAYOUT_JOBS = "kind like 'payout.%' or kind = 'refund.pay'";

/** Whether each of these statements changed a row. */
async function applyStatements(statements: readonly string[]): Promise<boolean> {
  for (const text of statements) {
    const { command, rowCount } = await sim.client.query(text);
    if (!['ALTER', 'DROP'].includes(command) && !rowCount) return false;
  }
  return true;
}

/** Problems reported after the statements, or undefined if one changes no row or fails. */
async function reportCorruption(statements: readonly string[]): Promise<string | undefined> {
  const { client, changeLog, effects } = sim;
  await client.query('begin');
  try {
    if (!(await applyStatements(statements))) return undefined;
    const model = structuredClone(sim.model);
    const deliveredIds = new Set(effects.deliveredIds);
    const changes = await changeLog.read();
    const problems = applyStep(model, changes, deliveredIds);
    problems.push(...(await authorizationProblems(sim, changes)));
    problems.push(...(await recount(client, model, deliveredIds)));
    return problems.join('\n');
  } catch (error) {
    // A statement violated a constraint, for example with a missing value of another row.
    if (error instanceof DatabaseError) return undefined;
    throw error;
  } finally {
    await client.query('rollback');
  }
}

const DISABLE_TRANSFER_TRIGGER =
  'alter table ledger_transfers disable trigger ledger_transfers_immutable';
const disableChangeLogSql = (table: string) =>
  ['insert', 'update', 'delete']
    .map((operation) => `disable trigger zz_sim_${operation}`)
    .join(', ')
    .replace(/^/, `alter table ${table} `);
const selectIdSql = (table: string, condition: string) =>
  `(select id from ${table} where ${condition} limit 1)`;
const DEPOSIT = `${selectIdSql('transactions', "type = 'INCOMING' and status = 'COMPLETED'")}`;
const insertTransferSql = (step: string, phase: string) => `insert into ledger_transfers
  (transaction_id, step, phase, debit, credit, currency, amount, created_at)
  select transaction_id, '${step}', '${phase}', debit, credit, currency, 1, created_at
  from ledger_transfers where step = 'deposit' limit 1`;
const insertEventSql = (columns: string, values: string) => `insert into events
  (id, platform_id, type, subject, data, created_at, ${columns})
  select 'Webhook:made-up', platform_id, type, subject, data, created_at, ${values}
  from events where account is not null and id in (select event_id from webhook_queue) limit 1`;

const DISABLE_AUTHORIZATION_TRIGGER = `alter table wallet_authorizations
  disable trigger wallet_authorizations_immutable`;
const AUTHORIZATION_COLUMNS = `platform_id, account_id, customer_id, operation, subject,
  session_id, public_key, stamp, payload, created_at`;
/** Replaces the latest authorization by a row with values of the first authorization. */
const replaceAuthorizationSql = (stamp: string, id = 'l.id') => [
  DISABLE_AUTHORIZATION_TRIGGER,
  `create temporary table latest on commit drop as
    select * from wallet_authorizations where session_id is not null order by id desc limit 1`,
  'delete from wallet_authorizations where id = (select id from latest)',
  `insert into wallet_authorizations (stamp, public_key, id, platform_id, account_id, customer_id,
    operation, subject, session_id, payload, created_at)
    select ${stamp}, ${id}, l.platform_id, l.account_id, l.customer_id, l.operation, l.subject,
      l.session_id, l.payload, l.created_at from latest l, wallet_authorizations w
    order by w.id limit 1`,
];

/** The corruptions, each with a part of the rule or message that must report it. */
const ALL_CORRUPTIONS: readonly (readonly [rule: string, statements: readonly string[]])[] = [
  [
    'transfers are append-only',
    [
      DISABLE_TRANSFER_TRIGGER,
      "update ledger_transfers set amount = amount + 1 where step = 'deposit'",
    ],
  ],
  ['balances equal the sum of their transfers', [insertTransferSql('more', 'posted')]],
  ['a payment has the transfers of its state', [insertTransferSql('more', 'posted')]],
  [
    'its transfers sum to',
    [disableChangeLogSql('ledger_transfers'), insertTransferSql('more', 'posted')],
  ],
  [
    'every currency sums to zero',
    ["update ledger_accounts set balance = balance + 1 where id like '%:fees:USD'"],
  ],
  [
    'no account falls below its floor',
    [
      'alter table ledger_accounts drop constraint ledger_floor',
      'update ledger_accounts set balance = -1 where floor = 0',
    ],
  ],
  [
    'a posted or voided amount was held before',
    [insertTransferSql('pay!', 'post'), insertTransferSql('sell!', 'void')],
  ],
  [
    'payments follow their lifecycle',
    [`update transactions set status = 'PENDING' where id = ${DEPOSIT}`],
  ],
  [
    'accounts follow their lifecycle',
    ["update internal_accounts set status = 'FAILED' where status = 'ACTIVE'"],
  ],
  [
    'a balance event shows the committed balance',
    [insertEventSql('account, balance, held', 'account, balance + 1, held')],
  ],
  ['events are never removed', ["delete from events where type like '%_PAYMENT.%'"]],
  [
    'a payment has emitted the events of its state',
    [
      insertEventSql('sealed_for', 'null').replace(
        ', type, subject, data, created_at, null',
        `, 'INCOMING_PAYMENT.FAILED', ${DEPOSIT}, data, created_at, null`,
      ),
    ],
  ],
  ['quotes never change', ['update quotes set fees = fees + 1']],
  ['an event is delivered, due or abandoned', ['delete from webhook_queue']],
  [
    'no receiver accepted it',
    [
      `insert into webhook_attempts (platform_id, event_id, attempt, at, ms, result)
        select platform_id, event_id, 99, due_at, 1, 'delivered' from webhook_queue`,
      'delete from webhook_queue',
    ],
  ],
  ['events exist', [disableChangeLogSql('events'), "delete from events where type = 'TEST'"]],
  ['an open payment has a job', [`delete from jobs where ${PAYOUT_JOBS}`]],
  [
    'a job belongs to an existing transaction',
    [
      `insert into jobs (id, kind, input, due_at)
        select 'Job:made-up', kind, '{"transactionId":"Transaction:none"}', due_at
        from jobs limit 1`,
    ],
  ],
  [
    'debts of owners equal the receivables',
    [
      `update internal_accounts set owed = owed + 1 where id in
        (select id from internal_accounts where currency = 'USD' limit 1)`,
    ],
  ],
  ['and waits for no result', ['delete from awaited_rail_results']],
  [
    'waits for an operator of the sandbox',
    [
      `insert into awaited_rail_results (id, platform_id, kind, since)
        select t.id, p.id, 'payout', t.created_at from transactions t
        join platforms p on p.id = t.platform_id where p.environment = 'sandbox' limit 1`,
    ],
  ],
  [
    'a payment counts toward the daily limit unless returned',
    [
      `insert into ledger_transfers
        (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select t.id, 'refund.velocity', 'posted', l.debit, l.credit, l.currency, t.sent_amount,
          l.created_at from transactions t, ledger_transfers l
        where t.type = 'OUTGOING' and t.sent_amount > 0 limit 1`,
    ],
  ],
  [
    'a payment counts toward the daily limit unless returned',
    [
      `insert into ledger_accounts (id, currency, floor, created_at)
        values ('velocity:Agent:one:USD:2026-01', 'velocity.agent', null, now()),
          ('velocity:all', 'velocity.agent', null, now())`,
      `insert into ledger_transfers
        (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select id, 'velocity.agent.month', 'posted', 'velocity:Agent:one:USD:2026-01', 'velocity:all',
          'velocity.agent', sent_amount, created_at from transactions
        where type = 'OUTGOING' and sent_amount > 0 limit 1`,
    ],
  ],
  [
    'a started payment is within the daily limits',
    [
      `update platforms set limits = (select json_agg(json_build_object('currency', code,
        'perDay', 1)) from unnest('{USD,EUR,GBP,MXN,USDC}'::text[]) as code)`,
      `update transactions set status = 'PROCESSING', funds = 'HELD'
        where type = 'OUTGOING' and status = 'PENDING'`,
    ],
  ],
  [
    'external accounts follow their lifecycle',
    ["update external_accounts set status = 'PENDING' where status = 'ACTIVE'"],
  ],
  [
    'are both the default',
    [
      'drop index external_accounts_default',
      `update external_accounts set default_uma = true, deleted_at = null,
        customer_id = (select id from customers limit 1)`,
    ],
  ],
  ['credentials follow their lifecycle', ['delete from credentials']],
  [
    'wallet_sessions follow their lifecycle',
    [
      "update wallet_sessions set status = 'REVOKED'",
      "update wallet_sessions set status = 'ACTIVE'",
    ],
  ],
  [
    'wallet_requests follow their lifecycle',
    ["update wallet_requests set status = 'PENDING' where status = 'DONE'"],
  ],
  [
    'wallet authorizations are permanent',
    [DISABLE_AUTHORIZATION_TRIGGER, 'delete from wallet_authorizations'],
  ],
  [
    'which may not sign',
    [
      "update wallet_sessions set status = 'REVOKED'",
      ...replaceAuthorizationSql('l.stamp, l.public_key'),
    ],
  ],
  [
    'a wallet payment is signed exactly once',
    [
      `insert into wallet_authorizations (${AUTHORIZATION_COLUMNS}, id)
        select ${AUTHORIZATION_COLUMNS}, 'made up'
        from wallet_authorizations where operation = 'executeQuote' limit 1`,
    ],
  ],
  ['has no credential left', ["update credentials set status = 'REVOKED'"]],
  [
    'sessions for',
    [
      `insert into wallet_sessions select s.* from wallet_sessions w, json_populate_record(w,
        '{"id":"Session:made-up"}') s limit 1`,
    ],
  ],
  [
    'a signed request runs once',
    [
      `insert into wallet_authorizations (${AUTHORIZATION_COLUMNS}, id)
        select ${AUTHORIZATION_COLUMNS}, 'made up'
        from wallet_authorizations where operation = 'verifyAuthCredential' limit 1`,
    ],
  ],
  ['does not match its signature', replaceAuthorizationSql('w.stamp, w.public_key')],
  ['cannot be read', replaceAuthorizationSql('w.stamp, w.public_key', "'made up'")],
  ...CORRUPTIONS,
  ...ISSUED_CORRUPTIONS,
  ['was deleted without a recorded change', [disableChangeLogSql('jobs'), 'delete from jobs']],
  [
    'belongs to no transaction',
    [
      `insert into ledger_transfers select 'Transaction:none', step, phase, debit, credit,
        currency, amount, created_at from ledger_transfers where step = 'deposit' limit 1`,
    ],
  ],
];
const isReported = (index: number) =>
  reports[index]?.includes(ALL_CORRUPTIONS[index]?.[0] as string);

/** Applies each corruption that was not reported before and is possible now. */
async function applyCorruptions(): Promise<void> {
  for (const [index, [, statements]] of ALL_CORRUPTIONS.entries()) {
    if (isReported(index)) continue;
    reports[index] = (await reportCorruption(statements)) ?? reports[index];
  }
}

/** Actions that create rows which otherwise appear late in a run. */
const RARE_ACTIONS = [...AGENT_MANAGEMENT, ...COIN_ACTIONS, ...MINT_ACTIONS];
/** The step at which payments and events of every status exist. */
const EARLY_STEP = 200;
const INTERVAL_STEPS = 20;
const LATE_STEP = 4_000;

beforeAll(async () => {
  database = await createTestDatabase();
  sim = await openSim('to be broken', database.url);
  await observe(sim);
  const hasUnreported = () => ALL_CORRUPTIONS.some((_, index) => !isReported(index));
  for (let step = 0; step < LATE_STEP && hasUnreported(); step++) {
    const rareActions = RARE_ACTIONS.filter(({ isPossible }) => isPossible?.(sim) ?? true);
    const action =
      step % 4 === 0 && step > EARLY_STEP / 2 && rareActions.length
        ? sim.chance.pickWeighted(rareActions)
        : chooseAction(sim, step);
    await takeStep(sim, action);
    if (step >= EARLY_STEP && step % INTERVAL_STEPS === 0) await applyCorruptions();
  }
}, 300_000);

afterAll(async () => {
  await sim.close();
  await database.drop();
});

describe('a corrupted database', () => {
  it('is distinguished from an unchanged database', async () => {
    expect(await reportCorruption(['update platforms set name = name'])).toBe('');
  });

  it.each(ALL_CORRUPTIONS.map(([rule], index) => [rule, index] as const))(
    'is reported: %s',
    (rule, index) => {
      expect(reports[index]).toContain(rule);
    },
  );

  it('is reported by the expectations of actors after settling', async () => {
    await settleAll(sim);
    const [internalAccount] = sim.people.flatMap((person) => [...person.internalAccounts.values()]);
    internalAccount!.expectedBalance += 1n;
    await expect(settleAll(sim)).rejects.toThrow(', expected');
    internalAccount!.expectedBalance -= 1n;
    await settleAll(sim);
  });

  it('is reported when a repeated request has another reply', async () => {
    // Requests from before settling may be older than the idempotency window.
    await PAYMENT_ACTIONS.find((action) => action.name === 'fund an account')?.run(sim);
    const repeatAction = FAILURE_ACTIONS.find((action) => action.name === 'repeat a request');
    await repeatAction?.run(sim);
    await sim.client.query(`update idempotency set reply = '{"made":"up"}', status = 299`);
    await expect(repeatAction?.run(sim)).rejects.toThrow('when repeated');
  });
});
