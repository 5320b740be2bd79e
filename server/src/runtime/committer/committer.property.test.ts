// The guarantee of the committer with any concurrency, over several lanes and processes. Ledger and rows
// equal a serial execution of the accepted change sets, and each rejection has a reason in that order.
// Triggers log the order while locks are held, and a model replays it.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSample,
  insertKey,
  insertThing,
  NOW,
  type Sample,
  setOf,
  thingAt,
  thingRow,
  things,
  transfer,
  updateThing,
} from '../../../test/kit/app/sample-tables.ts';
import {
  applyChangeSet,
  emptyModel,
  isCorrect,
  type Model,
  rowKey,
} from '../../../test/kit/crash/serial-model.ts';
import type { TransferRow } from '../../ledger/transfer.ts';
import { type Database, openDatabase } from '../db/database.ts';
import { connectLane } from '../db/lane.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { type Committer, createCommitter } from './committer.ts';

const ORDER_LOG_SQL = `
create table set_log (
  id text primary key,
  n bigint generated always as identity
);
create table account_log (
  n bigint generated always as identity,
  account text not null,
  xid text not null
);
create function log_account() returns trigger language plpgsql as $$
begin
  insert into account_log(account, xid) values (new.id, pg_current_xact_id()::xid::text);
  return null;
end $$;
create trigger log_account after update on ledger_accounts
  for each row execute function log_account();`;

const setLog = table('set_log', { id: col.text });

const ROWS = 4;
/** The fourth account has no balance, so that empty accounts occur. The last account is a system account. */
const FLOORS = [0n, 0n, -30n, 0n, null];
const INITIAL_BALANCES = [100n, 100n, 100n, 0n, 100n];
const WORKERS = 24;

/**
 * The specification of a generated change set, in small numbers. The state at its execution determines the
 * meaning of the numbers.
 */
interface Spec {
  updates: number[];
  requires: number[];
  removes: boolean;
  isStale: boolean;
  key: number | null;
  name: number | null;
  transfers: { from: number; by: number; amount: number; isPending: boolean }[];
  resolves: 'post' | 'void' | null;
  inWrongCurrency: boolean;
  force: boolean;
  freeze: { account: number; frozen: boolean; empty: boolean } | null;
}

const nullOr = <T>(value: fc.Arbitrary<T>, weight = 4) =>
  fc.oneof({ arbitrary: fc.constant(null), weight }, { arbitrary: value, weight: 1 });
const trueOnceIn = (weight: number) =>
  fc.oneof({ arbitrary: fc.constant(false), weight }, { arbitrary: fc.constant(true), weight: 1 });

