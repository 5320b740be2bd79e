// Guarantees of staging. Changes of a row merge. Every change is checked against the lifecycle of its
// table, for any number of transitions in one change set.
import { Type } from '@sinclair/typebox';
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { testEvent } from '../../features/tenancy/config/index.ts';
import { defineJob } from '../../kernel/contract/job.ts';
import { Fault } from '../../kernel/fault.ts';
import { stateTable } from '../../kernel/states.ts';
import type { Database } from '../db/database.ts';
import { col, type RowOf, table } from '../db/table.ts';
import type { Vault } from '../security/vault.ts';
import { type Ctx, createContext } from './context.ts';
import { rememberEvents } from './event-staging.ts';
import { unpackJson } from './stored-json.ts';

const flat = stateTable<'NEW' | 'OLD', 'age'>('flat', { NEW: { age: 'OLD' }, OLD: {} });
const round = stateTable<'NEW' | 'MID' | 'OLD', 'go'>('round', {
  NEW: { go: 'MID' },
  MID: { go: 'OLD' },
  OLD: { go: 'NEW' },
});
const track = stateTable<'NONE' | 'PAID', 'pay'>('track', { NONE: { pay: 'PAID' }, PAID: {} });

const trackedTable = table(
  'tracked',
  {
    id: col.text,
    kind: col.enum<'flat' | 'round'>(),
    status: col.enum<'NEW' | 'MID' | 'OLD'>().mut,
    paid: col.json<{ status: 'PAID' }>().null.mut,
    note: col.text.null.mut,
    version: col.int4,
  },
  {
    lifecycles: [
      { state: (row) => row.status, states: (row) => (row.kind === 'flat' ? flat : round) },
      { state: (row) => row.paid?.status ?? 'NONE', states: track },
    ],
  },
);

const createTestContext = (db = {} as Database): Ctx =>
  createContext(
    { effects: testEffects(), db, vault: {} as Vault },
    {
      platformId: 'P',
      environment: 'sandbox',
      tokenId: null,
      permissions: [],
    },
    { now: 0, ownClock: false },
  );

const row = (overrides: Partial<RowOf<typeof trackedTable>> = {}): RowOf<typeof trackedTable> => ({
  id: 'row',
  kind: 'flat',
  status: 'NEW',
  paid: null,
  note: null,
  version: 1,
  ...overrides,
});

describe('row update', () => {
  it('may keep the state or follow a transition', () => {
    const ctx = createTestContext();
    expect(ctx.update(trackedTable, row(), { note: 'x' }).status).toBe('NEW');
    expect(ctx.update(trackedTable, row(), { status: 'OLD', paid: { status: 'PAID' } }).note).toBe(
      'x',
    );
    expect(ctx.set.updates).toMatchObject([{ row: { status: 'OLD', note: 'x' } }]);
  });

  it('cannot skip or reverse a transition', () => {
    const skipState = () =>
      createTestContext().update(trackedTable, row({ kind: 'round' }), { status: 'OLD' });
    expect(skipState).toThrow('tracked row: round has no transition from NEW to OLD');
    const reverseState = () =>
      createTestContext().update(trackedTable, row({ status: 'OLD' }), { status: 'NEW' });
    expect(reverseState).toThrow('tracked row: flat has no transition from OLD to NEW');
    const skipInitialState = () =>
      createTestContext().update(trackedTable, row(), { status: 'MID' });
    expect(skipInitialState).toThrow('flat has no transition from NEW to MID');
  });

  it('checks each of several transitions in one change set against the previous state', () => {
    const ctx = createTestContext();
    const trackedRow = row({ kind: 'round' });
    ctx.update(trackedTable, trackedRow, { status: 'MID' });
    ctx.update(trackedTable, trackedRow, { status: 'OLD' });
    expect(() => ctx.update(trackedTable, trackedRow, { status: 'MID' })).toThrow(
      'from OLD to MID',
    );
  });

  it('is checked against every lifecycle of the table', () => {
    const paidRow = row({ paid: { status: 'PAID' } });
    expect(() => createTestContext().update(trackedTable, paidRow, { paid: null })).toThrow(
      'track has no transition from PAID to NONE',
    );
  });

  it('is checked against the state of a row inserted in the same change set', () => {
    const ctx = createTestContext();
    const newRow = ctx.insert(trackedTable, { id: 'new', kind: 'flat', status: 'OLD' });
    expect(() => ctx.update(trackedTable, newRow, { status: 'NEW' })).toThrow('from OLD to NEW');
  });
});

