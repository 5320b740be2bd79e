// Invariants of a card payment under any order of events from its network, its issuer and the
// operator. The postings match the facts. The released amount is at most the debited amount. A
// finished payment balances.
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
  amountToDebit,
  applyAdjustment,
  applyClearing,
  applyExpiry,
  applyFundingDebitResult,
  applyRefund,
  applyResolution,
  type Change,
  checkFundingDebitCount,
  eventAfter,
  excessOf,
  type FurtherDebit,
  MAX_ENTRIES,
  NO_FURTHER_DEBIT,
  reverseRefund,
  undoApproval,
} from './arithmetic.ts';

type Balance = 'account' | 'cards' | 'external_settlement' | 'losses';

interface Payment {
  card: CardFacts;
  status: CardStatus;
  isCardClosed: boolean;
  /**
   * Whether a resolution could not debit the account, so that its refunds may exceed its payments.
   */
  wasNotDebitable: boolean;
  balances: Record<Balance, bigint>;
  heldAmount: bigint;
  steps: Set<string>;
}

const AUTHORIZED_AMOUNT = 100n;

/** A payment of 100 with its hold. */
const openPayment = (): Payment => ({
  card: {
    ...newFacts(AUTHORIZED_AMOUNT),
    fundingDebits: [{ amount: AUTHORIZED_AMOUNT, status: 'PENDING' }],
  },
  status: 'AUTHORIZED',
  isCardClosed: false,
  wasNotDebitable: false,
  balances: { account: 0n, cards: 0n, external_settlement: 0n, losses: 0n },
  heldAmount: AUTHORIZED_AMOUNT,
  steps: new Set(['pull.1']),
});

function recordStep(payment: Payment, step: string) {
  expect(payment.steps.has(step)).toBe(false);
  payment.steps.add(step);
}

/** Applies the postings of a change, as the ledger would. */
function post(
  payment: Payment,
  { card, steps }: Change,
  hasFailedDebit = false,
  emitsEvent = true,
) {
  for (const { step, verb, amount, from, to } of steps) {
    expect(amount > 0n).toBe(true);
    recordStep(payment, verb === 'transfer' ? step : `${step}!`);
    if (verb !== 'transfer') payment.heldAmount -= amount;
    if (verb === 'void') continue;
    payment.balances[from as Balance] -= amount;
    payment.balances[to as Balance] += amount;
  }
  const event =
    emitsEvent || hasFailedDebit ? eventAfter(payment.status, card, hasFailedDebit) : undefined;
  payment.card = card;
  if (event) payment.status = cardPaymentStates.next(payment.status, event);
}

function furtherDebitOf(payment: Payment, amount: bigint, canPay: boolean): FurtherDebit {
  if (amount === 0n) return NO_FURTHER_DEBIT;
  if (!canPay) return { amount, outcome: 'failed' };
  recordStep(payment, `pull.${payment.card.fundingDebits.length + 1}`);
  payment.heldAmount += amount;
  return { amount, outcome: 'pending' };
}

type Action = (payment: Payment) => void;

const clear =
  (amount: bigint, canPay: boolean): Action =>
  (payment) => {
    const missingAmount = amountToDebit(payment.card, settledOf(payment.card) + amount, amount);
    const furtherDebit: FurtherDebit = payment.isCardClosed
      ? { amount: missingAmount, outcome: 'writtenOff' }
      : furtherDebitOf(payment, missingAmount, canPay);
    post(
      payment,
      applyClearing(payment.card, amount, { direction: 'DEBIT', furtherDebit }),
      furtherDebit.outcome === 'failed',
    );
  };

const adjustTotal =
  (total: bigint, canPay: boolean): Action =>
  (payment) => {
    if (payment.card.closed) return;
    const missingAmount = amountToDebit(payment.card, total, total - payment.card.authorized);
    const furtherDebit =
      payment.isCardClosed || !canPay
        ? NO_FURTHER_DEBIT
        : furtherDebitOf(payment, missingAmount, canPay);
    post(payment, applyAdjustment(payment.card, total, furtherDebit));
  };

const applyRefundShare =
  (share: bigint): Action =>
  (payment) => {
    const netAmount = settledOf(payment.card) - refundedOf(payment.card);
    const amount = (netAmount * share) / 4n;
    if (amount > 0n) post(payment, applyRefund(payment.card, amount));
  };

const reverse: Action = (payment) => {
  if (payment.card.refunds.length === 0) return;
  const isFullyRefunded = payment.status === 'REFUNDED';
  if (isFullyRefunded) payment.status = 'SETTLED';
  post(payment, reverseRefund(payment.card), false, !isFullyRefunded);
};

