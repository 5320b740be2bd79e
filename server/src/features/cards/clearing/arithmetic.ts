// The arithmetic of a card payment. Pure functions return the new facts and the postings for the
// facts and an event. Amounts are in the currency of the card, and the caller converts them to the
// units of the funding account.

import { Fault } from '../../../kernel/fault.ts';
import type { SystemAccount } from '../../../ledger/chart.ts';
import type { TransferVerb } from '../../../ledger/transfer.ts';
import {
  type CardEvent,
  type CardFacts,
  type CardStatus,
  type FundingDebit,
  fundingDebitAmountOf,
  hasPendingFundingDebit,
  refundedOf,
  settledOf,
} from '../../payments/card-payments/index.ts';

// The system account `cards` contains debited amounts until the network clears them. The balance of
// one debit payment is always confirmed debits - released + writtenOff - settled. The balance is
// negative only while a debit is pending or an exception is open. Definitions:
// - net = settled - refunded
// - paid = confirmed debits - released - (refunded - recovered)
// - borne = max(writtenOff, recovered)
// - loss = borne - recovered
// A debit payment meets these conditions after every change:
// - Without a pending debit, paid + loss <= net + remaining authorization, so each amount is
//   debited once.
// - Unless the payment is an EXCEPTION, recovered <= writtenOff, so the operator makes no gain.
// - In a final status, paid + loss = net. Both are at least zero, unless an account that could not
//   be debited had received more refunds than it ever paid.

/** A posting of a payment. */
export interface Step {
  step: string;
  amount: bigint;
  /** The funding account or a system account. */
  from: 'account' | SystemAccount;
  to: 'account' | SystemAccount;
  force?: boolean;
}

/** The facts after an event, and its postings. */
export interface Change {
  card: CardFacts;
  steps: readonly (Step & { verb: TransferVerb })[];
}

/** Maximum number of clearings, refunds or debits of a payment. */
export const MAX_ENTRIES = 100;

const smallerOf = (a: bigint, b: bigint) => (a < b ? a : b);
const largerOf = (a: bigint, b: bigint) => (a > b ? a : b);
const atLeastZero = (amount: bigint) => (amount < 0n ? 0n : amount);

/** Stored holds, and the IDs of funding debits at issuers, contain `pull`. */
export const fundingDebitStep = (index: number): string => `pull.${index + 1}`;

/**
 * Amount borne by the operator: the written-off amount, or the recovered amount if that is greater.
 * Recovered amounts beyond losses remain in `losses` until the payment is resolved, because the
 * refund may be reversed.
 */
const absorbedLossOf = (card: CardFacts): bigint => largerOf(card.writtenOff, card.recovered);

/**
 * Amount that covers the clearings: debited from the account less releases, and borne by the
 * operator.
 */
const fundedOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released + absorbedLossOf(card);

/** The amount of `fundedOf`, including pending and stuck debits. */
const coveredOf = (card: CardFacts): bigint =>
  fundedOf(card) + fundingDebitAmountOf(card, 'PENDING', 'STUCK');

/** Refunds credited to the account. */
const creditedOf = (card: CardFacts): bigint => refundedOf(card) - card.recovered;

/** Amount paid by the account. Negative after a refund of an amount not yet debited. */
export const paidOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released - creditedOf(card);

/** The operator's loss: written-off amounts that were not recovered. */
export const lossOf = (card: CardFacts): bigint => absorbedLossOf(card) - card.recovered;

/** Amount settled by the network and paid by neither the account nor the operator. */
export const unpaidOf = (card: CardFacts): bigint => atLeastZero(settledOf(card) - fundedOf(card));

/** Amount that must be debited to cover `total`, at most `maximum`. */
export const amountToDebit = (card: CardFacts, total: bigint, maximum: bigint): bigint =>
  atLeastZero(smallerOf(maximum, total - coveredOf(card)));

/**
 * Debited amount that remains uncleared. A closed payment needs the settled amount, an open
 * payment the larger of settled and authorized amount. Zero while a debit is pending, because the
 * result may change the amount.
 */
