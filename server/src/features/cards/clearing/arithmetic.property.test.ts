// What holds of a payment with a card whatever its network, its issuer and the operator say, in any
// order: the ledger has moved what the facts say, nothing is given back that was not taken, and
// what is over is square.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CardFacts,
  fundingDebitAmountOf,
  hasPendingFundingDebit,
  newFacts,
  refundedOf,
  settledOf,
} from '../../payments/card-payments/facts.ts';
import { type CardStatus, cardPaymentStates } from '../../payments/card-payments/states.ts';
import {
  advised,
  type Change,
  cleared,
  eventAfter,
  excessOf,
  expired,
  type Lack,
  lackingFor,
  MAX_PIECES,
  NO_LACK,
  pullEnded,
  refuseMorePulls,
  resolved,
  returned,
  undone,
  unreturned,
} from './arithmetic.ts';

type Purse = 'account' | 'cards' | 'external_settlement' | 'losses';

interface Life {
  card: CardFacts;
  status: CardStatus;
  isCardClosed: boolean;
  /** The account could not be debited once, so its refunds may exceed what it paid. */
  isOutOfReach: boolean;
  purses: Record<Purse, bigint>;
  held: bigint;
  steps: Set<string>;
}

const AUTHORIZED = 100n;

/** A payment of 100 whose money is set aside. */
const begun = (): Life => ({
  card: {
    ...newFacts(AUTHORIZED),
    fundingDebits: [{ amount: AUTHORIZED, status: 'PENDING' }],
  },
  status: 'AUTHORIZED',
  isCardClosed: false,
  isOutOfReach: false,
  purses: { account: 0n, cards: 0n, external_settlement: 0n, losses: 0n },
  held: AUTHORIZED,
  steps: new Set(['pull.1']),
});

function noteStep(life: Life, step: string) {
  expect(life.steps.has(step)).toBe(false);
  life.steps.add(step);
}

/** Books what a change moves, as the ledger would. */
function book(life: Life, { card, steps }: Change, failed = false, emits = true) {
  for (const { step, verb, amount, from, to } of steps) {
    expect(amount > 0n).toBe(true);
    noteStep(life, verb === 'transfer' ? step : `${step}!`);
    if (verb !== 'transfer') life.held -= amount;
    if (verb === 'void') continue;
    life.purses[from as Purse] -= amount;
    life.purses[to as Purse] += amount;
  }
  const event = emits || failed ? eventAfter(life.status, card, failed) : undefined;
  life.card = card;
  if (event) life.status = cardPaymentStates.next(life.status, event);
}

function lackOf(life: Life, amount: bigint, canPay: boolean): Lack {
  if (amount === 0n) return NO_LACK;
  if (!canPay) return { amount, fate: 'failed' };
  noteStep(life, `pull.${life.card.fundingDebits.length + 1}`);
  life.held += amount;
  return { amount, fate: 'pulled' };
}

type Act = (life: Life) => void;

const clear =
  (amount: bigint, canPay: boolean): Act =>
  (life) => {
    const missing = lackingFor(life.card, settledOf(life.card) + amount, amount);
    const lack: Lack = life.isCardClosed
      ? { amount: missing, fate: 'lost' }
      : lackOf(life, missing, canPay);
    book(life, cleared(life.card, amount, { direction: 'DEBIT', lack }), lack.fate === 'failed');
  };

const advise =
  (total: bigint, canPay: boolean): Act =>
  (life) => {
    if (life.card.closed) return;
    const missing = lackingFor(life.card, total, total - life.card.authorized);
    const lack = life.isCardClosed || !canPay ? NO_LACK : lackOf(life, missing, canPay);
    book(life, advised(life.card, total, lack));
  };

const giveBack =
  (share: bigint): Act =>
  (life) => {
    const net = settledOf(life.card) - refundedOf(life.card);
    const amount = (net * share) / 4n;
    if (amount > 0n) book(life, returned(life.card, amount));
  };

const reverse: Act = (life) => {
  if (life.card.refunds.length === 0) return;
  const isWhole = life.status === 'REFUNDED';
  if (isWhole) life.status = 'SETTLED';
  book(life, unreturned(life.card), false, !isWhole);
};