const completeDebit =
  (debitIndex: number, isConfirmed: boolean): Action =>
  (payment) => {
    const openDebits = payment.card.fundingDebits.flatMap((each, index) =>
      each.status === 'PENDING' ? [index] : [],
    );
    const openIndex = openDebits[debitIndex % Math.max(openDebits.length, 1)];
    if (openIndex === undefined) return;
    const change = applyFundingDebitResult(payment.card, openIndex, isConfirmed);
    const isStuck = change.card.fundingDebits[openIndex]?.status === 'STUCK';
    // A failed debit of an open payment is stuck.
    if (!isConfirmed) expect(isStuck || payment.card.closed).toBe(true);
    post(payment, change, isStuck, false);
  };

const resolve =
  (outcome: 'collect' | 'write-off', isDebitable = true): Action =>
  (payment) => {
    if (payment.status !== 'EXCEPTION' || hasPendingFundingDebit(payment.card)) return;
    const { card, steps } = applyResolution(payment.card, { outcome, isDebitable });
    if (!isDebitable) payment.wasNotDebitable = true;
    payment.status = 'SETTLED';
    post(payment, { card, steps });
    expect(card.closed).toBe(true);
  };

/** Only an approval without later events can be undone. */
const undo: Action = (payment) => {
  const { closed, clearings, refunds, fundingDebits, writtenOff, authorized } = payment.card;
  const isUntouched = refunds.length === 0 && fundingDebits.length === 1 && writtenOff === 0n;
  const hasOriginalAmounts =
    clearings.length === (closed ? 1 : 0) && authorized === AUTHORIZED_AMOUNT;
  if (!isUntouched || !hasOriginalAmounts || payment.card.undoneClearings !== null) return;
  const change = undoApproval(payment.card, 'DEBIT');
  payment.status = 'SETTLED';
  post(payment, change);
};

const amount = fc.bigInt({ min: 1n, max: 130n });
const event: fc.Arbitrary<Action> = fc.oneof(
  fc.record({ amount, canPay: fc.boolean() }).map((each) => clear(each.amount, each.canPay)),
  fc.record({ amount, canPay: fc.boolean() }).map((each) => adjustTotal(each.amount, each.canPay)),
  fc.bigInt({ min: 1n, max: 4n }).map(applyRefundShare),
  fc.constant(applyRefundShare(4n)),
  fc.constant((payment: Payment) => {
    if (!payment.card.closed) post(payment, applyExpiry(payment.card));
  }),
  fc.nat(3).map((index) => completeDebit(index, true)),
  fc.nat(3).map((index) => completeDebit(index, false)),
  fc.constant(resolve('collect')),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { arbitrary: event, weight: 9 },
  { arbitrary: fc.constant(reverse), weight: 1 },
  { arbitrary: fc.constant(undo), weight: 1 },
  { arbitrary: fc.boolean().map((isDebitable) => resolve('write-off', isDebitable)), weight: 1 },
  {
    arbitrary: fc.constant((payment: Payment) => {
      payment.isCardClosed = true;
    }),
    weight: 1,
  },
);

/**
 * A clearing above the amount that the account can pay, followed by a full refund. Random sequences
 * rarely contain this order.
 */
const recoverySequence: fc.Arbitrary<Action[]> = fc
  .record({
    excess: fc.bigInt({ min: 1n, max: 9n }),
    furtherAmount: fc.bigInt({ min: 1n, max: 9n }),
  })
  .map(({ excess, furtherAmount }) => {
    const total = AUTHORIZED_AMOUNT + excess;
    return [adjustTotal(total + furtherAmount, false), clear(total, false), applyRefundShare(4n)];
  });
const actionsOf = (arbitrary: fc.Arbitrary<Action>): fc.Arbitrary<Action[]> =>
  fc
    .tuple(fc.oneof(fc.constant([]), recoverySequence), fc.array(arbitrary, { maxLength: 25 }))
    .map((parts) => parts.flat());

/** Refunds credited to the account. */
const creditedAmountOf = (card: CardFacts) => refundedOf(card) - card.recovered;

/** Amount paid by the account and the operator, without amounts recovered beyond losses. */
const paidByAccountAndOperator = ({ account, losses }: Payment['balances']) =>
  -account - (losses < 0n ? losses : 0n);

/** The remaining authorization. */
function remainderOf(card: CardFacts): bigint {
  const remainder = card.authorized - settledOf(card);
  return card.closed || remainder < 0n ? 0n : remainder;
}