export function excessOf(card: CardFacts): bigint {
  if (hasPendingFundingDebit(card)) return 0n;
  const settledAmount = settledOf(card);
  const { authorized } = card;
  const requiredAmount = card.closed || authorized < settledAmount ? settledAmount : authorized;
  return atLeastZero(fundedOf(card) - requiredAmount);
}

/** Releases the excess. Steps are named by the total released amount, which only increases. */
function releaseExcess({ card, steps }: Change): Change {
  const amount = excessOf(card);
  if (amount === 0n) return { card, steps };
  const releasedTotal = card.released + amount;
  const step = {
    step: `release.${releasedTotal}`,
    verb: 'transfer',
    amount,
    from: 'cards',
    to: 'account',
  } as const;
  return { card: { ...card, released: releasedTotal }, steps: [...steps, step] };
}

/** A missing amount, with the result of debiting it. */
export type FurtherDebit = { amount: bigint; outcome: 'pending' | 'failed' | 'writtenOff' };

export const NO_FURTHER_DEBIT: FurtherDebit = { amount: 0n, outcome: 'pending' };

/**
 * The operator bears a further amount. Recovered amounts beyond losses are posted to `cards` with
 * it.
 */
function writeOff(card: CardFacts, furtherAmount: bigint): Change {
  const writtenOff = absorbedLossOf(card) + furtherAmount;
  const amount = writtenOff - card.writtenOff;
  if (amount === 0n) return { card, steps: [] };
  const step = {
    step: `write-off.${writtenOff}`,
    verb: 'transfer',
    amount,
    from: 'losses',
    to: 'cards',
  } as const;
  return { card: { ...card, writtenOff }, steps: [step] };
}

/** Adds a debit, pending or failed, or a loss. The caller stages the hold. */
function addFurtherDebit(card: CardFacts, { amount, outcome }: FurtherDebit): Change {
  if (amount === 0n) return { card, steps: [] };
  if (outcome === 'writtenOff') return writeOff(card, amount);
  const status = outcome === 'pending' ? 'PENDING' : 'FAILED';
  const debit: FundingDebit = { amount, status };
  return { card: { ...card, fundingDebits: [...card.fundingDebits, debit] }, steps: [] };
}

function checkCount(entries: readonly unknown[], name: string): void {
  if (entries.length < MAX_ENTRIES) return;
  throw new Fault(
    'INVALID_INPUT',
    `The payment already has ${MAX_ENTRIES} ${name}, which is the maximum.`,
  );
}

/** Throws if the payment has the maximum number of debits. */
export const checkFundingDebitCount = ({ fundingDebits }: CardFacts): void =>
  checkCount(fundingDebits, 'funding debits');

/** Applies a clearing (debit or credit). */
export function applyClearing(
  previousCard: CardFacts,
  amount: bigint,
  {
    direction,
    furtherDebit = NO_FURTHER_DEBIT,
  }: { direction: 'CREDIT' | 'DEBIT'; furtherDebit?: FurtherDebit },
): Change {
  checkCount(previousCard.clearings, 'clearings');
  const clearings = [...previousCard.clearings, amount];
  const clearingNumber = clearings.length + (previousCard.undoneClearings ?? 0);
  const step = { step: `clearing.${clearingNumber}`, verb: 'transfer', amount } as const;
  const isComplete = settledOf({ clearings }) >= previousCard.authorized;
  const facts = { ...previousCard, clearings, closed: previousCard.closed || isComplete };
  if (direction === 'CREDIT') {
    return { card: facts, steps: [{ ...step, from: 'external_settlement', to: 'account' }] };
  }
  const { card, steps } = addFurtherDebit(facts, furtherDebit);
  return releaseExcess({
    card,
    steps: [...steps, { ...step, from: 'cards', to: 'external_settlement' }],
  });
}

/** The remaining authorization has expired. */
export const applyExpiry = (card: CardFacts): Change =>
  releaseExcess({ card: { ...card, closed: true }, steps: [] });

/** Sets the authorized amount to `total`. */
export function applyAdjustment(
  previousCard: CardFacts,
  total: bigint,
  furtherDebit: FurtherDebit,
): Change {
  const isClosed = previousCard.closed || total <= settledOf(previousCard);
  const { card, steps } = addFurtherDebit(
    { ...previousCard, authorized: total, closed: isClosed },
    furtherDebit,
  );
  return releaseExcess({ card, steps });
}