describe('transfer', () => {
  it('has its insufficient-funds fault and remains plain data', () => {
    const ctx = createTestContext();
    const insufficientFunds = () => {
      throw new Error('never called here');
    };
    const transferInput = {
      transactionId: 'T',
      step: 's',
      debit: 'a',
      credit: 'b',
      currency: 'USD',
    };
    ctx.transfer({ ...transferInput, amount: 1n, insufficientFundsFault: insufficientFunds });
    ctx.freeze('a');
    ctx.freeze('b', { empty: true });
    ctx.unfreeze('c');
    expect(ctx.insufficientFundsFaults.get('a')).toBe(insufficientFunds);
    const [transfer] = ctx.set.transfers;
    expect(structuredClone(transfer)).toEqual(transfer);
    expect(ctx.set.freezes).toEqual([
      { account: 'a', frozen: true, empty: false },
      { account: 'b', frozen: true, empty: true },
      { account: 'c', frozen: false, empty: false },
    ]);
  });
});

describe('attempt', () => {
  const stepInput = { transactionId: 'T', debit: 'a', credit: 'b', currency: 'USD', amount: 1n };
  const decline = () => {
    throw new Fault('CONFLICT', 'No.');
  };

  it('discards all staged changes if it throws a fault, and returns the fault', async () => {
    const ctx = createTestContext();
    const trackedRow = row({ kind: 'round' });
    const newRow = ctx.insert(trackedTable, {
      id: 'new',
      kind: 'flat',
      status: 'NEW',
      note: 'first',
    });
    ctx.update(trackedTable, trackedRow, { status: 'MID' });
    const insufficientFunds = () => new Fault('CONFLICT', 'Insufficient funds.');
    ctx.transfer({
      ...stepInput,
      step: 's',
      insufficientFundsFault: insufficientFunds,
      retryOnInsufficientFunds: true,
    });
    const transfersBefore = structuredClone(ctx.set.transfers);
    const outcome = await ctx.attempt(async () => {
      ctx.update(trackedTable, newRow, { status: 'OLD', note: 'second' });
      ctx.update(trackedTable, trackedRow, { status: 'OLD' });
      ctx.insert(trackedTable, { id: 'more', kind: 'flat', status: 'NEW' });
      ctx.remove(trackedTable, row({ id: 'third' }));
      ctx.require(trackedTable, row({ id: 'fourth' }));
      ctx.transfer({
        ...stepInput,
        debit: 'c',
        step: 't',
        insufficientFundsFault: decline,
        retryOnInsufficientFunds: true,
      });
      ctx.freeze('a');
      ctx.emit(testEvent, 'new', {});
      ctx.later(defineJob('work', Type.Object({})), {});
      return decline();
    });
    expect(outcome).toMatchObject({ code: 'CONFLICT', message: 'No.' });
    expect(ctx.set.inserts).toMatchObject([{ row: { id: 'new', status: 'NEW', note: 'first' } }]);
    expect(ctx.set.updates).toMatchObject([{ id: 'row', row: { status: 'MID' } }]);
    expect(ctx.set.transfers).toEqual(transfersBefore);
    const { removes, requires, freezes, events } = ctx.set;
    expect([removes, requires, freezes, events]).toEqual([[], [], [], []]);
    expect([[...ctx.insufficientFundsFaults], [...ctx.retryAccounts]]).toEqual([
      [['a', insufficientFunds]],
      ['a'],
    ]);
    // Staging continues from the restored state.
    expect(ctx.update(trackedTable, trackedRow, { status: 'OLD' }).status).toBe('OLD');
    expect(ctx.update(trackedTable, row({ id: 'more' }), { note: 'z' }).note).toBe('z');
    expect(ctx.set.inserts).toHaveLength(1);
  });

  it('keeps its changes, and allows a retry for the accounts without a separate fault', async () => {
    const ctx = createTestContext();
    ctx.transfer({ ...stepInput, step: 's', debit: 'before' });
    const result = await ctx.attempt(async () => {
      ctx.hold({ ...stepInput, step: 't' });
      ctx.transfer({
        ...stepInput,
        step: 'u',
        debit: 'limit',
        credit: 'count',
        insufficientFundsFault: decline,
      });
      return 'done';
    });
    expect(result).toBe('done');
    expect(ctx.set.transfers).toHaveLength(3);
    expect([...ctx.retryAccounts].sort()).toEqual(['a', 'b', 'count']);
  });

  it('rethrows an error other than a fault', async () => {
    const attempt = createTestContext().attempt(() => Promise.reject(new TypeError('a bug')));
    await expect(attempt).rejects.toThrow('a bug');
  });
});

