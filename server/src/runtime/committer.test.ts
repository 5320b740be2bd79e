import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import {
  clientKeys,
  createSample,
  insertKey,
  insertThing,
  NOW,
  type Sample,
  setOf,
  thingAt,
  thingRow,
  transfer,
  updateThing,
} from '../../test/sample-tables.ts';
import type { ChangeSet, EventRow, Outcome } from './change-set.ts';
import { type BatchReport, type Committer, createCommitter } from './committer.ts';
import { connectLane } from './lane.ts';
import { col, table } from './table.ts';

let sample: Sample;
let committer: Committer;
let reports: BatchReport[] = [];
let names = 0;
const made: Committer[] = [];

beforeAll(async () => {
  sample = await createSample();
});

afterEach(async () => {
  await Promise.all(made.splice(0).map((each) => each.close()));
});

afterAll(() => sample.drop());

/** An id that no other test has. */
const fresh = (kind: string) => `${kind}:${++names}`;

function start(options: Partial<Parameters<typeof createCommitter>[0]> = {}): Committer {
  reports = [];
  committer = createCommitter({
    connect: () => connectLane(sample.url),
    onBatch: (report) => reports.push(report),
    ...options,
  });
  made.push(committer);
  return committer;
}

const commit = (parts: Partial<ChangeSet>): Promise<Outcome> => committer.commit(setOf(parts));

/** Commits in one batch, as far as they get along. */
const together = (...parts: Partial<ChangeSet>[]) => Promise.allSettled(parts.map(commit));

const ok = { status: 'fulfilled', value: { ok: true } };
const refused = (refusal: object) => ({ status: 'fulfilled', value: { ok: false, refusal } });

async function accounts(...balances: (bigint | null)[]): Promise<string[]> {
  const ids = balances.map(() => fresh('account'));
  for (const [i, id] of ids.entries())
    await sample.account(id, balances[i] ?? 0n, balances[i] === null ? null : 0n);
  return ids;
}

async function holdings(...ids: string[]): Promise<string[]> {
  const rows = await sample.sql(
    'select id, balance, held from ledger_accounts where id = any($1)',
    [ids],
  );
  const byId = new Map(rows.map((row) => [row.id, `${row.balance}/${row.held}`]));
  return ids.map((id) => byId.get(id) ?? '');
}

const thingIn = async (id: string) =>
  (await sample.sql('select * from things where id = $1', [id]))[0];

const event = (account: string | null, more: Partial<EventRow> = {}): EventRow => ({
  id: fresh('Webhook'),
  platform_id: 'Platform:1',
  type: 'TEST',
  subject: 'Test:1',
  data: '{}',
  account,
  created_at: NOW,
  due_at: null,
  ...more,
});