/**
 * Applies a refund. The account is credited with at most the amount debited from it, including
 * pending and stuck debits. The remainder is credited to the operator.
 */
export function applyRefund(previousCard: CardFacts, amount: bigint): Change {
  checkCount(previousCard.refunds, 'refunds');
  const paidAmount =
    fundingDebitAmountOf(previousCard, 'CONFIRMED', 'PENDING', 'STUCK') - previousCard.released;
  const toAccount = smallerOf(amount, atLeastZero(paidAmount - creditedOf(previousCard)));
  const toOperator = amount - toAccount;
  const refundNumber = previousCard.refunds.length + previousCard.reversedRefunds + 1;
  const card = {
    ...previousCard,
    refunds: [...previousCard.refunds, amount],
    recovered: previousCard.recovered + toOperator,
  };
  const steps = [
    {
      step: `refund.${refundNumber}`,
      verb: 'transfer',
      amount: toAccount,
      from: 'external_settlement',
      to: 'account',
    },
    {
      step: `recover.${refundNumber}`,
      verb: 'transfer',
      amount: toOperator,
      from: 'external_settlement',
      to: 'losses',
    },
  ] as const;
  return { card, steps: steps.filter((each) => each.amount > 0n) };
}

/** Reverses the last refund, first from the amount that was credited to the operator. */
export function reverseRefund(previousCard: CardFacts): Change {
  const lastRefund = previousCard.refunds.at(-1);
  if (lastRefund === undefined) throw new Error('no refund to reverse');
  const fromOperator = smallerOf(lastRefund, previousCard.recovered);
  const fromAccount = lastRefund - fromOperator;
  const reversalNumber = previousCard.reversedRefunds + 1;
  const card = {
    ...previousCard,
    refunds: previousCard.refunds.slice(0, -1),
    reversedRefunds: reversalNumber,
    recovered: previousCard.recovered - fromOperator,
  };
  const steps = [
    {
      step: `reverse.${reversalNumber}`,
      verb: 'transfer',
      amount: fromAccount,
      from: 'account',
      to: 'external_settlement',
    },
    {
      step: `reverse.${reversalNumber}.recover`,
      verb: 'transfer',
      amount: fromOperator,
      from: 'losses',
      to: 'external_settlement',
    },
  ] as const;
  return { card, steps: steps.filter((each) => each.amount > 0n) };
}

/** Posts or voids a hold. */
const endHold = (card: CardFacts, index: number, verb: 'post' | 'void') => ({
  ...({ step: fundingDebitStep(index), verb, from: 'account', to: 'cards' } as const),
  amount: card.fundingDebits[index]?.amount ?? 0n,
});

const withDebitStatus = (
  card: CardFacts,
  debitIndex: number,
  status: FundingDebit['status'],
): CardFacts => ({
  ...card,
  fundingDebits: card.fundingDebits.map((each, index) =>
    index === debitIndex ? { ...each, status } : each,
  ),
});

/** Whether a debit is unnecessary, because the payment is closed and other debits cover it. */
function isUnneededDebit(card: CardFacts, index: number): boolean {
  const withoutDebit = withDebitStatus(card, index, 'FAILED');
  return (
    card.closed &&
    settledOf(withoutDebit) <=
      fundedOf(withoutDebit) + fundingDebitAmountOf(withoutDebit, 'PENDING')
  );
}

/**
 * Applies the result of a debit. The hold of a failed debit is voided if the payment is closed and
 * other debits cover it. Otherwise the hold remains until an operator decides.
 */
export function applyFundingDebitResult(
  card: CardFacts,
  index: number,
  isConfirmed: boolean,
): Change {
  if (isConfirmed) {
    const steps = [endHold(card, index, 'post')];
    return releaseExcess({ card: withDebitStatus(card, index, 'CONFIRMED'), steps });
  }
  const isUnneeded = isUnneededDebit(card, index);
  const steps = isUnneeded ? [endHold(card, index, 'void')] : [];
  return releaseExcess({
    card: withDebitStatus(card, index, isUnneeded ? 'FAILED' : 'STUCK'),
    steps,
  });
}

