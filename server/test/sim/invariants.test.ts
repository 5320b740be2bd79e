// Every invariant can fail: the database of a running simulation is broken by hand, each time in one
// transaction that is rolled back, and the rule that must notice has to.
import { DatabaseError } from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../kit/app/database.ts';
import { COINS } from './actions/issuing/coins.ts';
import { MINTS } from './actions/issuing/mints.ts';
import { observe, quiesce } from './actions/issuing/quiet.ts';
import { AGENTS } from './actions/payments/agents.ts';
import { PAYMENTS } from './actions/payments/payments.ts';
import { TROUBLE } from './actions/payments/trouble.ts';
import { BREAKAGES } from './rules/breakages.ts';
import { ISSUED_BREAKAGES } from './rules/breakages-issued.ts';
import { takeIn } from './rules/invariants.ts';
import { recount } from './rules/recount.ts';
import { choose, takeStep } from './run.ts';
import { proofProblems } from './world/proofs.ts';
import { openSim, type Sim } from './world/sim.ts';

let database: TestDatabase;
let sim: Sim;
/** What was noticed last of each way to break. */
const complaints: (string | undefined)[] = [];

const PAYOUT_JOBS = "kind like 'payout.%' or kind = 'refund.pay'";

/** Whether each of these statements has changed something. */
async function haveEffect(statements: readonly string[]): Promise<boolean> {
  for (const text of statements) {
    const { command, rowCount } = await sim.client.query(text);
    if (!['ALTER', 'DROP'].includes(command) && !rowCount) return false;
  }
  return true;
}

/** What is noticed when these statements are run; nothing where there is nothing to break. */
async function noticed(statements: readonly string[]): Promise<string | undefined> {
  const { client, diary, world } = sim;
  await client.query('begin');
  try {
    if (!(await haveEffect(statements))) return undefined;
    const picture = structuredClone(sim.picture);
    const heard = new Set(world.heard);
    const notes = await diary.read();
    const problems = takeIn(picture, notes, heard);
    problems.push(...(await proofProblems(sim, notes)));
    problems.push(...(await recount(client, picture, heard)));
    return problems.join('\n');
  } catch (error) {
    // Such as a column that must not be null and was to be that of another row.
    if (error instanceof DatabaseError) return undefined;
    throw error;
  } finally {
    await client.query('rollback');
  }
}

const FREE = 'alter table ledger_transfers disable trigger ledger_transfers_immutable';
const unseen = (table: string) =>
  ['insert', 'update', 'delete']
    .map((each) => `disable trigger zz_sim_${each}`)
    .join(', ')
    .replace(/^/, `alter table ${table} `);
const one = (table: string, where: string) => `(select id from ${table} where ${where} limit 1)`;
const DEPOSIT = `${one('transactions', "type = 'INCOMING' and status = 'COMPLETED'")}`;
const transfer = (step: string, phase: string) => `insert into ledger_transfers
  (transaction_id, step, phase, debit, credit, currency, amount, created_at)
  select transaction_id, '${step}', '${phase}', debit, credit, currency, 1, created_at
  from ledger_transfers where step = 'deposit' limit 1`;
const event = (columns: string, values: string) => `insert into events
  (id, platform_id, type, subject, data, created_at, ${columns})
  select 'Webhook:made-up', platform_id, type, subject, data, created_at, ${values}
  from events where account is not null and id in (select event_id from webhook_queue) limit 1`;

const UNBOUND = `alter table wallet_authorizations
  disable trigger wallet_authorizations_immutable`;
const SIGNED = `platform_id, account_id, customer_id, operation, subject, session_id, public_key,
  stamp, payload, created_at`;
/** What was signed last taken away and written anew, with the signature of what was signed first. */
const signedAnew = (stamp: string, id = 'l.id') => [
  UNBOUND,
  `create temporary table lately on commit drop as
    select * from wallet_authorizations where session_id is not null order by id desc limit 1`,
  'delete from wallet_authorizations where id = (select id from lately)',
  `insert into wallet_authorizations (stamp, public_key, id, platform_id, account_id, customer_id,
    operation, subject, session_id, payload, created_at)
    select ${stamp}, ${id}, l.platform_id, l.account_id, l.customer_id, l.operation, l.subject,
      l.session_id, l.payload, l.created_at from lately l, wallet_authorizations w
    order by w.id limit 1`,
];