describe('commit', () => {
  it('writes every part of a change set', async () => {
    start();
    const changed = await sample.thing(fresh('thing'), { rank: 1 });
    const gone = await sample.thing(fresh('thing'));
    const leant = await sample.thing(fresh('thing'));
    const [from = '', to = ''] = await accounts(100n, 0n);
    const added = thingRow(fresh('thing'), {
      name: 'né€ 😀',
      note: { a: [1, null] },
      raw: Buffer.from([0, 255]),
      amount: 9_007_199_254_740_993n,
      flag: true,
    });
    const told = event(to);
    const outcome = await commit({
      inserts: [insertThing(added)],
      updates: [updateThing(changed, { rank: 2, created_at: 0 })],
      removes: [thingAt(gone)],
      requires: [thingAt(leant)],
      transfers: [transfer(from, to, 30n)],
      events: [told],
    });
    expect(outcome).toEqual({ ok: true });
    expect(await thingIn(added.id)).toEqual({
      ...added,
      amount: String(added.amount),
      created_at: new Date(NOW),
    });
    const updated = { rank: 2, version: 2, created_at: new Date(NOW) };
    expect(await thingIn(changed.id)).toMatchObject(updated);
    expect(await thingIn(gone.id)).toBe(undefined);
    expect(await thingIn(leant.id)).toMatchObject({ version: 1 });
    expect(await holdings(from, to)).toEqual(['70/0', '30/0']);
    const [stored] = await sample.sql('select * from events where id = $1', [told.id]);
    expect(stored).toMatchObject({ balance: '30', held: '0', attempts: 0, due_at: null });
  });

  it('answers an empty change set at once', async () => {
    start({ connect: () => Promise.reject(new Error('down')) });
    expect(await commit({})).toEqual({ ok: true });
  });

  it('refuses one that leans on an old version, alone', async () => {
    start();
    const row = await sample.thing(fresh('thing'));
    const stale = { ...row, version: 0 };
    const added = () => ({ inserts: [insertThing(thingRow(fresh('thing')))] });
    const version = refused({ why: 'version', table: 'things', id: row.id });
    const outcomes = await together(
      added(),
      { ...added(), requires: [thingAt(stale)] },
      { requires: [thingAt(row)], ...added() },
      { requires: [{ ...thingAt(row), id: 'missing' }], ...added() },
    );
    const missing = refused({ why: 'version', table: 'things', id: 'missing' });
    expect(outcomes).toEqual([ok, version, ok, missing]);
    expect(await together({ updates: [updateThing(stale, {})] })).toEqual([version]);
    expect(await together({ removes: [thingAt(stale)] })).toEqual([version]);
  });

  it('lets exactly one of many that change the same version of a row', async () => {
    start();
    const row = await sample.thing(fresh('thing'));
    const outcomes = await together(
      ...Array.from({ length: 30 }, (_, rank) => ({ updates: [updateThing(row, { rank })] })),
    );
    expect(outcomes.filter((each) => each.status === 'fulfilled' && each.value.ok)).toHaveLength(1);
    expect(await thingIn(row.id)).toMatchObject({ rank: 0, version: 2 });
  });

  it('takes a key chosen by a client once', async () => {
    start();
    const id = fresh('key');
    const free = fresh('key');
    const exists = refused({ why: 'exists', table: 'client_keys', id });
    const outcomes = await together(
      { inserts: [insertKey(id, 'first')] },
      ...Array.from({ length: 29 }, () => ({ inserts: [insertKey(id, 'later')] })),
      { inserts: [insertKey(free)] },
    );
    expect(outcomes).toEqual([ok, ...Array.from({ length: 29 }, () => exists), ok]);
    const [stored] = await sample.sql('select reply from client_keys where id = $1', [id]);
    expect(stored).toEqual({ reply: 'first' });
  });

  it('names the constraint that a lone change set breaks, and spares its neighbours', async () => {
    start();
    const name = fresh('name');
    await sample.thing(fresh('thing'), { name });
    const row = (more: object) => ({ inserts: [insertThing(thingRow(fresh('thing'), more))] });
    const outcomes = await together(row({}), row({ name }), row({}), row({ rank: 1_000 }), row({}));
    expect(outcomes).toEqual([
      ok,
      refused({ why: 'constraint', constraint: 'things_name' }),
      ok,
      refused({ why: 'constraint', constraint: 'things_rank' }),
      ok,
    ]);
  });

  it('isolates what PostgreSQL will not take, and what cannot be sent', async () => {
    start();
    const row = (more: object) => ({ inserts: [insertThing(thingRow(fresh('thing'), more))] });
    const nowhere = table('nowhere', { id: col.text });
    const parts = Array.from({ length: 40 }, () => row({}));
    parts[7] = row({ name: 'a\u0000b' });
    parts[20] = row({ rank: 1.5 });
    parts[31] = { inserts: [{ table: nowhere, row: { id: 'a' } } as never] };
    const outcomes = await together(...parts);
    outcomes.forEach((outcome, i) => {
      if (i === 7) expect(outcome).toMatchObject({ reason: { code: '22021' } });
      else if (i === 20) expect(outcome).toMatchObject({ reason: expect.any(TypeError) });
      else if (i === 31) expect(outcome).toMatchObject({ reason: { code: '42P01' } });
      else expect(outcome).toEqual(ok);
    });
  });

  it('tells each batch and how it went', async () => {
    let now = 0;
    start({ elapsed: () => (now += 5) });
    const row = await sample.thing(fresh('thing'));
    await together({ inserts: [insertThing(thingRow(fresh('thing')))] });
    await together({ requires: [{ ...thingAt(row), version: 7 }] });
    expect(reports).toEqual([
      { units: 1, ms: 5, mode: 'optimistic' },
      { units: 1, ms: 5, mode: 'careful' },
    ]);
    expect(committer.stats()).toMatchObject({
      batches: 2,
      units: 2,
      careful: 1,
      waiting: 0,
      writing: 0,
    });
  });
});

