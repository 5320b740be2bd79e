// Floors, holds and rejections of change sets with transfers within one batch.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createSample,
  eventAbout,
  NOW,
  newId,
  ok,
  rejectedWith,
  type Sample,
  setOf,
  transfer,
} from '../../../test/kit/app/sample-tables.ts';
import type { FreezeRow } from '../../ledger/transfer.ts';
import { connectLane } from '../db/lane.ts';
import { col, table } from '../db/table.ts';
import type { ChangeSet, Outcome } from './change-set.ts';
import { type Committer, createCommitter } from './committer.ts';

let sample: Sample;
let committer: Committer;

beforeAll(async () => {
  sample = await createSample();
  committer = createCommitter({ connect: () => connectLane(sample.url) });
});

afterAll(async () => {
  await committer.close();
  await sample.drop();
});

const ledger = table('ledger_accounts', {
  id: col.text,
  currency: col.text,
  balance: col.int8,
  held: col.int8,
  floor: col.int8.null,
  frozen: col.bool,
  created_at: col.time,
});

const commit = (changes: Partial<ChangeSet>): Promise<Outcome> => committer.commit(setOf(changes));

/** Submits all change sets in the same tick. */
const commitTogether = (...changes: Partial<ChangeSet>[]) =>
  Promise.allSettled(changes.map(commit));

const freeze = (
  account: string,
  frozen: boolean,
  mustBeEmpty = false,
): { freezes: FreezeRow[] } => ({
  freezes: [{ account, frozen, empty: mustBeEmpty }],
});
const isFrozen = async (id: string) =>
  (await sample.sql('select frozen from ledger_accounts where id = $1', [id]))[0]?.frozen;