/** Each with words of the rule that has to notice. */
const BROKEN: readonly (readonly [rule: string, statements: readonly string[]])[] = [
  [
    'transfers are only ever added',
    [FREE, "update ledger_transfers set amount = amount + 1 where step = 'deposit'"],
  ],
  ['accounts are what their transfers say', [transfer('more', 'posted')]],
  ['a payment has moved what its state says', [transfer('more', 'posted')]],
  ['its transfers say', [unseen('ledger_transfers'), transfer('more', 'posted')]],
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
    'what is posted or released was set aside before',
    [transfer('pay!', 'post'), transfer('sell!', 'void')],
  ],
  [
    'payments move along their lifecycle',
    [`update transactions set status = 'PENDING' where id = ${DEPOSIT}`],
  ],
  [
    'accounts move along their lifecycle',
    ["update internal_accounts set status = 'FAILED' where status = 'ACTIVE'"],
  ],
  [
    'a balance is told as its commit left it',
    [event('account, balance, held', 'account, balance + 1, held')],
  ],
  ['events are never removed', ["delete from events where type like '%_PAYMENT.%'"]],
  [
    'a payment has told what its state says',
    [
      event('sealed_for', 'null').replace(
        ', type, subject, data, created_at, null',
        `, 'INCOMING_PAYMENT.FAILED', ${DEPOSIT}, data, created_at, null`,
      ),
    ],
  ],
  ['quotes never change', ['update quotes set fees = fees + 1']],
  ['an event is delivered, due or given up', ['delete from webhook_queue']],
  [
    'nobody has heard it',
    [
      `insert into webhook_attempts (id, event_id, attempt, at, ms, result)
        select event_id || '/99', event_id, 99, due_at, 1, 'delivered' from webhook_queue`,
      'delete from webhook_queue',
    ],
  ],
  ['events are there', [unseen('events'), "delete from events where type = 'TEST'"]],
  ['an open payment has a job', [`delete from jobs where ${PAYOUT_JOBS}`]],
  [
    'a job is about a transaction that is there',
    [
      `insert into jobs (id, kind, input, due_at)
        select 'Job:made-up', kind, '{"transactionId":"Transaction:none"}', due_at
        from jobs limit 1`,
    ],
  ],
  [
    'what owners owe is what the service is owed',
    [
      `update internal_accounts set owed = owed + 1 where id in
        (select id from internal_accounts where currency = 'USD' limit 1)`,
    ],
  ],
  ['and waits for nothing', ['delete from awaited_rail_results']],
  [
    'waits for an operator of the sandbox',
    [
      `insert into awaited_rail_results (id, platform_id, kind, since)
        select t.id, p.id, 'payout', t.created_at from transactions t
        join platforms p on p.id = t.platform_id where p.environment = 'sandbox' limit 1`,
    ],
  ],
  [
    'a payment counts toward its day, unless it goes back',
    [
      `insert into ledger_transfers
        (transaction_id, step, phase, debit, credit, currency, amount, created_at)
        select t.id, 'refund.velocity', 'posted', l.debit, l.credit, l.currency, t.sent_amount,
          l.created_at from transactions t, ledger_transfers l
        where t.type = 'OUTGOING' and t.sent_amount > 0 limit 1`,
    ],
  ],
  [
    'a payment counts toward its day, unless it goes back',
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
    'a payment that begins counts, within the limits of its day',
    [
      `update platforms set limits = (select json_agg(json_build_object('currency', code,
        'perDay', 1)) from unnest('{USD,EUR,GBP,MXN,USDC}'::text[]) as code)`,
      `update transactions set status = 'PROCESSING', funds = 'HELD'
        where type = 'OUTGOING' and status = 'PENDING'`,
    ],
  ],
  [
    'accounts outside move along their lifecycle',
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
  ['credentials move along their lifecycle', ['delete from credentials']],
  [
    'wallet_sessions move along their lifecycle',
    [
      "update wallet_sessions set status = 'REVOKED'",
      "update wallet_sessions set status = 'ACTIVE'",
    ],
  ],
  [
    'wallet_requests move along their lifecycle',
    ["update wallet_requests set status = 'PENDING' where status = 'DONE'"],
  ],
  [
    'what a wallet has signed is written down for good',
    [UNBOUND, 'delete from wallet_authorizations'],
  ],
  [
    'which may not sign',
    ["update wallet_sessions set status = 'REVOKED'", ...signedAnew('l.stamp, l.public_key')],
  ],
  [
    'money leaves a wallet once its holder has signed for it, and once',
    [
      `insert into wallet_authorizations (${SIGNED}, id) select ${SIGNED}, 'made up'
        from wallet_authorizations where operation = 'executeQuote' limit 1`,
    ],
  ],
  ['has lost its last credential', ["update credentials set status = 'REVOKED'"]],
  [
    'sessions, by',
    [
      `insert into wallet_sessions select s.* from wallet_sessions w, json_populate_record(w,
        '{"id":"Session:made-up"}') s limit 1`,
    ],
  ],
  [
    'what was signed for happens once',
    [
      `insert into wallet_authorizations (${SIGNED}, id) select ${SIGNED}, 'made up'
        from wallet_authorizations where operation = 'verifyAuthCredential' limit 1`,
    ],
  ],
  ['is not what was signed', signedAnew('w.stamp, w.public_key')],
  ['cannot be read', signedAnew('w.stamp, w.public_key', "'made up'")],
  ...BREAKAGES,
  ...ISSUED_BREAKAGES,
  ['went unnoticed', [unseen('jobs'), 'delete from jobs']],
  [
    'belongs to no transaction',
    [
      `insert into ledger_transfers select 'Transaction:none', step, phase, debit, credit,
        currency, amount, created_at from ledger_transfers where step = 'deposit' limit 1`,
    ],
  ],
];
const isNoticed = (at: number) => complaints[at]?.includes(BROKEN[at]?.[0] as string);