describe('emit', () => {
  const note = 'x'.repeat(300);
  const emit = (ctx: Ctx, data: object, subject = 'one') => ctx.emit(testEvent, subject, data);
  const dataOf = (ctx: Ctx) =>
    ctx.set.events.map(({ data, base_id }) => [JSON.parse(unpackJson(data)), base_id ?? null]);

  it('stores only differences from the first event of a resource', () => {
    const ctx = createTestContext();
    emit(ctx, { note, status: 'NEW' });
    emit(ctx, { note, status: 'NEW' }, 'two');
    emit(ctx, { note, status: 'MID' });
    emit(ctx, { note, status: 'OLD', at: 1 });
    const [firstId] = ctx.set.events.map((event) => event.id);
    expect(dataOf(ctx)).toEqual([
      [{ note, status: 'NEW' }, null],
      [{ note, status: 'NEW' }, null],
      [{ status: 'MID' }, firstId],
      [{ status: 'OLD', at: 1 }, firstId],
    ]);
  });

  it('never refers to a discarded event', async () => {
    const ctx = createTestContext();
    await ctx.attempt(async () => {
      emit(ctx, { note, status: 'NEW' });
      throw new Fault('CONFLICT', 'No.');
    });
    emit(ctx, { note, status: 'MID' }, 'two');
    emit(ctx, { note, status: 'MID' });
    emit(ctx, { note, status: 'OLD' });
    const secondEventId = ctx.set.events[1]?.id;
    expect(dataOf(ctx).map(([, base]) => base)).toEqual([null, null, secondEventId]);
  });
});

describe('emitVersion', () => {
  const emit = (ctx: Ctx, version: number, text = 'first') =>
    ctx.emitVersion(testEvent, { id: 'one', version, created_at: 1 }, 'account', () => ({ text }));
  const dataOf = (ctx: Ctx) => ctx.set.events.map(({ data, base_id }) => [data, base_id ?? null]);

  it('refers to the committed event of the same version of the row', () => {
    const db = {} as Database;
    const firstContext = createTestContext(db);
    emit(firstContext, 1);
    emit(firstContext, 1);
    const fullData = '{"text":"first"}';
    expect(dataOf(firstContext)).toEqual([
      [fullData, null],
      [fullData, null],
    ]);
    rememberEvents(db, firstContext.set);
    const nextContext = createTestContext(db);
    emit(nextContext, 1, 'not rendered');
    expect(dataOf(nextContext)).toEqual([['{}', firstContext.set.events[1]?.id]]);
    expect(nextContext.set.events[0]?.account).toBe('account');
    // An event that refers to another event is not cached.
    rememberEvents(db, nextContext.set);
    const lastContext = createTestContext(db);
    emit(lastContext, 1);
    expect(dataOf(lastContext)).toEqual(dataOf(nextContext));
  });

  it('is stored completely for another version, event, row, creation or database', () => {
    const db = {} as Database;
    const firstContext = createTestContext(db);
    emit(firstContext, 1);
    rememberEvents(db, firstContext.set);
    const secondContext = createTestContext(db);
    emit(secondContext, 2, 'second');
    secondContext.emitVersion(
      testEvent,
      { id: 'two', version: 1, created_at: 1 },
      'account',
      () => ({}),
    );
    secondContext.emitVersion(
      { ...testEvent, type: 'CARD.STATE_CHANGE' },
      { id: 'one', version: 1, created_at: 2 },
      'a',
      () => ({}),
    );
    secondContext.emitVersion(testEvent, { id: 'one', version: 1, created_at: 2 }, 'a', () => ({}));
    expect(dataOf(secondContext)).toEqual([
      ['{"text":"second"}', null],
      ['{}', null],
      ['{}', null],
      ['{}', null],
    ]);
    const otherContext = createTestContext();
    emit(otherContext, 1);
    expect(dataOf(otherContext)).toEqual(dataOf(firstContext));
  });
});
