import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { transfer } from '../../test/sample-tables.ts';
import type { TransferRow } from './change-set.ts';
import {
  type Account,
  type Books,
  effectsOf,
  emptyBooks,
  judgeTransfers,
  slipIn,
} from './postings.ts';

const account = (balance: bigint, floor: bigint | null = 0n, currency = 'USD'): Account => ({
  balance,
  held: 0n,
  floor,
  currency,
});

const booksOf = (accounts: Record<string, Account>): Books => ({
  ...emptyBooks(),
  accounts: new Map(Object.entries(accounts)),
});

const judge = (books: Books, ...transfers: TransferRow[]) =>
  judgeTransfers(transfers, new Map(), books);

const hold = (amount: bigint) =>
  transfer('a', 'b', amount, { transaction_id: 'T', step: 's', phase: 'pending' });

describe('effectsOf', () => {
  it('tells the lowest point on the way, not just the end', () => {
    const effects = effectsOf([transfer('a', 'b', 10n), transfer('c', 'a', 30n), hold(5n)]);
    expect(effects).toEqual([
      { id: 'a', currency: 'USD', net: 20n, hold: 5n, low: -10n },
      { id: 'b', currency: 'USD', net: 10n, hold: 0n, low: 0n },
      { id: 'c', currency: 'USD', net: -30n, hold: 0n, low: -30n },
    ]);
  });

  it('leaves what can be spent alone when a hold is posted, and gives it back on release', () => {
    const post = { ...hold(7n), phase: 'post' } as const;
    expect(effectsOf([post])?.[0]).toMatchObject({ net: -7n, hold: -7n, low: 0n });
    expect(effectsOf([post])?.[1]).toMatchObject({ id: 'b', net: 7n });
    const release = { ...hold(7n), phase: 'release' } as const;
    expect(effectsOf([release])).toEqual([
      { id: 'a', currency: 'USD', net: 0n, hold: -7n, low: 0n },
    ]);
  });

  it('gives up on two currencies for one account', () => {
    expect(effectsOf([transfer('a', 'b', 1n), transfer('c', 'a', 1n, { currency: 'EUR' })])).toBe(
      undefined,
    );
  });

  it('lets a batch pass exactly when every transfer of it passes one after the other', () => {
    const id = fc.constantFrom('a', 'b', 'c');
    const move = fc
      .record({ from: id, to: id, amount: fc.bigInt({ min: 1n, max: 40n }), pending: fc.boolean() })
      .filter(({ from, to }) => from !== to)
      .map(({ from, to, amount, pending }) =>
        transfer(from, to, amount, { phase: pending ? 'pending' : 'posted' }),
      );
    fc.assert(
      fc.property(fc.array(move, { maxLength: 12 }), (transfers) => {
        const start = { a: account(60n), b: account(20n, -10n), c: account(0n, null) };
        const books = booksOf(start);
        const serial = transfers.every((each) => !judge(books, each));
        const effects = effectsOf(transfers) ?? [];
        const passes = effects.every((effect) => {
          const { balance, floor } = start[effect.id as 'a'];
          return floor === null || balance + effect.low >= floor;
        });
        expect(passes).toBe(serial);
        if (!serial) return;
        for (const { id: name, net, hold: held } of effects) {
          const was = start[name as 'a'];
          expect(books.accounts.get(name)).toMatchObject({ balance: was.balance + net, held });
        }
      }),
    );
  });
});

describe('judgeTransfers', () => {
  it('refuses what would go below the floor, and then changes nothing', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    const refusal = judge(books, transfer('a', 'b', 6n), transfer('a', 'b', 6n));
    expect(refusal).toEqual({ why: 'funds', account: 'a' });
    expect(books.accounts.get('a')?.balance).toBe(10n);
    expect(books.transfers.size).toBe(0);
  });

  it('counts held money as not spendable', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    expect(judge(books, hold(6n))).toBe(undefined);
    expect(judge(books, transfer('a', 'b', 5n))).toEqual({ why: 'funds', account: 'a' });
    expect(judge(books, transfer('a', 'b', 4n))).toBe(undefined);
  });

  it('resolves a hold once, and only as it was made', () => {
    const books = booksOf({ a: account(10n), b: account(0n) });
    const post = { ...hold(6n), phase: 'post' } as const;
    const notPending = { why: 'constraint', constraint: 'ledger_pending' };
    expect(judge(books, post)).toEqual(notPending);
    expect(judge(books, hold(6n))).toBe(undefined);
    expect(judge(books, { ...post, amount: 5n })).toEqual(notPending);
    expect(judge(books, { ...post, credit: 'c' })).toEqual(notPending);
    expect(judge(books, post)).toBe(undefined);
    const taken = { why: 'constraint', constraint: 'ledger_transfers_pkey' };
    expect(judge(books, post)).toEqual(taken);
    expect(judge(books, { ...post, phase: 'release' })).toEqual(taken);
    expect(books.accounts.get('a')).toMatchObject({ balance: 4n, held: 0n });
  });

  it('knows accounts that the same change set opens', () => {
    const books = booksOf({ a: account(10n) });
    expect(judge(books, transfer('a', 'n', 1n))).toEqual({
      why: 'constraint',
      constraint: 'ledger_account',
    });
    const opened = new Map([['n', account(0n)]]);
    expect(judgeTransfers([transfer('a', 'n', 1n)], opened, books)).toBe(undefined);
    expect(books.accounts.get('n')?.balance).toBe(1n);
  });

  it('refuses the currency of another account', () => {
    const books = booksOf({ a: account(10n), e: account(10n, 0n, 'EUR') });
    expect(judge(books, transfer('a', 'e', 1n))).toEqual({
      why: 'constraint',
      constraint: 'ledger_currency',
    });
  });
});

describe('slipIn', () => {
  it.each([
    ['ledger_transfers_amount_check', [transfer('a', 'b', 0n)]],
    ['ledger_transfers_amount_check', [transfer('a', 'b', -1n)]],
    ['ledger_transfers_check', [transfer('a', 'a', 1n)]],
    ['ledger_step', [transfer('a', 'b', 1n, { step: 'pay!' })]],
    ['ledger_currency', [transfer('a', 'b', 1n), transfer('b', 'c', 1n, { currency: 'EUR' })]],
  ])('names %s', (constraint, transfers) => {
    expect(slipIn(transfers)).toEqual({ why: 'constraint', constraint });
  });

  it('lets different currencies pass on different accounts', () => {
    expect(slipIn([transfer('a', 'b', 1n), transfer('c', 'd', 1n, { currency: 'EUR' })])).toBe(
      undefined,
    );
  });
});
