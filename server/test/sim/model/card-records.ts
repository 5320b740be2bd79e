// Cards, and card payments as their messages describe them. Each approved message is replayed in
// the order of the change log. The replay finds a clearing that was applied twice and a lost
// notice. Written from the specification.
import { type Facts, factsOf, unclearedOf } from './card-facts.ts';
import type { RecordedRow, RowChange } from './model.ts';

/** A payment according to its messages. */
interface Replay {
  token: string;
  authorizedAmount: bigint;
  isClosed: boolean;
  settlements: string[];
  returns: string[];
  reversedCount: number;
  /** Number of events that must have been emitted. */
  eventCount: number;
  /** Number of decisions by the operator. */
  resolvedCount: number;
}

export interface CardRecords {
  cards: Map<string, RecordedRow>;
  /** Open cards, by platform and by cardholder. */
  openCards: Map<string, number>;
  /** Number of state changes of a card, and of their events. */
  changes: Map<string, number>;
  eventCount: Map<string, number>;
  /** Funding sources and delegated keys, by card. */
  bindings: Map<string, Map<string, RecordedRow>>;
  keys: Map<string, Map<string, RecordedRow>>;
  /** Payments, and their replays. */
  payments: Map<string, RecordedRow>;
  replays: Map<string, Replay>;
  /** Payments by the issuer's tokens, and the tokens of declined requests. */
  tokens: Map<string, string>;
  declinedTokens: Set<string>;
  /** Payments that expect further messages. */
  openPayments: Set<string>;
  /** Cardholders who were deleted. */
  deletedHolders: Set<string>;
  /** Payments with an open exception, and payments with funds in suspense. */
  exceptions: Set<string>;
  suspendedPayments: Set<string>;
  /** Expected balance of the card settlement account, by currency. */
  settlementBalances: Map<string, bigint>;
  /** Number of wallet signatures of a payment. */
  signatureCounts: Map<string, number>;
}

export const emptyCardRecords = (): CardRecords => ({
  cards: new Map(),
  openCards: new Map(),
  changes: new Map(),
  eventCount: new Map(),
  bindings: new Map(),
  keys: new Map(),
  payments: new Map(),
  replays: new Map(),
  tokens: new Map(),
  declinedTokens: new Set(),
  openPayments: new Set(),
  deletedHolders: new Set(),
  exceptions: new Set(),
  suspendedPayments: new Set(),
  settlementBalances: new Map(),
  signatureCounts: new Map(),
});

const increase = (counts: Map<string, number>, name: string, increment = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + increment);

const addRow = (map: Map<string, Map<string, RecordedRow>>, key: string, row: RecordedRow) => {
  const rows = map.get(key) ?? new Map<string, RecordedRow>();
  rows.set(row.id as string, row);
  map.set(key, rows);
};

/** A decision after the deadline is logged in a separate entry. */
export const isLate = ({ id }: RecordedRow): boolean => id?.includes('.late ') ?? false;

/** Requests that open a payment. All other messages about a payment are notices. */
const OPENING_KINDS = [
  ...['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION'],
  ...['FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE'],
];
export const opensPayment = ({ kind }: RecordedRow): boolean => OPENING_KINDS.includes(kind ?? '');

const sumOf = (amounts: readonly string[]) =>
  amounts.reduce((sum, amount) => sum + BigInt(amount), 0n);

/** Applies a notice. Returns whether an event is emitted. */
const NOTICE_HANDLERS: Readonly<Record<string, (replay: Replay, amount: string) => boolean>> = {
  CLEARING(replay, amount) {
    if (amount === '0') return NOTICE_HANDLERS.AUTHORIZATION_EXPIRY?.(replay, amount) ?? false;
    replay.settlements.push(amount);
    replay.isClosed ||= sumOf(replay.settlements) >= replay.authorizedAmount;
    return true;
  },
  AUTHORIZATION_EXPIRY(replay) {
    if (replay.isClosed) return false;
    replay.isClosed = true;
    return true;
  },
  AUTHORIZATION_ADVICE(replay, amount) {
    if (replay.isClosed) return false;
    replay.authorizedAmount = BigInt(amount);
    replay.isClosed ||= replay.authorizedAmount <= sumOf(replay.settlements);
    return true;
  },
  AUTHORIZATION_REVERSAL(replay, amount) {
    const reducedAmount = replay.authorizedAmount - BigInt(amount);
    return NOTICE_HANDLERS.AUTHORIZATION_ADVICE?.(replay, `${reducedAmount}`) ?? false;
  },
  RETURN(replay, amount) {
    replay.returns.push(amount);
    return true;
  },
  RETURN_REVERSAL(replay) {
    replay.returns.pop();
    replay.reversedCount++;
    return true;
  },
};

function openReplay(records: CardRecords, id: string, { kind, token, amount }: RecordedRow): void {
  const isClearedImmediately = kind?.startsWith('FINANCIAL_') ?? false;
  records.tokens.set(token as string, id);
  records.replays.set(id, {
    token: token as string,
    authorizedAmount: BigInt(amount as string),
    isClosed: isClearedImmediately,
    settlements: isClearedImmediately ? [amount as string] : [],
    returns: [],
    reversedCount: 0,
    eventCount: 1,
    resolvedCount: 0,
  });
}

function applyMessage(records: CardRecords, row: RecordedRow): void {
  const { transaction_id: id, approved, token } = row;
  if (!id) {
    // A retry under the token of a late authorization is declined, and its payment remains.
    if (approved !== 'true' && !records.tokens.has(token as string))
      records.declinedTokens.add(token as string);
    return;
  }
  if (opensPayment(row) && !isLate(row)) openReplay(records, id, row);
  else applyNotice(records.replays.get(id), row);
}

