// Effects of transfers and freezes on ledger accounts. A batch is compared with the sequential application
// of its transfers.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transfer } from '../../test/kit/app/sample-tables.ts';
import {
  type Account,
  applyPostings,
  type Books,
  emptyBooks,
  type Postings,
  sumOf,
  validateTransfers,
} from './books.ts';
import type { TransferRow } from './transfer.ts';

const account = (balance: bigint, floor: bigint | null = 0n, currency = 'USD'): Account => ({
  balance,
  held: 0n,
  floor,
  currency,
  frozen: false,
});

const booksOf = (accounts: Record<string, Account>): Books => ({
  ...emptyBooks(),
  accounts: new Map(Object.entries(accounts)),
});

const applyTransfers = (books: Books, ...transfers: TransferRow[]) =>
  applyPostings({ transfers, freezes: [] }, new Map(), books);

const effectsOf = (transfers: TransferRow[]) => sumOf([{ transfers, freezes: [] }])?.effects;

const postingsOf = (...transfers: TransferRow[]): Postings => ({ transfers, freezes: [] });
const forcedTransfer = (from: string, to: string, amount: bigint) =>
  transfer(from, to, amount, { force: true });

const hold = (amount: bigint) =>
  transfer('a', 'b', amount, { transaction_id: 'T', step: 's', phase: 'pending' });

describe('effectsOf', () => {
  it('includes the lowest intermediate value', () => {
    const effects = effectsOf([transfer('a', 'b', 10n), transfer('c', 'a', 30n), hold(5n)]);
    expect(effects).toEqual([
      { id: 'a', currency: 'USD', net: 20n, hold: 5n, low: -10n, guarded: true },
      { id: 'b', currency: 'USD', net: 10n, hold: 0n, low: 0n, guarded: true },
      { id: 'c', currency: 'USD', net: -30n, hold: 0n, low: -30n, guarded: true },
    ]);
  });

  it('leaves the available balance unchanged by a post, and restores it by a void', () => {
    const post = { ...hold(7n), phase: 'post' } as const;
    expect(effectsOf([post])?.[0]).toMatchObject({ net: -7n, hold: -7n, low: 0n });
    expect(effectsOf([post])?.[1]).toMatchObject({ id: 'b', net: 7n });
    const voidTransfer = { ...hold(7n), phase: 'void' } as const;
    expect(effectsOf([voidTransfer])).toEqual([
      { id: 'a', currency: 'USD', net: 0n, hold: -7n, low: 0n, guarded: false },
    ]);
  });

  it('is undefined for two currencies of one account', () => {
    expect(effectsOf([transfer('a', 'b', 1n), transfer('c', 'a', 1n, { currency: 'EUR' })])).toBe(
      undefined,
    );
  });

  it('accepts a batch exactly if each transfer is valid after the previous ones', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const anyTransfer = fc
      .record({ from: id, to: id, amount: fc.bigInt({ min: 1n, max: 40n }), pending: fc.boolean() })
      .filter(({ from, to }) => from !== to)
      .map(({ from, to, amount, pending }) =>
        transfer(from, to, amount, { phase: pending ? 'pending' : 'posted' }),
      );
    fc.assert(
      fc.property(fc.array(anyTransfer, { maxLength: 12 }), (transfers) => {
        const initialAccounts = { a: account(60n), b: account(20n, -10n), c: account(0n, null) };
        const books = booksOf(initialAccounts);
        const isSequenceValid = transfers.every((each) => !applyTransfers(books, each));
        const effects = effectsOf(transfers) ?? [];
        const isBatchValid = effects.every((effect) => {
          const { balance, floor } = initialAccounts[effect.id as 'a'];
          return floor === null || balance + effect.low >= floor;
        });
        expect(isBatchValid).toBe(isSequenceValid);
        if (!isSequenceValid) return;
        for (const { id: accountId, net, hold: held } of effects) {
          const previous = initialAccounts[accountId as 'a'];
          expect(books.accounts.get(accountId)).toMatchObject({
            balance: previous.balance + net,
            held,
          });
        }
      }),
    );
  });
});