function checkBooks({ card, balances, heldAmount, status, wasNotDebitable }: Payment) {
  const debitedAmount = fundingDebitAmountOf(card, 'CONFIRMED');
  const pendingAmount = fundingDebitAmountOf(card, 'PENDING', 'STUCK');
  const { released, writtenOff, recovered } = card;
  expect(heldAmount).toBe(pendingAmount);
  expect(balances).toEqual({
    account: creditedAmountOf(card) + released - debitedAmount,
    cards: debitedAmount - released + writtenOff - settledOf(card),
    external_settlement: settledOf(card) - refundedOf(card),
    losses: recovered - writtenOff,
  });
  expect(refundedOf(card) <= settledOf(card)).toBe(true);
  // The constraint `transactions_card_amounts` also enforces these conditions.
  expect(recovered <= refundedOf(card)).toBe(true);
  expect(released <= debitedAmount).toBe(true);
  expect(writtenOff <= settledOf(card)).toBe(true);
  const { fundingDebits, clearings, refunds } = card;
  expect(
    [...clearings, ...refunds, ...fundingDebits.map((each) => each.amount)].every(
      (each) => each > 0n,
    ),
  ).toBe(true);
  expect([released, writtenOff, recovered].every((each) => each >= 0n)).toBe(true);
  if (!wasNotDebitable)
    expect(released + creditedAmountOf(card) <= debitedAmount + pendingAmount).toBe(true);
  expect(excessOf(card)).toBe(0n);
  const owedAmount = balances.external_settlement + remainderOf(card);
  if (!hasPendingFundingDebit(card))
    expect(paidByAccountAndOperator(balances) <= owedAmount).toBe(true);
  if (status === 'REFUNDED') expect(balances.external_settlement).toBe(0n);
  if (status === 'EXCEPTION') return;
  expect(balances.cards + heldAmount >= 0n).toBe(true);
  expect(balances.losses <= 0n).toBe(true);
}

/** Completes pending debits and closes the payment. */
function finish(payment: Payment, outcome: 'collect' | 'write-off') {
  while (hasPendingFundingDebit(payment.card)) completeDebit(0, true)(payment);
  if (!payment.card.closed) post(payment, applyExpiry(payment.card));
  resolve(outcome)(payment);
}

describe('card payment arithmetic', () => {
  const runs = fc.record({
    actions: actionsOf(action),
    outcome: fc.constantFrom('collect' as const, 'write-off' as const),
  });

  it('posts the amounts of the facts, releases at most the debited amount, and balances', () => {
    fc.assert(
      fc.property(runs, ({ actions, outcome }) => {
        const payment = openPayment();
        for (const step of actions) {
          step(payment);
          checkBooks(payment);
        }
        finish(payment, outcome);
        checkBooks(payment);
        expect(payment.heldAmount).toBe(0n);
        expect(payment.balances.cards).toBe(0n);
        expect(['SETTLED', 'REFUNDED']).toContain(payment.status);
        // The account pays from zero up to the amount that the network has settled.
        const paidAmount = -payment.balances.account;
        expect(paidAmount <= payment.balances.external_settlement).toBe(true);
        if (!payment.wasNotDebitable) expect(paidAmount >= 0n).toBe(true);
      }),
      { numRuns: 1_500 },
    );
  });

  it('accepts at most a hundred entries of each kind', () => {
    const { card } = openPayment();
    const maxEntries = Array<bigint>(MAX_ENTRIES).fill(1n);
    const debit = { direction: 'DEBIT' } as const;
    expect(() =>
      applyClearing({ ...card, clearings: maxEntries.slice(1) }, 1n, debit),
    ).not.toThrow();
    expect(() => applyClearing({ ...card, clearings: maxEntries }, 1n, debit)).toThrow(
      '100 clearings, which is the maximum',
    );
    expect(() => applyRefund({ ...card, refunds: maxEntries }, 1n)).toThrow('100 refunds');
    const fundingDebits = maxEntries.map((amount) => ({ amount, status: 'CONFIRMED' as const }));
    expect(() => checkFundingDebitCount({ ...card, fundingDebits })).toThrow('100 funding debits');
  });

  it('debits a refunded amount only once after the operator recovered it', () => {
    const payment = openPayment();
    completeDebit(0, true)(payment);
    const actions = [
      adjustTotal(102n, false),
      clear(101n, false),
      applyRefundShare(4n),
      adjustTotal(103n, true),
    ];
    for (const step of actions) {
      step(payment);
      checkBooks(payment);
    }
    expect(payment.status).toBe('EXCEPTION');
    finish(payment, 'collect');
    checkBooks(payment);
    expect(payment.balances).toEqual({
      account: 0n,
      cards: 0n,
      external_settlement: 0n,
      losses: 0n,
    });
    expect(payment.status).toBe('REFUNDED');
  });

  // Reversals are excluded, because a reversal debits the account by its share of a refund, and the
  // remainder is a loss.
  it('leaves no loss if the card is open, all amounts are collected and no refund is reversed', () => {
    fc.assert(
      fc.property(actionsOf(event), (actions) => {
        const payment = openPayment();
        for (const step of actions) step(payment);
        finish(payment, 'collect');
        expect(payment.balances.losses).toBe(0n);
        expect(-payment.balances.account).toBe(payment.balances.external_settlement);
      }),
      { numRuns: 1_000 },
    );
  });
});