describe('committer', () => {
  it('keeps the floor at every step of a batch and rejects only change sets below it', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, 0n);
    const outcomes = await commitTogether(
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(b, a, 30n)] },
      { transfers: [transfer(a, b, 60n)] },
      { transfers: [transfer(a, b, 10n), transfer(a, b, 10n)] },
    );
    const insufficientFunds = rejectedWith({ reason: 'insufficient-funds', account: a });
    expect(outcomes).toEqual([ok, insufficientFunds, ok, ok, insufficientFunds]);
    expect(await sample.holdings(a, b)).toEqual(['10/0', '90/0']);
  });

  it('holds funds, then posts or voids them once', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, null);
    const firstHold = transfer(a, b, 60n, { phase: 'pending' });
    const secondHold = transfer(a, b, 40n, { phase: 'pending' });
    await commitTogether({ transfers: [firstHold] }, { transfers: [secondHold] });
    expect(await sample.holdings(a, b)).toEqual(['100/100', '0/0']);
    expect(await commitTogether({ transfers: [transfer(a, b, 1n)] })).toEqual([
      rejectedWith({ reason: 'insufficient-funds', account: a }),
    ]);
    const duplicateRejection = rejectedWith({
      reason: 'constraint',
      constraint: 'ledger_transfers_pkey',
    });
    expect(
      await commitTogether(
        { transfers: [{ ...firstHold, phase: 'post' }] },
        { transfers: [{ ...firstHold, phase: 'post' }] },
        { transfers: [{ ...secondHold, phase: 'void' }] },
        { transfers: [{ ...secondHold, phase: 'post' }] },
      ),
    ).toEqual([ok, duplicateRejection, ok, duplicateRejection]);
    expect(await sample.holdings(a, b)).toEqual(['40/0', '60/0']);
    const steps = await sample.sql(
      'select step, phase from ledger_transfers where debit = $1 order by transaction_id, step',
      [a],
    );
    expect(steps).toEqual([
      { step: 'pay', phase: 'pending' },
      { step: 'pay!', phase: 'post' },
      { step: 'pay', phase: 'pending' },
      { step: 'pay!', phase: 'void' },
    ]);
  });

  it('posts or voids a hold only with its original accounts and amount', async () => {
    const [a = '', b = '', c = ''] = await sample.accounts(100n, 0n, 0n);
    const hold = transfer(a, b, 60n, { phase: 'pending' });
    await commit({ transfers: [hold] });
    const post = { ...hold, phase: 'post' } as const;
    const unknownHold = rejectedWith({ reason: 'constraint', constraint: 'ledger_pending' });
    const outcomes = await commitTogether(
      { transfers: [{ ...post, amount: 59n }] },
      { transfers: [{ ...post, credit: c }] },
      { transfers: [{ ...post, step: 'other' }] },
      { transfers: [{ ...post, phase: 'void', debit: c }] },
      { transfers: [transfer(a, b, 1n)] },
    );
    expect(outcomes).toEqual([unknownHold, unknownHold, unknownHold, unknownHold, ok]);
    expect(await sample.holdings(a, b, c)).toEqual(['99/60', '1/0', '0/0']);
    const transferOfOne = transfer(a, b, 1n);
    await commit({ transfers: [transferOfOne] });
    const postingChanges = { transfers: [{ ...transferOfOne, phase: 'post' } as const] };
    expect(await commitTogether(postingChanges)).toEqual([unknownHold]);
    expect(await commit({ transfers: [hold, post] })).toMatchObject({ ok: false });
    const newHold = transfer(a, b, 5n, { phase: 'pending' });
    expect(await commit({ transfers: [newHold, { ...newHold, phase: 'post' }] })).toEqual({
      ok: true,
    });
    expect(await sample.holdings(a, b)).toEqual(['93/60', '7/0']);
  });

  it('rejects another currency and an unknown account without affecting the batch', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, 0n);
    const euroAccount = newId('account');
    await sample.account(euroAccount, 0n, 0n, 'EUR');
    const currencyRejection = rejectedWith({ reason: 'constraint', constraint: 'ledger_currency' });
    const unknownAccountOutcome = rejectedWith({
      reason: 'constraint',
      constraint: 'ledger_account',
    });
    const outcomes = await commitTogether(
      { transfers: [transfer(a, b, 1n)] },
      { transfers: [transfer(a, euroAccount, 1n)] },
      { transfers: [transfer(a, b, 1n, { currency: 'EUR' })] },
      { transfers: [transfer(a, euroAccount, 1n, { phase: 'pending' })] },
      { transfers: [transfer(a, 'unknown', 1n)] },
      { transfers: [transfer(a, 'unknown', 1n, { phase: 'pending' })] },
      { transfers: [transfer(a, b, 1n), transfer(b, a, 1n, { currency: 'EUR' })] },
      { transfers: [transfer(a, b, 1n)] },
    );
    expect(outcomes).toEqual([
      ok,
      currencyRejection,
      currencyRejection,
      currencyRejection,
      unknownAccountOutcome,
      unknownAccountOutcome,
      currencyRejection,
      ok,
    ]);
    expect(await sample.holdings(a, b, euroAccount)).toEqual(['98/0', '2/0', '0/0']);
  });

  it('posts to an account that the same change set opens', async () => {
    const [a = ''] = await sample.accounts(100n);
    const accountInsert = (id: string) => ({
      table: ledger,
      row: {
        id,
        currency: 'USD',
        balance: 0n,
        held: 0n,
        floor: 0n,
        frozen: false,
        created_at: NOW,
      },
    });
    const [accountId, otherAccountId] = [newId('account'), newId('account')];
    const outcomes = await commitTogether(
      { inserts: [accountInsert(accountId)], transfers: [transfer(a, accountId, 60n)] },
      { inserts: [accountInsert(otherAccountId)], transfers: [transfer(a, otherAccountId, 60n)] },
      { transfers: [transfer(accountId, a, 5n)] },
    );
    expect(outcomes).toEqual([ok, rejectedWith({ reason: 'insufficient-funds', account: a }), ok]);
    expect(await sample.holdings(a, accountId, otherAccountId)).toEqual(['45/0', '55/0', '']);
  });

  it('stores the committed balance in events that name an account', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, 0n);
    const [firstEvent, secondEvent, thirdEvent] = [eventAbout(a), eventAbout(a), eventAbout(null)];
    await commitTogether(
      { transfers: [transfer(a, b, 10n)], events: [firstEvent] },
      { transfers: [transfer(a, b, 5n, { phase: 'pending' })], events: [secondEvent, thirdEvent] },
    );
    const balances = await sample.sql(
      'select balance, held from events where id = any($1) order by id collate "C"',
      [[firstEvent.id, secondEvent.id, thirdEvent.id]],
    );
    expect(balances).toEqual([
      { balance: '90', held: '5' },
      { balance: '90', held: '5' },
      { balance: null, held: null },
    ]);
  });
});