export type Resolution = 'collect' | 'write-off';

/**
 * Posts stuck debits in order until they cover the needed amount. The remaining debits are voided.
 */
function endStuckDebits(
  previousCard: CardFacts,
  requiredAmount: bigint,
): Change & { missingAmount: bigint } {
  let [card, missingAmount] = [previousCard, requiredAmount];
  const steps: (Step & { verb: TransferVerb })[] = [];
  for (const [index, { amount, status }] of previousCard.fundingDebits.entries()) {
    if (status !== 'STUCK') continue;
    const isPosted = missingAmount > 0n;
    steps.push(endHold(previousCard, index, isPosted ? 'post' : 'void'));
    card = withDebitStatus(card, index, isPosted ? 'CONFIRMED' : 'FAILED');
    if (isPosted) missingAmount -= amount;
  }
  return { card, steps, missingAmount: atLeastZero(missingAmount) };
}

/**
 * Undoes an approval that never reached the network. Its clearing is reversed and its debits are
 * released. A pending debit remains on hold until the issuer reports its result.
 */
export function undoApproval(previousCard: CardFacts, direction: 'CREDIT' | 'DEBIT'): Change {
  const facts = {
    ...previousCard,
    clearings: [],
    undoneClearings: previousCard.clearings.length,
    closed: true,
  };
  const reversalStep = {
    step: 'reverse.clearing',
    verb: 'transfer',
    amount: settledOf(previousCard),
  } as const;
  const clearingReversals: readonly (Step & { verb: TransferVerb })[] =
    direction === 'CREDIT'
      ? [{ ...reversalStep, from: 'account', to: 'external_settlement' }]
      : [{ ...reversalStep, from: 'external_settlement', to: 'cards' }];
  const { card, steps } = endStuckDebits(facts, 0n);
  return releaseExcess({
    card,
    steps: [...clearingReversals.filter((each) => each.amount > 0n), ...steps],
  });
}

/**
 * Resolves an exception by a debit or a write-off of the unpaid amount. An account that received
 * more refunds than it ever paid pays the difference back. A closed account is not debited. The
 * payment is closed afterwards.
 */
export function applyResolution(
  previousCard: CardFacts,
  { outcome, isDebitable }: { outcome: Resolution; isDebitable: boolean },
): Change {
  const closedCard = { ...previousCard, closed: true };
  const unpaidAmount = unpaidOf(closedCard);
  const payableAmount =
    outcome === 'collect'
      ? unpaidAmount
      : smallerOf(unpaidAmount, atLeastZero(-paidOf(closedCard)));
  const debitAmount = isDebitable ? payableAmount : 0n;
  const stuckChange = endStuckDebits(closedCard, debitAmount);
  const lossChange = writeOff(stuckChange.card, unpaidAmount - debitAmount);
  const furtherFundingDebit: FundingDebit = {
    amount: stuckChange.missingAmount,
    status: 'CONFIRMED',
  };
  const isIncomplete = stuckChange.missingAmount > 0n;
  const card = isIncomplete
    ? { ...lossChange.card, fundingDebits: [...lossChange.card.fundingDebits, furtherFundingDebit] }
    : lossChange.card;
  const index = lossChange.card.fundingDebits.length;
  const furtherStep = {
    step: fundingDebitStep(index),
    verb: 'transfer',
    from: 'account',
    to: 'cards',
  } as const;
  const furtherSteps = isIncomplete ? [{ ...furtherStep, amount: stuckChange.missingAmount }] : [];
  return releaseExcess({
    card,
    steps: [...stuckChange.steps, ...furtherSteps, ...lossChange.steps],
  });
}

/** The lifecycle event of new facts, or undefined if none applies. */
export function eventAfter(
  status: CardStatus,
  card: CardFacts,
  hasFailedDebit: boolean,
): CardEvent | undefined {
  if (status === 'EXCEPTION') return undefined;
  if (hasFailedDebit) return 'except';
  const settledAmount = settledOf(card);
  if (!card.closed) return settledAmount > 0n ? 'clear' : undefined;
  return settledAmount > 0n && refundedOf(card) === settledAmount ? 'refund' : 'settle';
}
