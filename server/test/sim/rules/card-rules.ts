// Invariants of cards and card payments. Approvals and open cards must be permitted. Decisions are
// permanent. The transfers of a payment must match its messages.

import {
  accountOf,
  amountInSuspense,
  conflictProblem,
  EXCESS_REFUND,
  expectedFunds,
  expectedStatus,
  factsOf,
  unclearedOf,
} from '../model/card-facts.ts';
import { isLate, opensPayment, replayProblem } from '../model/card-records.ts';
import type { Model, Payment, RecordedRow } from '../model/model.ts';

const TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  PROCESSING: ['ACTIVE', 'CLOSED'],
  ACTIVE: ['FROZEN', 'CLOSED'],
  FROZEN: ['ACTIVE', 'CLOSED'],
  CLOSED: [],
};

interface Program {
  maxLive: number;
  maxLivePerHolder: number;
}
const DEFAULT_PROGRAM: Program = { maxLive: 10_000, maxLivePerHolder: 10 };

/** The number of open cards that a platform and each of its customers may have. */
export function programOf({ platforms }: Model, platformId: string): Program {
  return JSON.parse(platforms.get(platformId)?.card_program ?? 'null') ?? DEFAULT_PROGRAM;
}

function limitProblem(model: Model, after: RecordedRow): string | undefined {
  const [platform, holder] = [after.platform_id as string, after.customer_id as string];
  const { maxLive, maxLivePerHolder } = programOf(model, platform);
  const { openCards } = model.cardRecords;
  if ((openCards.get(platform) ?? 0) > maxLive) return `exceeds the limit of ${platform}`;
  return (openCards.get(holder) ?? 0) > maxLivePerHolder
    ? `exceeds the limit of ${holder}`
    : undefined;
}

export function cardTransitionProblem(
  model: Model,
  before: RecordedRow | null,
  after: RecordedRow | null,
) {
  if (!after) return `${before?.id} was removed`;
  const problem = before ? transitionProblem(before, after) : limitProblem(model, after);
  return problem && `${after.id} ${problem}`;
}

function transitionProblem(before: RecordedRow, after: RecordedRow): string | undefined {
  const [from, to] = [before.state as string, after.state as string];
  if (from !== to && !TRANSITIONS[from]?.includes(to)) return `changed from ${from} to ${to}`;
  if ((to === 'CLOSED') !== (after.state_reason !== null))
    return `is ${to} with the state reason ${after.state_reason}`;
  if (from === 'CLOSED' && before.funding !== after.funding) return 'is closed and was changed';
  return undefined;
}

/** Permitted changes of status of card payments, one at a time. */
const PAYMENT_TRANSITIONS: Readonly<Record<string, readonly string[]>> = {
  AUTHORIZED: ['PARTIALLY_SETTLED', 'SETTLED', 'EXCEPTION'],
  PARTIALLY_SETTLED: ['SETTLED', 'REFUNDED', 'EXCEPTION'],
  SETTLED: ['REFUNDED', 'EXCEPTION'],
  REFUNDED: ['SETTLED', 'EXCEPTION'],
  EXCEPTION: ['SETTLED', 'REFUNDED'],
};
const INITIAL_STATUSES = ['AUTHORIZED', 'SETTLED'];

export function cardPaymentTransitionProblem(
  before: RecordedRow | null,
  after: RecordedRow,
): string | undefined {
  const to = after.status as string;
  if (!before) return INITIAL_STATUSES.includes(to) ? undefined : `is ${to} at creation`;
  const from = before.status as string;
  if (from !== to && !PAYMENT_TRANSITIONS[from]?.includes(to))
    return `changed from ${from} to ${to}`;
  const fixedColumns = ['source_account', 'destination_account', 'sent_currency', 'customer_id'];
  return fixedColumns.some((name) => before[name] !== after[name])
    ? 'changed its account'
    : undefined;
}

/** A frozen card permits only credit adjustments. */
function mayApprove(card: RecordedRow | undefined, { kind }: RecordedRow): boolean {
  if (card?.state === 'FROZEN') return kind === 'CREDIT_AUTHORIZATION_ADVICE';
  return card?.state === 'ACTIVE';
}

/** An invalid entry of the decision log. The card records already include the entry. */
export function messageProblem(
  model: Model,
  before: RecordedRow | null,
  after: RecordedRow | null,
) {
  if (before || !after) return `${(before ?? after)?.id} was changed`;
  const { id, approved, reason, transaction_id: payment, kind } = after;
  const isApproved = approved === 'true';
  if (isApproved !== (reason === null))
    return `${id} has approved = ${approved} and the reason ${reason}`;
  if (!isApproved)
    return !payment || isLate(after) ? undefined : `${id} was declined and opened ${payment}`;
  if (!payment) return kind === 'BALANCE_INQUIRY' ? undefined : `${id} opened no payment`;
  const { cards, tokens, declinedTokens, deletedHolders } = model.cardRecords;
  if (declinedTokens.has(after.token as string)) return `${id} is about a declined request`;
  if (tokens.get(after.token as string) !== payment) return `${id} is about another payment`;
  const card = cards.get(after.card_id as string);
  if (!opensPayment(after)) return undefined;
  if (deletedHolders.has(card?.customer_id as string))
    return `${id} was approved, and its holder is deleted`;
  return mayApprove(card, after)
    ? undefined
    : `${id} was approved, and ${card?.id} is ${card?.state}`;
}

const isAccountUnavailable = (model: Model, row: RecordedRow) =>
  !['ACTIVE', 'FROZEN'].includes(model.internal.get(accountOf(row))?.status ?? '');