describe('the ledger', () => {
  it('keeps the floor at every step of a batch, and refuses only who goes below', async () => {
    start();
    const [a = '', b = ''] = await accounts(100n, 0n);
    const outcomes = await together(
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(b, a, 30n)] },
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(a, b, 10n), transfer(a, b, 10n)] },
    );
    const funds = refused({ why: 'funds', account: a });
    expect(outcomes).toEqual([ok, funds, ok, ok, funds]);
    expect(await holdings(a, b)).toEqual(['10/0', '90/0']);
  });

  it('sets money aside, and posts or gives it back once', async () => {
    start();
    const [a = '', b = ''] = await accounts(100n, null);
    const first = transfer(a, b, 60n, { phase: 'pending' });
    const second = transfer(a, b, 40n, { phase: 'pending' });
    await together({ transfers: [first] }, { transfers: [second] });
    expect(await holdings(a, b)).toEqual(['100/100', '0/0']);
    expect(await together({ transfers: [transfer(a, b, 1n)] })).toEqual([
      refused({ why: 'funds', account: a }),
    ]);
    const taken = refused({ why: 'constraint', constraint: 'ledger_transfers_pkey' });
    expect(
      await together(
        { transfers: [{ ...first, phase: 'post' }] },
        { transfers: [{ ...first, phase: 'post' }] },
        { transfers: [{ ...second, phase: 'release' }] },
        { transfers: [{ ...second, phase: 'post' }] },
      ),
    ).toEqual([ok, taken, ok, taken]);
    expect(await holdings(a, b)).toEqual(['40/0', '60/0']);
    const steps = await sample.sql(
      'select step, phase from ledger_transfers where debit = $1 order by transaction_id, step',
      [a],
    );
    expect(steps).toEqual([
      { step: 'pay', phase: 'pending' },
      { step: 'pay!', phase: 'post' },
      { step: 'pay', phase: 'pending' },
      { step: 'pay!', phase: 'release' },
    ]);
  });

  it('resolves a hold only as it was made', async () => {
    start();
    const [a = '', b = '', c = ''] = await accounts(100n, 0n, 0n);
    const held = transfer(a, b, 60n, { phase: 'pending' });
    await commit({ transfers: [held] });
    const post = { ...held, phase: 'post' } as const;
    const unknown = refused({ why: 'constraint', constraint: 'ledger_pending' });
    const outcomes = await together(
      { transfers: [{ ...post, amount: 59n }] },
      { transfers: [{ ...post, credit: c }] },
      { transfers: [{ ...post, step: 'other' }] },
      { transfers: [{ ...post, phase: 'release', debit: c }] },
      { transfers: [transfer(a, b, 1n)] },
    );
    expect(outcomes).toEqual([unknown, unknown, unknown, unknown, ok]);
    expect(await holdings(a, b, c)).toEqual(['99/60', '1/0', '0/0']);
    expect(await commit({ transfers: [held, post] })).toMatchObject({ ok: false });
    const whole = transfer(a, b, 5n, { phase: 'pending' });
    expect(await commit({ transfers: [whole, { ...whole, phase: 'post' }] })).toEqual({ ok: true });
    expect(await holdings(a, b)).toEqual(['94/60', '6/0']);
  });

  it('refuses another currency and an unknown account, alone', async () => {
    start();
    const [a = '', b = ''] = await accounts(100n, 0n);
    const euros = fresh('account');
    await sample.account(euros, 0n, 0n, 'EUR');
    const currency = refused({ why: 'constraint', constraint: 'ledger_currency' });
    const unknown = refused({ why: 'constraint', constraint: 'ledger_account' });
    const outcomes = await together(
      { transfers: [transfer(a, b, 1n)] },
      { transfers: [transfer(a, euros, 1n)] },
      { transfers: [transfer(a, b, 1n, { currency: 'EUR' })] },
      { transfers: [transfer(a, euros, 1n, { phase: 'pending' })] },
      { transfers: [transfer(a, 'nobody', 1n)] },
      { transfers: [transfer(a, 'nobody', 1n, { phase: 'pending' })] },
      { transfers: [transfer(a, b, 1n), transfer(b, a, 1n, { currency: 'EUR' })] },
      { transfers: [transfer(a, b, 1n)] },
    );
    expect(outcomes).toEqual([ok, currency, currency, currency, unknown, unknown, currency, ok]);
    expect(await holdings(a, b, euros)).toEqual(['98/0', '2/0', '0/0']);
  });

  it('pays into an account that the same change set opens', async () => {
    start();
    const [a = ''] = await accounts(100n);
    const ledger = table('ledger_accounts', {
      id: col.text,
      currency: col.text,
      balance: col.int8,
      held: col.int8,
      floor: col.int8.null,
      created_at: col.time,
    });
    const open = (id: string) => ({
      table: ledger,
      row: { id, currency: 'USD', balance: 0n, held: 0n, floor: 0n, created_at: NOW },
    });
    const [first, second] = [fresh('account'), fresh('account')];
    const outcomes = await together(
      { inserts: [open(first)], transfers: [transfer(a, first, 60n)] },
      { inserts: [open(second)], transfers: [transfer(a, second, 60n)] },
      { transfers: [transfer(first, a, 5n)] },
    );
    expect(outcomes).toEqual([ok, refused({ why: 'funds', account: a }), ok]);
    expect(await holdings(a, first, second)).toEqual(['45/0', '55/0', '']);
  });

  it('gives events the balance as committed, and none where no account is named', async () => {
    start();
    const [a = '', b = ''] = await accounts(100n, 0n);
    const [one, two, three] = [event(a), event(a), event(null)];
    await together(
      { transfers: [transfer(a, b, 10n)], events: [one] },
      { transfers: [transfer(a, b, 5n, { phase: 'pending' })], events: [two, three] },
    );
    const shown = await sample.sql(
      'select balance, held from events where id = any($1) order by id collate "C"',
      [[one.id, two.id, three.id]],
    );
    expect(shown).toEqual([
      { balance: '90', held: '5' },
      { balance: '90', held: '5' },
      { balance: null, held: null },
    ]);
  });
});