const endPull =
  (place: number, taken: boolean): Act =>
  (life) => {
    const open = life.card.fundingDebits.flatMap((each, at) =>
      each.status === 'PENDING' ? [at] : [],
    );
    const at = open[place % Math.max(open.length, 1)];
    if (at === undefined) return;
    const change = pullEnded(life.card, at, taken);
    const isStuck = change.card.fundingDebits[at]?.status === 'STUCK';
    // A failed debit is voided if nothing is owed, and needs a decision otherwise.
    if (!taken) expect(isStuck || life.card.closed).toBe(true);
    book(life, change, isStuck, false);
  };

const resolve =
  (outcome: 'collect' | 'write-off', reachable = true): Act =>
  (life) => {
    if (life.status !== 'EXCEPTION' || hasPendingFundingDebit(life.card)) return;
    const { card, steps } = resolved(life.card, { outcome, reachable });
    if (!reachable) life.isOutOfReach = true;
    life.status = 'SETTLED';
    book(life, { card, steps });
    expect(card.closed).toBe(true);
  };

/** An approval may prove late as long as nothing else happened to the payment. */
const undo: Act = (life) => {
  const { closed, clearings, refunds, fundingDebits, writtenOff, authorized } = life.card;
  const isUntouched = refunds.length === 0 && fundingDebits.length === 1 && writtenOff === 0n;
  const own = clearings.length === (closed ? 1 : 0) && authorized === AUTHORIZED;
  if (!isUntouched || !own || life.card.undoneClearings !== null) return;
  const change = undone(life.card, 'DEBIT');
  life.status = 'SETTLED';
  book(life, change);
};

const amount = fc.bigInt({ min: 1n, max: 130n });
const word: fc.Arbitrary<Act> = fc.oneof(
  fc.record({ amount, canPay: fc.boolean() }).map((each) => clear(each.amount, each.canPay)),
  fc.record({ amount, canPay: fc.boolean() }).map((each) => advise(each.amount, each.canPay)),
  fc.bigInt({ min: 1n, max: 4n }).map(giveBack),
  fc.constant(giveBack(4n)),
  fc.constant((life: Life) => {
    if (!life.card.closed) book(life, expired(life.card));
  }),
  fc.nat(3).map((place) => endPull(place, true)),
  fc.nat(3).map((place) => endPull(place, false)),
  fc.constant(resolve('collect')),
);
const anAct: fc.Arbitrary<Act> = fc.oneof(
  { arbitrary: word, weight: 9 },
  { arbitrary: fc.constant(reverse), weight: 1 },
  { arbitrary: fc.constant(undo), weight: 1 },
  { arbitrary: fc.boolean().map((reachable) => resolve('write-off', reachable)), weight: 1 },
  {
    arbitrary: fc.constant((life: Life) => {
      life.isCardClosed = true;
    }),
    weight: 1,
  },
);

/** More is cleared than the account can pay, and all of it comes back. Rare by chance. */
const recovering: fc.Arbitrary<Act[]> = fc
  .record({ beyond: fc.bigInt({ min: 1n, max: 9n }), rest: fc.bigInt({ min: 1n, max: 9n }) })
  .map(({ beyond, rest }) => {
    const cleared = AUTHORIZED + beyond;
    return [advise(cleared + rest, false), clear(cleared, false), giveBack(4n)];
  });
const actsOf = (arbitrary: fc.Arbitrary<Act>): fc.Arbitrary<Act[]> =>
  fc
    .tuple(fc.oneof(fc.constant([]), recovering), fc.array(arbitrary, { maxLength: 25 }))
    .map((parts) => parts.flat());

/** What the account has got of returns. */
const givenOf = (card: CardFacts) => refundedOf(card) - card.recovered;

/** What account and operator have paid; what the operator recovered beyond its losses is no payment. */
const borneByBoth = ({ account, losses }: Life['purses']) => -account - (losses < 0n ? losses : 0n);

/** What may still be cleared of what was authorised. */
function remainderOf(card: CardFacts): bigint {
  const remainder = card.authorized - settledOf(card);
  return card.closed || remainder < 0n ? 0n : remainder;
}