function applyNotice(replay: Replay | undefined, row: RecordedRow): void {
  if (!replay) return;
  if (isLate(row))
    Object.assign(replay, { settlements: [], isClosed: true, eventCount: replay.eventCount + 1 });
  else if (NOTICE_HANDLERS[row.kind ?? '']?.(replay, row.amount as string)) replay.eventCount++;
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** Whether the payment expired a month after its opening without a further message. */
function isExpiredWithoutMessages(before: RecordedRow, after: RecordedRow): boolean {
  const [factsBefore, factsAfter] = [factsOf(before), factsOf(after)];
  const lastEventAt = Date.parse(after.card_last_event_at ?? '');
  const hasNoMessages =
    factsBefore.settledAmount === factsAfter.settledAmount &&
    factsBefore.authorizedAmount === factsAfter.authorizedAmount;
  const isMonthOld = lastEventAt - Date.parse(after.created_at ?? '') >= MONTH_MS;
  const isDecided = before.status === 'EXCEPTION' && after.status !== 'EXCEPTION';
  return isMonthOld && hasNoMessages && !factsBefore.isClosed && factsAfter.isClosed && !isDecided;
}

/** Applies a change without a message: an expiry, a failed debit, or a decision of the operator. */
function applyChange(records: CardRecords, before: RecordedRow, after: RecordedRow): void {
  const replay = records.replays.get(after.id as string);
  if (!replay) return;
  if (!replay.isClosed && isExpiredWithoutMessages(before, after))
    Object.assign(replay, { isClosed: true, eventCount: replay.eventCount + 1 });
  if (before.status === after.status) return;
  if (before.status === 'EXCEPTION') {
    replay.resolvedCount++;
    replay.isClosed = true;
    // A full refund before the decision emits another event.
    replay.eventCount += after.status === 'REFUNDED' ? 2 : 1;
  }
  if (after.status !== 'EXCEPTION') return;
  const countStuck = (facts: Facts) =>
    facts.debits.filter(({ status }) => status === 'STUCK').length;
  if (countStuck(factsOf(after)) > countStuck(factsOf(before))) replay.eventCount++;
}

const isOpenCard = (row: RecordedRow | null) => row !== null && row.state !== 'CLOSED';

const CHANGE_HANDLERS: Readonly<Record<string, (records: CardRecords, change: RowChange) => void>> =
  {
    cards(records, { before, after }) {
      if (!after) return;
      records.cards.set(after.id as string, after);
      const increment = Number(isOpenCard(after)) - Number(isOpenCard(before));
      for (const ownerId of [after.platform_id, after.customer_id])
        increase(records.openCards, ownerId as string, increment);
      if (before && before.state !== after.state) increase(records.changes, after.id as string);
    },
    card_funding_sources({ bindings }, { after }) {
      if (after) addRow(bindings, after.card_id as string, after);
    },
    delegated_keys({ keys }, { after }) {
      if (after) addRow(keys, after.card_id as string, after);
    },
    card_messages(records, { before, after }) {
      if (after && !before) applyMessage(records, after);
    },
    card_open_payments({ openPayments }, { before, after }) {
      if (after) openPayments.add(after.id as string);
      else openPayments.delete(before?.id as string);
    },
    customers({ deletedHolders }, { after }) {
      if (after?.deleted_at) deletedHolders.add(after.id as string);
    },
    card_exceptions({ exceptions }, { before, after }) {
      if (after) exceptions.add(after.id as string);
      else exceptions.delete(before?.id as string);
    },
    suspense_items({ suspendedPayments }, { before, after }) {
      if (after) suspendedPayments.add(after.id as string);
      else suspendedPayments.delete(before?.id as string);
    },
    transactions(records, { before, after }) {
      if (after?.type !== 'CARD') return;
      const currency = after.sent_currency as string;
      const balanceChange = unclearedOf(after) - (before ? unclearedOf(before) : 0n);
      records.settlementBalances.set(
        currency,
        (records.settlementBalances.get(currency) ?? 0n) + balanceChange,
      );
      records.payments.set(after.id as string, after);
      if (before) applyChange(records, before, after);
    },
    events({ eventCount }, { before, after }) {
      if (after && !before && after.type === 'CARD.STATE_CHANGE')
        increase(eventCount, after.subject as string);
    },
    wallet_authorizations({ signatureCounts }, { before, after }) {
      if (after && !before && after.operation === 'cardPull')
        increase(signatureCounts, after.subject as string);
    },
  };

export const applyCardChange = (records: CardRecords, change: RowChange): void =>
  CHANGE_HANDLERS[change.table]?.(records, change);

const isSameList = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** A mismatch between a payment and its messages. */
export function replayProblem(row: RecordedRow, replay: Replay | undefined): string | undefined {
  if (!replay) return 'has no opening message';
  const facts = factsOf(row);
  const pairs: [string, unknown, unknown][] = [
    ['authorized', facts.authorizedAmount, replay.authorizedAmount],
    ['closed', facts.isClosed, replay.isClosed],
    ['reversed', facts.reversedCount, replay.reversedCount],
  ];
  const mismatch = pairs.find(([, actual, expected]) => actual !== expected);
  if (mismatch) return `is ${mismatch[0]} ${mismatch[1]}, by its messages ${mismatch[2]}`;
  if (!replay.token.endsWith(` ${facts.token}`)) return `has the token ${facts.token}`;
  if (!isSameList(facts.settlements, replay.settlements)) {
    return `cleared [${facts.settlements}], by its messages [${replay.settlements}]`;
  }
  if (isSameList(facts.returns, replay.returns)) return undefined;
  return `returned [${facts.returns}], by its messages [${replay.returns}]`;
}