describe('applyPostings', () => {
  it('rejects a change set with a transfer below the floor, without a change', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    const rejection = applyTransfers(books, transfer('a', 'b', 6n), transfer('a', 'b', 6n));
    expect(rejection).toEqual({ reason: 'insufficient-funds', account: 'a' });
    expect(books.accounts.get('a')?.balance).toBe(10n);
    expect(books.transfers.size).toBe(0);
  });

  it('excludes held funds from the available balance', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    expect(applyTransfers(books, hold(6n))).toBe(undefined);
    expect(applyTransfers(books, transfer('a', 'b', 5n))).toEqual({
      reason: 'insufficient-funds',
      account: 'a',
    });
    expect(applyTransfers(books, transfer('a', 'b', 4n))).toBe(undefined);
  });

  it('resolves a hold once, and only with its original accounts and amount', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    const post = { ...hold(6n), phase: 'post' } as const;
    const notPendingRejection = { reason: 'constraint', constraint: 'ledger_pending' };
    expect(applyTransfers(books, post)).toEqual(notPendingRejection);
    expect(applyTransfers(books, hold(6n))).toBe(undefined);
    expect(applyTransfers(books, { ...post, amount: 5n })).toEqual(notPendingRejection);
    expect(applyTransfers(books, { ...post, credit: 'c' })).toEqual(notPendingRejection);
    expect(applyTransfers(books, post)).toBe(undefined);
    const duplicateRejection = { reason: 'constraint', constraint: 'ledger_transfers_pkey' };
    expect(applyTransfers(books, post)).toEqual(duplicateRejection);
    expect(applyTransfers(books, { ...post, phase: 'void' })).toEqual(duplicateRejection);
    expect(books.accounts.get('a')).toMatchObject({ balance: 4n, held: 0n });
  });

  it('uses accounts that the same change set opens', () => {
    const books = booksOf({ a: account(10n) });
    expect(applyTransfers(books, transfer('a', 'n', 1n))).toEqual({
      reason: 'constraint',
      constraint: 'ledger_account',
    });
    const openedAccounts = new Map([['n', account(0n)]]);
    expect(applyPostings(postingsOf(transfer('a', 'n', 1n)), openedAccounts, books)).toBe(
      undefined,
    );
    expect(books.accounts.get('n')?.balance).toBe(1n);
  });

  it('rejects a transfer between accounts of different currencies', () => {
    const books = booksOf({ a: account(10n), e: account(10n, 0n, 'EUR') });
    expect(applyTransfers(books, transfer('a', 'e', 1n))).toEqual({
      reason: 'constraint',
      constraint: 'ledger_currency',
    });
  });
});

describe('validateTransfers', () => {
  it.each([
    ['ledger_transfers_amount_check', [transfer('a', 'b', 0n)]],
    ['ledger_transfers_amount_check', [transfer('a', 'b', -1n)]],
    ['ledger_transfers_check', [transfer('a', 'a', 1n)]],
    ['ledger_step', [transfer('a', 'b', 1n, { step: 'pay!' })]],
    ['ledger_currency', [transfer('a', 'b', 1n), transfer('b', 'c', 1n, { currency: 'EUR' })]],
  ])('rejects a violation of %s', (constraint, transfers) => {
    expect(validateTransfers(transfers)).toEqual({ reason: 'constraint', constraint });
  });

  it('allows different currencies on different accounts', () => {
    expect(
      validateTransfers([transfer('a', 'b', 1n), transfer('c', 'd', 1n, { currency: 'EUR' })]),
    ).toBe(undefined);
  });
});

