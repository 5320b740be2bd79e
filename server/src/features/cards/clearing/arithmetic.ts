// The arithmetic of a payment with a card: from what is known of it and what happens to what is known then,
// and what that moves. Pure, and the only place that adds these amounts up. They are all of the card; where
// they go to the account that pays, whoever stages them turns them into its units.
//
// `cards` keeps what was taken until the network clears it: its part of a payment is always
// confirmed pulls - released + writtenOff - settled, below zero only while a pull is under way or an
// exception stands.
// With net = settled - refunded, paid = confirmed pulls - released - (refunded - recovered),
// borne = max(writtenOff, recovered) and loss = borne - recovered, these hold after every change:
// - With no pull under way, paid + loss <= net + the authorisation that remains: nothing is taken twice.
// - Unless it is an EXCEPTION, recovered <= writtenOff: no gain stays with the house.
// - Once it is over, paid + loss = net. Neither is below zero, unless an account was out of reach
//   that had got more of returns than it ever paid.

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

/** One movement of a payment. */
export interface Step {
  step: string;
  amount: bigint;
  /** Of the account that pays, or of the house. */
  from: 'account' | SystemAccount;
  to: 'account' | SystemAccount;
  force?: boolean;
}

/** What happened leaves these facts behind, and moves this. */
export interface Change {
  card: CardFacts;
  steps: readonly (Step & { verb: TransferVerb })[];
}

/** The most pieces of one kind that a payment has. */
export const MAX_PIECES = 100;

const smaller = (a: bigint, b: bigint) => (a < b ? a : b);
const larger = (a: bigint, b: bigint) => (a > b ? a : b);
const atLeastNothing = (amount: bigint) => (amount < 0n ? 0n : amount);

export const pullStep = (at: number): string => `pull.${at + 1}`;

/**
 * What the house pays of it, so that the account need not: what was written off, or recovered where that is
 * more. What is recovered beyond losses is in `losses` until the payment is resolved, as the return may
 * be reversed.
 */
const borneOf = (card: CardFacts): bigint => larger(card.writtenOff, card.recovered);

/** What pays for clearings by now: taken from the account, less what went back, and borne by the house. */
const fundedOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released + borneOf(card);

/** The same with what is set aside to be taken. */
const coveredOf = (card: CardFacts): bigint =>
  fundedOf(card) + fundingDebitAmountOf(card, 'PENDING', 'STUCK');

/** What the account got of what came back. */
const givenOf = (card: CardFacts): bigint => refundedOf(card) - card.recovered;

/** What the account has paid of it by now; below zero where it was given back what is yet to be taken. */
export const paidOf = (card: CardFacts): bigint =>
  fundingDebitAmountOf(card, 'CONFIRMED') - card.released - givenOf(card);

/** What of it is our loss: not what came back of that and stayed ours. */
export const lossOf = (card: CardFacts): bigint => borneOf(card) - card.recovered;

/** What the network has had that neither the account nor the house has paid yet. */
export const unpaidOf = (card: CardFacts): bigint =>
  atLeastNothing(settledOf(card) - fundedOf(card));

/** What is to be taken from the account yet for a total, and for no more than what is new of it. */
export const lackingFor = (card: CardFacts, total: bigint, fresh: bigint): bigint =>
  atLeastNothing(smaller(fresh, total - coveredOf(card)));

/**
 * What was taken and will never be cleared: everything beyond what was settled once nothing more will be,
 * everything beyond what is authorised before. Nothing while a pull is under way, whose end may change it.
 */
export function excessOf(card: CardFacts): bigint {
  if (hasPendingFundingDebit(card)) return 0n;
  const settled = settledOf(card);
  const { authorized } = card;
  const wanted = card.closed || authorized < settled ? settled : authorized;
  return atLeastNothing(fundedOf(card) - wanted);
}

/** Gives back what is in excess. Its steps are named by all that went back by then, which only grows. */
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

/** What became of an amount that was lacking. */
export type Lack = { amount: bigint; fate: 'pulled' | 'failed' | 'lost' };

export const NO_LACK: Lack = { amount: 0n, fate: 'pulled' };

/** The house bears an amount more. What it has recovered beyond its losses goes to `cards` with it. */
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

/** A further pull, open or in vain, or a loss. That it is set aside is staged by whoever could do it. */
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

/** Throws where it can have no further pull. */
export const refuseMorePulls = ({ fundingDebits }: CardFacts): void =>
  refuseMore(fundingDebits, 'pulls');

/** The network has taken an amount of it; of a credit it has brought one. */
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

/** What is not cleared by now never will be. */
export const expired = (card: CardFacts): Change =>
  withoutExcess({ card: { ...card, closed: true }, steps: [] });

/** It is for so much in all. */
export function advised(given: CardFacts, total: bigint, lack: Lack): Change {
  const closed = given.closed || total <= settledOf(given);
  const { card, steps } = withLack({ ...given, authorized: total, closed }, lack);
  return withoutExcess({ card, steps });
}

/**
 * A merchant gives back. The account gets as much of it as it has paid: what the house paid in its stead, or
 * what nobody has paid yet, is the house's.
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

/** The last return is taken back, first from what stayed ours. */
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

/** What was set aside is taken, or let go of. */
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

/** Whether a payment ends well without a pull: nothing more is expected, and others cover all that was. */
function isIdle(card: CardFacts, at: number): boolean {
  const others = withPull(card, at, 'FAILED');
  return (
    card.closed && settledOf(others) <= fundedOf(others) + fundingDebitAmountOf(others, 'PENDING')
  );
}

/**
 * What the issuer says of a pull. One that failed stays set aside, and a person decides; where nobody is
 * owed it, it is let go of.
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

/** Stuck pulls are taken until there is enough, in order; the others are let go of. */
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
 * An approval that nobody heard of: what was cleared with it is taken back, and what was taken goes back. A
 * pull that is under way stays set aside until the issuer has said what became of it.
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
 * A person ends an exception: what is unpaid is taken from the account, or is our loss. An account that
 * got more of returns than it ever paid gives that up in any case; one that is out of reach gives
 * nothing. Nothing more is expected of the payment then.
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

/** The move that facts lead to; none where it stays as it is. `failed`: money could not be taken. */
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