const spec: fc.Arbitrary<Spec> = fc.record({
  updates: fc.uniqueArray(fc.nat(ROWS - 1), { maxLength: 2 }),
  requires: fc.uniqueArray(fc.nat(ROWS - 1), { maxLength: 2 }),
  removes: trueOnceIn(60),
  isStale: trueOnceIn(10),
  key: nullOr(fc.nat(20)),
  name: nullOr(fc.nat(5)),
  transfers: fc.array(
    fc.record({
      from: fc.nat(FLOORS.length - 1),
      by: fc.integer({ min: 1, max: FLOORS.length - 1 }),
      amount: fc.integer({ min: 1, max: 60 }),
      isPending: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  resolves: nullOr(fc.constantFrom('post', 'void'), 2),
  inWrongCurrency: trueOnceIn(40),
  force: trueOnceIn(5),
  freeze: nullOr(
    fc.record({ account: fc.nat(FLOORS.length - 1), frozen: trueOnceIn(2), empty: trueOnceIn(1) }),
    3,
  ),
});

interface CommitResult {
  id: string;
  set: ChangeSet;
  outcome: Outcome;
}

let sample: Sample;
let db: Database;
let committers: Committer[];
let runCount = 0;

beforeAll(async () => {
  sample = await createSample();
  await sample.sql(ORDER_LOG_SQL);
  db = openDatabase({ url: sample.url });
  // Two committers represent two processes. Small batches cause more conflicts.
  committers = [8, 32].map((max) =>
    createCommitter({ connect: () => connectLane(sample.url), max, min: 4 }),
  );
});

afterAll(async () => {
  await Promise.all(committers.map((each) => each.close()));
  await db.close();
  await sample.drop();
});

/** State shared within one run. */
interface Run {
  name: string;
  rowIds: string[];
  accountIds: string[];
  holds: TransferRow[];
  results: CommitResult[];
}

async function build(run: Run, id: string, input: Spec): Promise<ChangeSet> {
  const read = (i: number) => db.read(things, run.rowIds[i] as string);
  const existingRows = async (indexes: number[]) =>
    (await Promise.all(indexes.map(read))).filter((row) => row !== undefined);
  const updates = await existingRows(input.updates);
  const requires = await existingRows(input.requires);
  const withStaleVersion = (row: RowOf<typeof things>) =>
    input.isStale ? { ...row, version: row.version - 1 } : row;
  const inserts: ChangeSet['inserts'] = [{ table: setLog, row: { id } }];
  if (input.key !== null) inserts.push(insertKey(`${run.name}:${input.key}`, id));
  if (input.name !== null)
    inserts.push(insertThing(thingRow(id, { name: `${run.name}:${input.name}` })));
  const transfers = input.transfers.map(({ from, by, amount, isPending: pending }, i) => {
    const to = (from + by) % FLOORS.length;
    return transfer(run.accountIds[from] as string, run.accountIds[to] as string, BigInt(amount), {
      transaction_id: id,
      step: String(i),
      phase: pending ? 'pending' : 'posted',
      currency: input.inWrongCurrency && input.transfers.length === 1 ? 'EUR' : 'USD',
      // The log does not contain a hold that only reads the freeze of an account, so it cannot be ordered.
      // committer.ledger.test.ts covers this case.
      force: input.force || (pending && FLOORS[to] !== null),
    });
  });
  const hold = input.resolves && run.holds[input.updates.length % Math.max(run.holds.length, 1)];
  if (hold && input.resolves) transfers.push({ ...hold, phase: input.resolves });
  const debitedAccount = transfers[0]?.debit;
  const accountToFreeze = input.freeze && run.accountIds[input.freeze.account];
  return setOf({
    inserts,
    updates: input.removes
      ? []
      : updates.map((row) => updateThing(withStaleVersion(row), { rank: row.rank + 1 })),
    removes: input.removes ? updates.slice(0, 1).map(thingAt) : [],
    requires: requires.map((row) => thingAt(withStaleVersion(row))),
    transfers,
    freezes:
      input.freeze && accountToFreeze && FLOORS[input.freeze.account] !== null
        ? [{ ...input.freeze, account: accountToFreeze }]
        : [],
    events: debitedAccount
      ? [
          {
            id,
            platform_id: 'p',
            type: 't',
            subject: 's',
            data: '{}',
            account: debitedAccount,
            created_at: NOW,
            delivered: false,
          },
        ]
      : [],
  });
}

async function execute(specs: readonly Spec[]): Promise<Run> {
  const name = `run${++runCount}`;
  const idsOf = (kind: string, count: number) =>
    Array.from({ length: count }, (_, i) => `${name}:${kind}${i}`);
  const run: Run = {
    name,
    rowIds: idsOf('row', ROWS),
    accountIds: idsOf('account', FLOORS.length),
    holds: [],
    results: [],
  };
  for (const id of run.rowIds) await sample.thing(id);
  for (const [i, id] of run.accountIds.entries())
    await sample.account(id, INITIAL_BALANCES[i] as bigint, FLOORS[i]);
  const remainingSpecs = specs.map((input, i) => ({ input, id: `${name}:set${i}` }));
  const worker = async (_: unknown, i: number) => {
    for (let nextSpec = remainingSpecs.shift(); nextSpec; nextSpec = remainingSpecs.shift()) {
      const { id, input } = nextSpec;
      const set = await build(run, id, input);
      const outcome = await (committers[i % 2] as Committer).commit(set);
      run.results.push({ id, set, outcome });
      if (outcome.ok) run.holds.push(...set.transfers.filter((each) => each.phase === 'pending'));
    }
  };
  await Promise.all(Array.from({ length: WORKERS }, worker));
  return run;
}

/** The accepted change sets by the ID of the transaction that wrote them, in order. */
async function batchesOf(run: Run): Promise<Map<string, CommitResult[]>> {
  const rows = await sample.sql(
    'select id, xmin::text as xid from set_log where id like $1 order by n',
    [`${run.name}:%`],
  );
  const byId = new Map(
    run.results.filter((each) => each.outcome.ok).map((each) => [each.id, each]),
  );
  expect(rows.map((row) => row.id).sort()).toEqual([...byId.keys()].sort());
  const batches = new Map<string, CommitResult[]>();
  for (const { id, xid } of rows as { id: string; xid: string }[]) {
    batches.set(xid, [...(batches.get(xid) ?? []), byId.get(id) as CommitResult]);
  }
  return batches;
}

/** Pairs of transactions in the order of their serialization. */
async function readPrecedence(
  run: Run,
  batches: Map<string, CommitResult[]>,
): Promise<[string, string][]> {
  const edges: [string, string][] = [];
  const logRows = await sample.sql(
    'select account, xid from account_log where account = any($1) order by n',
    [run.accountIds],
  );
  for (const account of run.accountIds) {
    const order = logRows.filter((row) => row.account === account).map((row) => row.xid as string);
    for (const [i, xid] of order.slice(1).entries()) edges.push([order[i] as string, xid]);
  }
  const changes = new Map<string, string>(); // row and version → transaction that replaced that version
  const requirements: [string, string][] = []; // row and version → transaction that depended on it
  const pendingHolds = new Map<string, string>();
  for (const [xid, sets] of batches) {
    for (const { set } of sets) {
      for (const { id, version } of [...set.updates, ...set.removes])
        changes.set(`${id} ${version}`, xid);
      for (const { id, version } of set.requires) requirements.push([`${id} ${version}`, xid]);
      for (const each of set.transfers) {
        if (each.phase === 'pending') pendingHolds.set(`${each.transaction_id} ${each.step}`, xid);
      }
    }
  }
  const previousVersionKey = (key: string) =>
    key.replace(/\d+$/, (version) => String(Number(version) - 1));
  for (const [key, xid] of [...changes, ...requirements]) {
    const change = changes.get(previousVersionKey(key));
    if (change) edges.push([change, xid]);
    const nextChange = changes.get(key);
    if (nextChange) edges.push([xid, nextChange]);
  }
  for (const [xid, sets] of batches) {
    for (const transfer of sets.flatMap(({ set }) => set.transfers)) {
      const holdXid = pendingHolds.get(`${transfer.transaction_id} ${transfer.step}`);
      if (holdXid) edges.push([holdXid, xid]);
    }
  }
  return edges.filter(([a, b]) => a !== b);
}

/** A topological order of the nodes. Throws for a cycle. */
function sortTopologically(nodes: readonly string[], edges: readonly [string, string][]): string[] {
  const order: string[] = [];
  let remainingNodes = [...nodes];
  while (remainingNodes.length) {
    const blockedNodes = new Set(
      edges.filter(([a]) => remainingNodes.includes(a)).map(([, b]) => b),
    );
    const readyNodes = remainingNodes.filter((node) => !blockedNodes.has(node));
    expect(readyNodes, 'a cycle prevents a serial order').not.toEqual([]);
    order.push(...readyNodes);
    remainingNodes = remainingNodes.filter((node) => blockedNodes.has(node));
  }
  return order;
}

function modelAtStart(run: Run): Model {
  const model = emptyModel();
  for (const id of run.rowIds) model.rows.set(rowKey(things, id), { ...thingRow(id) });
  for (const [i, id] of run.accountIds.entries()) {
    const floor = FLOORS[i] as bigint | null;
    const balance = INITIAL_BALANCES[i] as bigint;
    const state = { isFrozen: false, wasFrozen: false, wasUsed: balance !== 0n };
    model.accounts.set(id, { floor, balance, held: 0n, lowestAvailable: balance, ...state });
  }
  return model;
}

/** Replays the accepted change sets in an order consistent with all observations. */
async function replayRun(run: Run): Promise<Model> {
  const batches = await batchesOf(run);
  const order = sortTopologically([...batches.keys()], await readPrecedence(run, batches));
  const model = modelAtStart(run);
  for (const xid of order) {
    const batch = batches.get(xid) as CommitResult[];
    for (const { set } of batch) applyChangeSet(model, set);
    for (const { id, set } of batch.filter((each) => each.set.events.length)) {
      const { balance, held } = model.accounts.get(set.events[0]?.account as string) as never;
      const [event] = await sample.sql('select balance, held from events where id = $1', [id]);
      expect(event).toEqual({ balance: String(balance), held: String(held) });
    }
  }
  return model;
}

async function compare(run: Run, model: Model): Promise<void> {
  const idPattern = [`${run.name}:%`];
  const accounts = await sample.sql(
    'select id, balance, held, frozen from ledger_accounts where id like $1',
    idPattern,
  );
  const expectedAccounts = [...model.accounts].map(([id, { balance, held, isFrozen }]) => ({
    id,
    frozen: isFrozen,
    balance: String(balance),
    held: String(held),
  }));
  expect(accounts).toHaveLength(expectedAccounts.length);
  expect(accounts).toEqual(expect.arrayContaining(expectedAccounts));
  const storedRows = await sample.sql(
    'select id, version, rank, name from things where id like $1',
    idPattern,
  );
  const rows = [...model.rows].filter(([key]) => key.startsWith('things ')).map(([, row]) => row);
  expect(storedRows).toHaveLength(rows.length);
  expect(storedRows).toEqual(
    expect.arrayContaining(
      rows.map(({ id, version, rank, name }) => ({ id, version, rank, name })),
    ),
  );
  const [count] = await sample.sql(
    'select count(*)::int from ledger_transfers where debit like $1',
    idPattern,
  );
  expect(count?.count).toBe(model.transfers.size);
}

describe('createCommitter', () => {
  it('produces the state of a serial order of the accepted change sets', async () => {
    const counts = {
      accepted: 0,
      version: 0,
      exists: 0,
      'insufficient-funds': 0,
      constraint: 0,
      frozen: 0,
      'not-empty': 0,
    };
    await fc.assert(
      fc.asyncProperty(fc.array(spec, { minLength: 100, maxLength: 300 }), async (specs) => {
        const run = await execute(specs);
        expect(run.results).toHaveLength(specs.length);
        const model = await replayRun(run);
        await compare(run, model);
        for (const { set, outcome } of run.results) {
          counts[outcome.ok ? 'accepted' : outcome.rejection.reason]++;
          if (outcome.ok) continue;
          expect(isCorrect(model, set, outcome.rejection), JSON.stringify(outcome.rejection)).toBe(
            true,
          );
        }
      }),
      { numRuns: 12, endOnFailure: true }, // runs depend on timing, so shrinking is of little use
    );
    // Each outcome must occur. The rarest outcome occurs about thirty times.
    for (const [kind, times] of Object.entries(counts)) expect(times, kind).toBeGreaterThan(3);
  });
});