function checkBooks({ card, purses, held, status, isOutOfReach }: Life) {
  const taken = fundingDebitAmountOf(card, 'CONFIRMED');
  const aside = fundingDebitAmountOf(card, 'PENDING', 'STUCK');
  const { released, writtenOff, recovered } = card;
  expect(held).toBe(aside);
  expect(purses).toEqual({
    account: givenOf(card) + released - taken,
    cards: taken - released + writtenOff - settledOf(card),
    external_settlement: settledOf(card) - refundedOf(card),
    losses: recovered - writtenOff,
  });
  expect(refundedOf(card) <= settledOf(card)).toBe(true);
  // The constraint `transactions_card_amounts` holds these too.
  expect(recovered <= refundedOf(card)).toBe(true);
  expect(released <= taken).toBe(true);
  expect(writtenOff <= settledOf(card)).toBe(true);
  const { fundingDebits, clearings, refunds } = card;
  expect(
    [...clearings, ...refunds, ...fundingDebits.map((each) => each.amount)].every(
      (each) => each > 0n,
    ),
  ).toBe(true);
  expect([released, writtenOff, recovered].every((each) => each >= 0n)).toBe(true);
  if (!isOutOfReach) expect(released + givenOf(card) <= taken + aside).toBe(true);
  expect(excessOf(card)).toBe(0n);
  const owed = purses.external_settlement + remainderOf(card);
  if (!hasPendingFundingDebit(card)) expect(borneByBoth(purses) <= owed).toBe(true);
  if (status === 'REFUNDED') expect(purses.external_settlement).toBe(0n);
  if (status === 'EXCEPTION') return;
  expect(purses.cards + held >= 0n).toBe(true);
  expect(purses.losses <= 0n).toBe(true);
}

/** Brings everything to its end that is under way. */
function finish(life: Life, outcome: 'collect' | 'write-off') {
  while (hasPendingFundingDebit(life.card)) endPull(0, true)(life);
  if (!life.card.closed) book(life, expired(life.card));
  resolve(outcome)(life);
}

describe('the arithmetic of card payments', () => {
  const lives = fc.record({
    acts: actsOf(anAct),
    outcome: fc.constantFrom('collect' as const, 'write-off' as const),
  });

  it('moves what the facts say, gives back no more than was taken, and ends square', () => {
    fc.assert(
      fc.property(lives, ({ acts, outcome }) => {
        const life = begun();
        for (const act of acts) {
          act(life);
          checkBooks(life);
        }
        finish(life, outcome);
        checkBooks(life);
        expect(life.held).toBe(0n);
        expect(life.purses.cards).toBe(0n);
        expect(['SETTLED', 'REFUNDED']).toContain(life.status);
        // What the account paid in the end is never more than the network has, and never less than
        // nothing.
        const paid = -life.purses.account;
        expect(paid <= life.purses.external_settlement).toBe(true);
        if (!life.isOutOfReach) expect(paid >= 0n).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });

  it('has room for a hundred pieces of each kind', () => {
    const { card } = begun();
    const many = Array<bigint>(MAX_PIECES).fill(1n);
    const more = { direction: 'DEBIT' } as const;
    expect(() => cleared({ ...card, clearings: many.slice(1) }, 1n, more)).not.toThrow();
    expect(() => cleared({ ...card, clearings: many }, 1n, more)).toThrow('at most 100 clear');
    expect(() => returned({ ...card, refunds: many }, 1n)).toThrow('at most 100 returns');
    const fundingDebits = many.map((amount) => ({ amount, status: 'CONFIRMED' as const }));
    expect(() => refuseMorePulls({ ...card, fundingDebits })).toThrow('at most 100 pulls');
  });

  it('takes nothing again that came back and stayed with the house', () => {
    const life = begun();
    endPull(0, true)(life);
    const news = [advise(102n, false), clear(101n, false), giveBack(4n), advise(103n, true)];
    for (const act of news) {
      act(life);
      checkBooks(life);
    }
    expect(life.status).toBe('EXCEPTION');
    finish(life, 'collect');
    checkBooks(life);
    expect(life.purses).toEqual({ account: 0n, cards: 0n, external_settlement: 0n, losses: 0n });
    expect(life.status).toBe('REFUNDED');
  });

  // A reversal takes from the account what a return had given it: what was ours then is a loss.
  it('leaves no loss where the card lives, all is collected and no return reversed', () => {
    fc.assert(
      fc.property(actsOf(word), (acts) => {
        const life = begun();
        for (const act of acts) act(life);
        finish(life, 'collect');
        expect(life.purses.losses).toBe(0n);
        expect(-life.purses.account).toBe(life.purses.external_settlement);
      }),
      { numRuns: 1_000 },
    );
  });
});