describe('freezes', () => {
  const freeze = (account: string, frozen: boolean, empty = false): Postings => ({
    transfers: [],
    freezes: [{ account, frozen, empty }],
  });
  const noAccounts = new Map();
  const booksWithFrozen = (frozen: boolean) =>
    booksOf({ a: { ...account(10n), frozen }, b: account(5n) }) satisfies Books;

  it.each([
    ['a debit', transfer('a', 'b', 1n)],
    ['a credit', transfer('b', 'a', 1n)],
    ['a hold on the account', transfer('a', 'b', 1n, { phase: 'pending' })],
    ['a hold in favor of the account', transfer('b', 'a', 1n, { phase: 'pending' })],
  ])('reject new transfers: %s', (_, blockedTransfer) => {
    expect(applyTransfers(booksWithFrozen(true), blockedTransfer)).toEqual({
      reason: 'frozen',
      account: 'a',
    });
    expect(applyTransfers(booksWithFrozen(false), blockedTransfer)).toBe(undefined);
    expect(applyTransfers(booksWithFrozen(true), { ...blockedTransfer, force: true })).toBe(
      undefined,
    );
  });

  it('allow existing holds to be posted and voided', () => {
    const books = booksWithFrozen(false);
    applyTransfers(books, hold(3n));
    applyTransfers(books, { ...hold(2n), step: 'other' });
    expect(applyPostings(freeze('a', true), noAccounts, books)).toBe(undefined);
    expect(applyTransfers(books, { ...hold(3n), phase: 'post' })).toBe(undefined);
    expect(applyTransfers(books, { ...hold(2n), step: 'other', phase: 'void' })).toBe(undefined);
    expect(books.accounts.get('a')).toMatchObject({ balance: 7n, held: 0n, frozen: true });
  });

  it('apply after the transfers of the same change set', () => {
    const books = booksWithFrozen(false);
    const postings = { ...freeze('a', true, true), transfers: [transfer('a', 'b', 10n)] };
    expect(applyPostings(postings, noAccounts, books)).toBe(undefined);
    expect(applyTransfers(books, transfer('b', 'a', 1n))).toEqual({
      reason: 'frozen',
      account: 'a',
    });
    expect(applyPostings(freeze('a', false), noAccounts, books)).toBe(undefined);
    expect(applyTransfers(books, transfer('b', 'a', 1n))).toBe(undefined);
  });

  it('are rejected for an account with funds that must be empty', () => {
    const books = booksWithFrozen(false);
    const notEmptyRejection = { reason: 'not-empty', account: 'a' };
    expect(applyPostings(freeze('a', true, true), noAccounts, books)).toEqual(notEmptyRejection);
    expect(applyTransfers(books, transfer('a', 'b', 1n))).toBe(undefined);
    const booksWithHold = booksOf({ a: account(0n) });
    booksWithHold.accounts.set('a', { ...account(1n), held: 1n });
    expect(applyPostings(freeze('a', true, true), noAccounts, booksWithHold)).toEqual(
      notEmptyRejection,
    );
    const unknownAccountRejection = { reason: 'constraint', constraint: 'ledger_account' };
    expect(applyPostings(freeze('unknown', true), noAccounts, books)).toEqual(
      unknownAccountRejection,
    );
  });

  it('have a sum with the unfrozen accounts and the final amounts of emptied accounts', () => {
    const sum = sumOf([
      postingsOf(forcedTransfer('a', 'b', 4n), transfer('b', 'c', 1n)),
      freeze('a', true, true),
      postingsOf(forcedTransfer('b', 'a', 3n)),
    ]);
    const guardedIds = sum?.effects.filter((each) => each.guarded).map((each) => each.id);
    expect(guardedIds).toEqual(['b', 'c']);
    expect(sum?.freezes).toEqual([{ id: 'a', frozen: true, balance: 3n, held: 0n }]);
  });

  it('have no sum with a later transfer of the frozen account, unless it is unfrozen before', () => {
    const payment = postingsOf(transfer('b', 'a', 1n));
    const pendingTransfer = postingsOf(transfer('b', 'a', 1n, { phase: 'pending' }));
    for (const postings of [payment, pendingTransfer]) {
      expect(sumOf([freeze('a', true), postings])).toBe(undefined);
      expect(sumOf([postings, freeze('a', true)])).toBeDefined();
    }
    const sum = sumOf([freeze('a', true), freeze('a', false), payment]);
    expect(sum?.effects.find((each) => each.id === 'a')).toMatchObject({ guarded: false });
  });

  it('list the credit account of holds once', () => {
    const pendingTransfer = (currency: string) =>
      transfer('b', 'a', 1n, { phase: 'pending', currency });
    expect(
      sumOf([
        postingsOf(pendingTransfer('USD')),
        postingsOf({ ...pendingTransfer('USD'), force: true }),
      ])?.named,
    ).toEqual([{ id: 'a', currency: 'USD', guarded: true }]);
    const otherHold = { ...pendingTransfer('EUR'), debit: 'c' };
    expect(sumOf([postingsOf(pendingTransfer('USD')), postingsOf(otherHold)])).toBe(undefined);
  });
});
