// The arithmetic of a card payment: given its facts and an event, the new facts and the postings.
// Pure, and the only place that adds these amounts. All are in the currency of the card; the caller
// converts them to the units of the funding account.
//
// The system account `cards` holds what was debited until the network clears it. The part of one
// payment is always confirmed debits - released + writtenOff - settled, negative only while a debit
// is pending or an exception is open.
// With net = settled - refunded, paid = confirmed debits - released - (refunded - recovered),
// borne = max(writtenOff, recovered) and loss = borne - recovered, these hold after every change:
// - Without a pending debit, paid + loss <= net + the remaining authorization: nothing is debited
//   twice.
// - Unless it is an EXCEPTION, recovered <= writtenOff: the operator keeps no gain.
// - When it has ended, paid + loss = net. Neither is negative, unless an account that could not be
//   debited had received more refunds than it ever paid.

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

/** One posting of a payment. */
export interface Step {
  step: string;
  amount: bigint;
  /** Of the funding account, or of a system account. */
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
export const MAX_PIECES = 100;

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const atLeastNothing = (amount: bigint) => (amount < 0n ? 0n : amount);

export const pullStep = (at: number): string => `pull.${at + 1}`;

/**
 * What the operator bears: the written-off amount, or the recovered amount if that is greater. What
 * is recovered beyond losses stays in `losses` until the payment is resolved, because the refund
 * may be reversed.
 */
const borneOf = (card: CardFacts): bigint => larger(card.writtenOff, card.recovered);

/**
 * What covers clearings so far: debited from the account less releases, and borne by the operator.
 */
const fundedOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released + borneOf(card);

/** The same including pending debits. */
const coveredOf = (card: CardFacts): bigint =>
  fundedOf(card) + fundingDebitAmountOf(card, 'PENDING', 'STUCK');

/** Refunds credited to the account. */
const givenOf = (card: CardFacts): bigint => refundedOf(card) - card.recovered;

/** What the account has paid; negative after a refund of an amount not yet debited. */
export const paidOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released - givenOf(card);

/** The operator's loss: what was written off and not recovered. */
export const lossOf = (card: CardFacts): bigint => borneOf(card) - card.recovered;

/** What the network has settled and neither the account nor the operator has paid. */
export const unpaidOf = (card: CardFacts): bigint =>
  atLeastNothing(settledOf(card) - fundedOf(card));

/** What to debit for a total, at most the new part of it. */
export const lackingFor = (card: CardFacts, total: bigint, fresh: bigint): bigint =>
  atLeastNothing(smaller(fresh, total - coveredOf(card)));

/**
 * Debited amounts that will not be cleared: beyond the settled amount once closed, beyond the
 * authorized amount before. Zero while a debit is pending, because its result may change it.
 */
export function excessOf(card: CardFacts): bigint {
  if (hasPendingFundingDebit(card)) return 0n;
  const settled = settledOf(card);
  const { authorized } = card;
  const wanted = card.closed || authorized < settled ? settled : authorized;
  return atLeastNothing(fundedOf(card) - wanted);
}

/** Releases the excess. Steps are named by the total released, which only grows. */
function withoutExcess({ card, steps }: Change): Change {
  const amount = excessOf(card);
  if (amount === 0n) return { card, steps };
  const released = card.released + amount;
  const step = {
    step: `back.${released}`,
    verb: 'transfer',
    amount,
    from: 'cards',
    to: 'account',
  } as const;
  return { card: { ...card, released }, steps: [...steps, step] };
}

/** Result of debiting a missing amount. */
export type Lack = { amount: bigint; fate: 'pulled' | 'failed' | 'lost' };

export const NO_LACK: Lack = { amount: 0n, fate: 'pulled' };

/** The operator bears a further amount; recovered amounts beyond losses go to `cards` with it. */
function lose(card: CardFacts, more: bigint): Change {
  const writtenOff = borneOf(card) + more;
  const amount = writtenOff - card.writtenOff;
  if (amount === 0n) return { card, steps: [] };
  const step = {
    step: `lost.${writtenOff}`,
    verb: 'transfer',
    amount,
    from: 'losses',
    to: 'cards',
  } as const;
  return { card: { ...card, writtenOff }, steps: [step] };
}

/** A further debit, open or failed, or a loss. The caller stages the hold. */
function withLack(card: CardFacts, { amount, fate }: Lack): Change {
  if (amount === 0n) return { card, steps: [] };
  if (fate === 'lost') return lose(card, amount);
  const status = fate === 'pulled' ? 'PENDING' : 'FAILED';
  const pull: FundingDebit = { amount, status };
  return { card: { ...card, fundingDebits: [...card.fundingDebits, pull] }, steps: [] };
}

function refuseMore(pieces: readonly unknown[], what: string): void {
  if (pieces.length < MAX_PIECES) return;
  throw new Fault('INVALID_INPUT', `A payment has at most ${MAX_PIECES} ${what}.`);
}

/** Throws if the payment can have no further debit. */
export const refuseMorePulls = ({ fundingDebits }: CardFacts): void =>
  refuseMore(fundingDebits, 'pulls');

/** Applies a clearing (debit or credit). */
export function cleared(
  given: CardFacts,
  amount: bigint,
  { direction, lack = NO_LACK }: { direction: 'CREDIT' | 'DEBIT'; lack?: Lack },
): Change {
  refuseMore(given.clearings, 'clearings');
  const clearings = [...given.clearings, amount];
  const n = clearings.length + (given.undoneClearings ?? 0);
  const step = { step: `clearing.${n}`, verb: 'transfer', amount } as const;
  const whole = settledOf({ clearings }) >= given.authorized;
  const facts = { ...given, clearings, closed: given.closed || whole };
  if (direction === 'CREDIT') {
    return { card: facts, steps: [{ ...step, from: 'external_settlement', to: 'account' }] };
  }
  const { card, steps } = withLack(facts, lack);
  return withoutExcess({
    card,
    steps: [...steps, { ...step, from: 'cards', to: 'external_settlement' }],
  });
}

/** The remaining authorization has expired. */
export const expired = (card: CardFacts): Change =>
  withoutExcess({ card: { ...card, closed: true }, steps: [] });

/** Sets the total amount. */
export function advised(given: CardFacts, total: bigint, lack: Lack): Change {
  const closed = given.closed || total <= settledOf(given);
  const { card, steps } = withLack({ ...given, authorized: total, closed }, lack);
  return withoutExcess({ card, steps });
}

/**
 * Applies a refund. The account is credited with at most what it has paid; what the operator bore,
 * or what is not paid yet, stays with the operator.
 */
export function returned(given: CardFacts, amount: bigint): Change {
  refuseMore(given.refunds, 'returns');
  const paid = fundingDebitAmountOf(given, 'CONFIRMED', 'PENDING', 'STUCK') - given.released;
  const theirs = smaller(amount, atLeastNothing(paid - givenOf(given)));
  const ours = amount - theirs;
  const n = given.refunds.length + given.reversedRefunds + 1;
  const card = {
    ...given,
    refunds: [...given.refunds, amount],
    recovered: given.recovered + ours,
  };
  const all = [
    {
      step: `return.${n}`,
      verb: 'transfer',
      amount: theirs,
      from: 'external_settlement',
      to: 'account',
    },
    {
      step: `recoup.${n}`,
      verb: 'transfer',
      amount: ours,
      from: 'external_settlement',
      to: 'losses',
    },
  ] as const;
  return { card, steps: all.filter((each) => each.amount > 0n) };
}

/** Reverses the last refund, first from what stayed with the operator. */
export function unreturned(given: CardFacts): Change {
  const last = given.refunds.at(-1);
  if (last === undefined) throw new Error('nothing came back that could be taken back');
  const ours = smaller(last, given.recovered);
  const theirs = last - ours;
  const n = given.reversedRefunds + 1;
  const card = {
    ...given,
    refunds: given.refunds.slice(0, -1),
    reversedRefunds: n,
    recovered: given.recovered - ours,
  };
  const all = [
    {
      step: `reverse.${n}`,
      verb: 'transfer',
      amount: theirs,
      from: 'account',
      to: 'external_settlement',
    },
    {
      step: `reverse.${n}.recoup`,
      verb: 'transfer',
      amount: ours,
      from: 'losses',
      to: 'external_settlement',
    },
  ] as const;
  return { card, steps: all.filter((each) => each.amount > 0n) };
}

/** Posts or voids a hold. */
const pullEnd = (card: CardFacts, at: number, verb: 'post' | 'void') => ({
  ...({ step: pullStep(at), verb, from: 'account', to: 'cards' } as const),
  amount: card.fundingDebits[at]?.amount ?? 0n,
});

const withPull = (card: CardFacts, at: number, status: FundingDebit['status']): CardFacts => ({
  ...card,
  fundingDebits: card.fundingDebits.map((each, place) =>
    place === at ? { ...each, status } : each,
  ),
});

/** Whether a payment is settled without a debit: it is closed and other debits cover it. */
function isIdle(card: CardFacts, at: number): boolean {
  const others = withPull(card, at, 'FAILED');
  return (
    card.closed && settledOf(others) <= fundedOf(others) + fundingDebitAmountOf(others, 'PENDING')
  );
}

/**
 * Applies the result of a debit. A failed one stays on hold for an operator to decide, or is voided
 * if nothing is owed.
 */
export function pullEnded(card: CardFacts, at: number, taken: boolean): Change {
  if (taken) {
    const steps = [pullEnd(card, at, 'post')];
    return withoutExcess({ card: withPull(card, at, 'CONFIRMED'), steps });
  }
  const idle = isIdle(card, at);
  const steps = idle ? [pullEnd(card, at, 'void')] : [];
  return withoutExcess({ card: withPull(card, at, idle ? 'FAILED' : 'STUCK'), steps });
}

export type Resolution = 'collect' | 'write-off';

/** Posts stuck debits in order until they suffice; the others are voided. */
function endStuck(given: CardFacts, enough: bigint): Change & { rest: bigint } {
  let [card, rest] = [given, enough];
  const steps: (Step & { verb: TransferVerb })[] = [];
  for (const [at, { amount, status }] of given.fundingDebits.entries()) {
    if (status !== 'STUCK') continue;
    const takes = rest > 0n;
    steps.push(pullEnd(given, at, takes ? 'post' : 'void'));
    card = withPull(card, at, takes ? 'CONFIRMED' : 'FAILED');
    if (takes) rest -= amount;
  }
  return { card, steps, rest: atLeastNothing(rest) };
}

/**
 * Undoes an approval that never reached the network: its clearing is reversed and debits are
 * released. A pending debit stays on hold until the issuer reports its result.
 */
export function undone(given: CardFacts, direction: 'CREDIT' | 'DEBIT'): Change {
  const facts = { ...given, clearings: [], undoneClearings: given.clearings.length, closed: true };
  const undo = { step: 'undo', verb: 'transfer', amount: settledOf(given) } as const;
  const taking: readonly (Step & { verb: TransferVerb })[] =
    direction === 'CREDIT'
      ? [{ ...undo, from: 'account', to: 'external_settlement' }]
      : [{ ...undo, from: 'external_settlement', to: 'cards' }];
  const { card, steps } = endStuck(facts, 0n);
  return withoutExcess({ card, steps: [...taking.filter((each) => each.amount > 0n), ...steps] });
}

/**
 * Resolves an exception: the unpaid amount is debited or written off. An account that received more
 * refunds than it ever paid gives up the difference; one that cannot be debited pays nothing. The
 * payment is closed afterwards.
 */
export function resolved(
  given: CardFacts,
  { outcome, reachable }: { outcome: Resolution; reachable: boolean },
): Change {
  const closed = { ...given, closed: true };
  const open = unpaidOf(closed);
  const asked = outcome === 'collect' ? open : smaller(open, atLeastNothing(-paidOf(closed)));
  const take = reachable ? asked : 0n;
  const taken = endStuck(closed, take);
  const loss = lose(taken.card, open - take);
  const pull: FundingDebit = { amount: taken.rest, status: 'CONFIRMED' };
  const owes = taken.rest > 0n;
  const card = owes
    ? { ...loss.card, fundingDebits: [...loss.card.fundingDebits, pull] }
    : loss.card;
  const at = loss.card.fundingDebits.length;
  const by = { step: pullStep(at), verb: 'transfer', from: 'account', to: 'cards' } as const;
  const rest = owes ? [{ ...by, amount: taken.rest }] : [];
  return withoutExcess({ card, steps: [...taken.steps, ...rest, ...loss.steps] });
}

/** The lifecycle event of new facts; undefined if the status stays. `failed`: a debit failed. */
export function eventAfter(
  status: CardStatus,
  card: CardFacts,
  failed: boolean,
): CardEvent | undefined {
  if (status === 'EXCEPTION') return undefined;
  if (failed) return 'except';
  const settled = settledOf(card);
  if (!card.closed) return settled > 0n ? 'clear' : undefined;
  return settled > 0n && refundedOf(card) === settled ? 'refund' : 'settle';
}