describe('freezes', () => {
  it('reject new transfers of a frozen account, and its holds are posted or voided', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, 100n);
    const hold = transfer(a, b, 10n, { phase: 'pending' });
    const secondHold = transfer(a, b, 20n, { phase: 'pending' });
    await commit({ transfers: [hold, secondHold] });
    expect(await commit(freeze(a, true))).toEqual({ ok: true });
    expect(await isFrozen(a)).toBe(true);
    const frozenRejection = rejectedWith({ reason: 'frozen', account: a });
    expect(
      await commitTogether(
        { transfers: [transfer(a, b, 1n)] },
        { transfers: [transfer(b, a, 1n)] },
        { transfers: [transfer(a, b, 1n, { phase: 'pending' })] },
        { transfers: [transfer(b, a, 1n, { phase: 'pending' })] },
        { transfers: [{ ...hold, phase: 'post' }] },
        { transfers: [{ ...secondHold, phase: 'void' }] },
        { transfers: [transfer(b, a, 5n, { force: true })] },
        { transfers: [transfer(b, a, 5n, { phase: 'pending', force: true })] },
      ),
    ).toEqual([frozenRejection, frozenRejection, frozenRejection, frozenRejection, ok, ok, ok, ok]);
    expect(await sample.holdings(a, b)).toEqual(['95/0', '105/5']);
    await commit(freeze(a, false));
    expect(await commit({ transfers: [transfer(a, b, 95n)] })).toEqual({ ok: true });
  });

  it('apply in the order of the change sets of a batch', async () => {
    const [a = '', b = ''] = await sample.accounts(100n, 0n);
    const pay = () => ({ transfers: [transfer(a, b, 1n)] });
    const frozenRejection = rejectedWith({ reason: 'frozen', account: a });
    const { careful } = committer.stats();
    const changeSets = [pay(), freeze(a, true), pay(), freeze(a, false), pay(), freeze(a, true)];
    expect(await commitTogether(...changeSets)).toEqual([ok, ok, frozenRejection, ok, ok, ok]);
    expect(committer.stats().careful).toBe(careful + 1);
    expect(await isFrozen(a)).toBe(true);
    expect(await sample.holdings(a, b)).toEqual(['98/0', '2/0']);
  });

  it('need one round trip without conflicts', async () => {
    const [a = '', b = '', c = ''] = await sample.accounts(100n, 0n, 0n);
    const { careful } = committer.stats();
    const closingChanges = { transfers: [transfer(a, b, 100n)], ...freeze(a, true, true) };
    const laterTransfer = { transfers: [transfer(b, a, 7n, { force: true })] };
    expect(await commitTogether(closingChanges, laterTransfer, freeze(c, true))).toEqual([
      ok,
      ok,
      ok,
    ]);
    expect(committer.stats().careful).toBe(careful);
    expect([await isFrozen(a), await isFrozen(b), await isFrozen(c)]).toEqual([true, false, true]);
    expect(await sample.holdings(a, b)).toEqual(['7/0', '93/0']);
  });

  it('are rejected if the account must be empty and has funds', async () => {
    const [a = '', b = '', c = ''] = await sample.accounts(100n, 0n, null);
    await commit({ transfers: [transfer(c, b, 5n)] });
    await commit({ transfers: [transfer(b, c, 5n, { phase: 'pending' })] });
    expect(await commitTogether(freeze(a, true, true), freeze(b, true, true))).toEqual([
      rejectedWith({ reason: 'not-empty', account: a }),
      rejectedWith({ reason: 'not-empty', account: b }),
    ]);
    expect([await isFrozen(a), await isFrozen(b)]).toEqual([false, false]);
    const unknownAccount = rejectedWith({ reason: 'constraint', constraint: 'ledger_account' });
    expect(
      await commitTogether(freeze('unknown', true), { transfers: [transfer(a, c, 1n)] }),
    ).toEqual([unknownAccount, ok]);
  });

  it('apply to a new account and are rejected for system accounts', async () => {
    const [a = '', bank = ''] = await sample.accounts(100n, null);
    const id = newId('account');
    const row = { id, currency: 'USD', balance: 0n, held: 0n, floor: 0n, frozen: true };
    const inserts = [{ table: ledger, row: { ...row, created_at: NOW } }];
    const pay = (force: boolean) => [transfer(a, id, 1n, { force })];
    expect(await commitTogether({ inserts, transfers: pay(false) })).toEqual([
      rejectedWith({ reason: 'frozen', account: id }),
    ]);
    expect(await commit({ inserts, transfers: pay(true) })).toEqual({ ok: true });
    expect(await commit(freeze(bank, true))).toEqual({
      ok: false,
      rejection: { reason: 'constraint', constraint: 'ledger_system_account_not_frozen' },
    });
  });

  it('are rejected after a concurrent deposit, or prevent the deposit', async () => {
    const secondCommitter = createCommitter({ connect: () => connectLane(sample.url) });
    try {
      const acceptedCounts = { deposit: 0, freeze: 0 };
      for (let round = 0; round < 60; round++) {
        const [a = '', b = ''] = await sample.accounts(0n, null);
        const [firstDeposit, secondDeposit] = [
          transfer(b, a, 1n),
          transfer(b, a, 1n, { phase: round % 2 ? 'pending' : 'posted' }),
        ];
        const [firstOutcome, secondOutcome, freezeOutcome] = await Promise.all([
          secondCommitter.commit(setOf({ transfers: [firstDeposit] })),
          secondCommitter.commit(setOf({ transfers: [secondDeposit] })),
          commit(freeze(a, true, true)),
        ]);
        const isAccountFrozen = await isFrozen(a);
        expect(freezeOutcome?.ok).toBe(isAccountFrozen);
        if (isAccountFrozen) {
          acceptedCounts.freeze++;
          expect(firstOutcome).toEqual({ ok: false, rejection: { reason: 'frozen', account: a } });
          expect(await sample.holdings(a)).toEqual(['0/0']);
        } else {
          acceptedCounts.deposit++;
          expect([firstOutcome?.ok, secondOutcome?.ok]).toEqual([true, true]);
        }
      }
      expect(acceptedCounts.deposit + acceptedCounts.freeze).toBe(60);
    } finally {
      await secondCommitter.close();
    }
  });
});