describe('a lost connection', () => {
  const killAll = () =>
    sample.sql(`select pg_terminate_backend(pid) from pg_stat_activity
      where application_name = 'railhead committer' and datname = current_database()`);

  it('leaves the outcome of those under way unknown and loses nobody else', async () => {
    start();
    const [a = '', b = ''] = await accounts(1_000_000n, 0n);
    let unknown = 0;
    let accepted = 0;
    let stop = false;
    const worker = async () => {
      while (!stop) {
        try {
          const outcome = await commit({ transfers: [transfer(a, b, 1n)] });
          if (outcome.ok) accepted++;
        } catch (error) {
          expect(error).toMatchObject({ code: 'OUTCOME_UNKNOWN' });
          unknown++;
        }
      }
    };
    const workers = Array.from({ length: 100 }, worker);
    for (let round = 0; round < 5; round++) {
      await sleep(100);
      await killAll();
    }
    const before = accepted;
    while (accepted < before + 1_000) await sleep(10);
    stop = true;
    await Promise.all(workers);
    expect(unknown).toBeGreaterThan(0);
    const [stored] = await sample.sql(
      'select count(*)::int from ledger_transfers where debit = $1',
      [a],
    );
    const count = stored?.count as number;
    expect(count).toBeGreaterThanOrEqual(accepted);
    expect(count).toBeLessThanOrEqual(accepted + unknown);
    expect(await holdings(a, b)).toEqual([`${1_000_000 - count}/0`, `${count}/0`]);
    expect(committer.stats()).toMatchObject({ waiting: 0, writing: 0, lanes: 3 });
  });
});

describe('limits', () => {
  it('refuses more than may wait', async () => {
    start({ connect: () => Promise.reject(new Error('down')), maxWaiting: 2 });
    const parts = { inserts: [insertThing(thingRow(fresh('thing')))] };
    const waiting = together(parts, parts);
    await expect(commit(parts)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE', status: 503 });
    await committer.close();
    const never = {
      status: 'rejected',
      reason: expect.objectContaining({ code: 'NOT_COMMITTED' }),
    };
    expect(await waiting).toEqual([never, never]);
  });

  it('settles everything taken before it closes, and then takes no more', async () => {
    start({ max: 16 });
    const ids = Array.from({ length: 200 }, () => fresh('thing'));
    await together({ inserts: [insertKey(fresh('key'))] });
    const all = together(...ids.map((id) => ({ inserts: [insertThing(thingRow(id))] })));
    await committer.close();
    expect(await all).toEqual(ids.map(() => ok));
    await expect(commit({ inserts: [insertKey(fresh('key'))] })).rejects.toMatchObject({
      code: 'NOT_COMMITTED',
    });
  });

  it('does not let a row locked by somebody else hold up the rest for long', async () => {
    start({ lanes: 1, connect: () => connectLane(sample.url, { lockTimeoutMs: 200 }) });
    const row = await sample.thing(fresh('thing'));
    await sample.sql('begin');
    await sample.sql('select from things where id = $1 for update', [row.id]);
    const outcomes = together(
      { updates: [updateThing(row, { rank: 3 })] },
      { inserts: [{ table: clientKeys, row: insertKey(fresh('key')).row }] },
    );
    const settled = await outcomes;
    await sample.sql('rollback');
    expect(settled).toEqual([
      { status: 'rejected', reason: expect.objectContaining({ code: 'SERVICE_UNAVAILABLE' }) },
      ok,
    ]);
  });
});