/** A card payment in a wrong state. */
export function cardPaymentProblem(model: Model, payment: Payment): string | undefined {
  const { row, transfers, eventTypes } = payment;
  const {
    replays,
    exceptions,
    suspendedPayments,
    cards,
    signatureCounts,
    openPayments,
    deletedHolders,
  } = model.cardRecords;
  const id = row.id as string;
  const replay = replays.get(id);
  const problem = replayProblem(row, replay);
  if (problem || !replay) return problem;
  const [facts, hasException] = [factsOf(row), exceptions.has(id)];
  if (openPayments.has(id) === facts.isClosed) {
    return `is closed: ${facts.isClosed}, with an open network payment: ${openPayments.has(id)}`;
  }
  const [status, funds] = [expectedStatus(facts, hasException), expectedFunds(facts, hasException)];
  if (row.status !== status || row.funds !== funds) {
    return `is ${row.status}, ${row.funds}, and must be ${status}, ${funds}`;
  }
  if (facts.stuckAmount > 0n && !hasException) return 'has a stuck funding debit and no exception';
  if (hasException && facts.stuckAmount + facts.failedAmount === 0n)
    return 'is an exception without a reason';
  const conflict = conflictProblem(facts, hasException);
  const isExempt = conflict === EXCESS_REFUND && isAccountUnavailable(model, row);
  if (conflict && !isExempt) return conflict;
  const isCardClosed = cards.get(facts.cardId)?.state === 'CLOSED';
  const canWriteOff =
    isCardClosed || deletedHolders.has(row.customer_id as string) || replay.resolvedCount > 0;
  if (facts.writtenOffAmount > 0n && !canWriteOff)
    return `wrote off ${facts.writtenOffAmount} with an open card and no decision`;
  if ((amountInSuspense(transfers) !== 0n) !== suspendedPayments.has(id)) {
    const item = suspendedPayments.has(id) ? 'a' : 'no';
    return `has ${amountInSuspense(transfers)} in suspense, and ${item} suspense item`;
  }
  if (eventTypes.length !== replay.eventCount)
    return `emitted ${eventTypes.length} events, not ${replay.eventCount}`;
  if (eventTypes.at(-1) !== `CARD_TRANSACTION.${row.status}`)
    return `last emitted ${eventTypes.at(-1)}`;
  const isWallet = model.internal.get(accountOf(row))?.type === 'EMBEDDED_WALLET';
  const holdCount = transfers.filter(({ phase }) => phase === 'pending').length;
  const expectedCount = isWallet ? holdCount : 0;
  const signatures = signatureCounts.get(id) ?? 0;
  return signatures === expectedCount
    ? undefined
    : `has ${signatures} signatures, not ${expectedCount}`;
}

/** A card with wrong funding sources, keys or events. */
export function cardProblem(model: Model, id: string): string | undefined {
  const { cards, bindings, keys, changes, eventCount } = model.cardRecords;
  const card = cards.get(id);
  if (!card) return 'does not exist';
  const openBindings = [...(bindings.get(id)?.values() ?? [])].filter(({ ended_at }) => !ended_at);
  const boundAccounts = openBindings.map(({ account_id }) => account_id).sort();
  const expectedSources: string[] =
    card.state === 'CLOSED' ? [] : JSON.parse(card.funding as string);
  if (boundAccounts.join() !== [...expectedSources].sort().join())
    return `is funded by [${boundAccounts}], and its row lists [${expectedSources}]`;
  const unrevokedKeys = [...(keys.get(id)?.values() ?? [])].filter(
    ({ status }) => status !== 'REVOKED',
  );
  const unboundKey = unrevokedKeys.find(
    (key) => !openBindings.some((fundingSource) => fundingSource.id === key.funding_source_id),
  );
  if (unboundKey)
    return `has ${unboundKey.id}, which is ${unboundKey.status} and has no funding source`;
  const activeKeys = unrevokedKeys.filter(({ status }) => status === 'ACTIVE');
  if (new Set(activeKeys.map((key) => key.funding_source_id)).size !== activeKeys.length) {
    return 'has two keys for one account';
  }
  const [emittedCount, changeCount] = [eventCount.get(id) ?? 0, changes.get(id) ?? 0];
  return emittedCount === changeCount
    ? undefined
    : `emitted ${emittedCount} events for ${changeCount} changes`;
}

/** A wrong count of open cards. */
export function* cardLimitProblems({ accounts, cardRecords }: Model, accountIds: Iterable<string>) {
  for (const id of accountIds) {
    const usedCount = -(accounts.get(`velocity:cards:${id}`)?.balance ?? 0n);
    const openCount = cardRecords.openCards.get(id) ?? 0;
    if (usedCount !== BigInt(openCount))
      yield `${id} has ${openCount} open cards and counts ${usedCount}`;
  }
}

/** The card settlement account equals the open card payments. */
export function* settlementProblems({ accounts, cardRecords }: Model) {
  for (const [currency, storedBalance] of cardRecords.settlementBalances) {
    const id = `system:sandbox:cards:${currency}`;
    const balance = accounts.get(id)?.balance ?? 0n;
    if (balance !== storedBalance)
      yield `${id} has ${balance}, and card payments require ${storedBalance}`;
  }
}

/** Compares the expected settlement balances with the sums over all payments. */
export function* recountSettlement({ cardRecords }: Model) {
  const sums = new Map<string, bigint>();
  for (const row of cardRecords.payments.values()) {
    const currency = row.sent_currency as string;
    sums.set(currency, (sums.get(currency) ?? 0n) + unclearedOf(row));
  }
  for (const [currency, storedBalance] of sums) {
    if (cardRecords.settlementBalances.get(currency) !== storedBalance)
      yield `settlement of ${currency} is ${storedBalance} by all rows`;
  }
}