/** Breaks in each way that was not noticed before and finds something to break now. */
async function breakOnce(): Promise<void> {
  for (const [at, [, statements]] of BROKEN.entries()) {
    if (isNoticed(at)) continue;
    complaints[at] = (await noticed(statements)) ?? complaints[at];
  }
}

/** Otherwise the last to be there to be broken. */
const RARE = [...AGENTS, ...COINS, ...MINTS];
/** By then there are payments over and under way, and events delivered and due. */
const EARLY = 200;
const EVERY = 20;
const LATE = 4_000;

beforeAll(async () => {
  database = await createTestDatabase();
  sim = await openSim('to be broken', database.url);
  await observe(sim);
  const remains = () => BROKEN.some((_, at) => !isNoticed(at));
  for (let step = 0; step < LATE && remains(); step++) {
    const rare = RARE.filter(({ ready }) => ready?.(sim) ?? true);
    const action =
      step % 4 === 0 && step > EARLY / 2 && rare.length
        ? sim.chance.weighed(rare)
        : choose(sim, step);
    await takeStep(sim, action);
    if (step >= EARLY && step % EVERY === 0) await breakOnce();
  }
}, 300_000);

afterAll(async () => {
  await sim.close();
  await database.drop();
});

describe('a broken database', () => {
  it('is none before it was broken', async () => {
    expect(await noticed(['update platforms set name = name'])).toBe('');
  });

  it.each(BROKEN.map(([rule], at) => [rule, at] as const))('is noticed: %s', (rule, at) => {
    expect(complaints[at]).toContain(rule);
  });

  it('is noticed by what actors expect, once all is at rest', async () => {
    await quiesce(sim);
    const [purse] = sim.people.flatMap((each) => [...each.purses.values()]);
    purse!.due += 1n;
    await expect(quiesce(sim)).rejects.toThrow('; due is');
    purse!.due -= 1n;
    await quiesce(sim);
  });

  it('is noticed when a reply is another the second time', async () => {
    // What was answered before all came to rest may be too long ago.
    await PAYMENTS.find((each) => each.name === 'fund an account')?.run(sim);
    const again = TROUBLE.find((each) => each.name === 'ask again');
    await again?.run(sim);
    await sim.client.query(`update idempotency set reply = '{"made":"up"}', status = 299`);
    await expect(again?.run(sim)).rejects.toThrow('was answered');
  });
});
