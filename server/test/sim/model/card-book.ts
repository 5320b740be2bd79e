// Cards, and card payments as their messages describe them: each approved message is replayed in
// the order of the change log, so that a clearing applied twice or a lost notice is found. Written from
// the specification.
import { type Facts, factsOf, unclearedOf } from './card-facts.ts';
import type { RecordedRow, RowChange } from './model.ts';

/** A payment according to its messages. */
interface Replay {
  token: string;
  authorized: bigint;
  closed: boolean;
  settlements: string[];
  returns: string[];
  reversed: number;
  /** Number of events that must have been emitted. */
  eventCount: number;
  /** Number of decisions by the operator. */
  resolved: number;
}

export interface CardBook {
  cards: Map<string, RecordedRow>;
  /** Open cards, by platform and by cardholder. */
  live: Map<string, number>;
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
  declined: Set<string>;
  /** Payments that expect further messages. */
  awaited: Set<string>;
  /** Cardholders who were deleted. */
  deleted: Set<string>;
  /** Payments with an open exception, and those with funds in suspense. */
  exceptions: Set<string>;
  suspended: Set<string>;
  /** Expected balance of the card settlement account, by currency. */
  stored: Map<string, bigint>;
  /** Number of wallet signatures of a payment. */
  signed: Map<string, number>;
}

export const emptyCardBook = (): CardBook => ({
  cards: new Map(),
  live: new Map(),
  changes: new Map(),
  eventCount: new Map(),
  bindings: new Map(),
  keys: new Map(),
  payments: new Map(),
  replays: new Map(),
  tokens: new Map(),
  declined: new Set(),
  awaited: new Set(),
  deleted: new Set(),
  exceptions: new Set(),
  suspended: new Set(),
  stored: new Map(),
  signed: new Map(),
});

const bump = (counts: Map<string, number>, name: string, increment = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + increment);

const addRow = (map: Map<string, Map<string, RecordedRow>>, key: string, row: RecordedRow) => {
  const rows = map.get(key) ?? new Map<string, RecordedRow>();
  rows.set(row.id as string, row);
  map.set(key, rows);
};

/** A decision that came too late is logged in its own entry. */
export const isLate = ({ id }: RecordedRow): boolean => id?.includes('.late ') ?? false;

/** Requests that open a payment; all others are notices. */
const OPENING = [
  ...['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION'],
  ...['FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE'],
];
export const opensPayment = ({ kind }: RecordedRow): boolean => OPENING.includes(kind ?? '');

const total = (amounts: readonly string[]) => amounts.reduce((all, each) => all + BigInt(each), 0n);

/** Applies a notice; returns whether an event is emitted. */
const APPLY_NOTICE: Readonly<Record<string, (replay: Replay, amount: string) => boolean>> = {
  CLEARING(replay, amount) {
    if (amount === '0') return APPLY_NOTICE.AUTHORIZATION_EXPIRY?.(replay, amount) ?? false;
    replay.settlements.push(amount);
    replay.closed ||= total(replay.settlements) >= replay.authorized;
    return true;
  },
  AUTHORIZATION_EXPIRY(replay) {
    if (replay.closed) return false;
    replay.closed = true;
    return true;
  },
  AUTHORIZATION_ADVICE(replay, amount) {
    if (replay.closed) return false;
    replay.authorized = BigInt(amount);
    replay.closed ||= replay.authorized <= total(replay.settlements);
    return true;
  },
  RETURN(replay, amount) {
    replay.returns.push(amount);
    return true;
  },
  RETURN_REVERSAL(replay) {
    replay.returns.pop();
    replay.reversed++;
    return true;
  },
};

function open(book: CardBook, id: string, { kind, token, amount }: RecordedRow): void {
  const atOnce = kind?.startsWith('FINANCIAL_') ?? false;
  book.tokens.set(token as string, id);
  book.replays.set(id, {
    token: token as string,
    authorized: BigInt(amount as string),
    closed: atOnce,
    settlements: atOnce ? [amount as string] : [],
    returns: [],
    reversed: 0,
    eventCount: 1,
    resolved: 0,
  });
}

function applyMessage(book: CardBook, row: RecordedRow): void {
  const { transaction_id: id, approved, token } = row;
  if (!id) {
    // A retry under the token of a late authorization is declined, and its payment remains.
    if (approved !== 'true' && !book.tokens.has(token as string))
      book.declined.add(token as string);
    return;
  }
  if (opensPayment(row) && !isLate(row)) open(book, id, row);
  else applyNotice(book.replays.get(id), row);
}

function applyNotice(replay: Replay | undefined, row: RecordedRow): void {
  if (!replay) return;
  if (isLate(row))
    Object.assign(replay, { settlements: [], closed: true, eventCount: replay.eventCount + 1 });
  else if (APPLY_NOTICE[row.kind ?? '']?.(replay, row.amount as string)) replay.eventCount++;
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** Whether the payment expired: a month after opening without a further message. */
function isAbandoned(was: RecordedRow, now: RecordedRow): boolean {
  const [before, after] = [factsOf(was), factsOf(now)];
  const lastEventAt = Date.parse(now.card_last_event_at ?? '');
  const hasNoMessages = before.settled === after.settled && before.authorized === after.authorized;
  const old = lastEventAt - Date.parse(now.created_at ?? '') >= MONTH_MS;
  const decided = was.status === 'EXCEPTION' && now.status !== 'EXCEPTION';
  return old && hasNoMessages && !before.closed && after.closed && !decided;
}

/** Changes without a message: a failed funding debit, or a decision of the operator. */
function applyChange(book: CardBook, was: RecordedRow, now: RecordedRow): void {
  const replay = book.replays.get(now.id as string);
  if (!replay) return;
  if (!replay.closed && isAbandoned(was, now))
    Object.assign(replay, { closed: true, eventCount: replay.eventCount + 1 });
  if (was.status === now.status) return;
  if (was.status === 'EXCEPTION') {
    replay.resolved++;
    replay.closed = true;
    // A full return by then emits an event as well.
    replay.eventCount += now.status === 'REFUNDED' ? 2 : 1;
  }
  if (now.status !== 'EXCEPTION') return;
  const countStuck = (facts: Facts) =>
    facts.debits.filter(({ status }) => status === 'STUCK').length;
  if (countStuck(factsOf(now)) > countStuck(factsOf(was))) replay.eventCount++;
}

const isLive = (row: RecordedRow | null) => row !== null && row.state !== 'CLOSED';

const APPLY: Readonly<Record<string, (book: CardBook, change: RowChange) => void>> = {
  cards(book, { was, now }) {
    if (!now) return;
    book.cards.set(now.id as string, now);
    const increment = Number(isLive(now)) - Number(isLive(was));
    for (const ownerId of [now.platform_id, now.customer_id])
      bump(book.live, ownerId as string, increment);
    if (was && was.state !== now.state) bump(book.changes, now.id as string);
  },
  card_funding_sources({ bindings }, { now }) {
    if (now) addRow(bindings, now.card_id as string, now);
  },
  delegated_keys({ keys }, { now }) {
    if (now) addRow(keys, now.card_id as string, now);
  },
  card_messages(book, { was, now }) {
    if (now && !was) applyMessage(book, now);
  },
  card_open_payments({ awaited }, { was, now }) {
    if (now) awaited.add(now.id as string);
    else awaited.delete(was?.id as string);
  },
  customers({ deleted }, { now }) {
    if (now?.deleted_at) deleted.add(now.id as string);
  },
  card_exceptions({ exceptions }, { was, now }) {
    if (now) exceptions.add(now.id as string);
    else exceptions.delete(was?.id as string);
  },
  suspense_items({ suspended }, { was, now }) {
    if (now) suspended.add(now.id as string);
    else suspended.delete(was?.id as string);
  },
  transactions(book, { was, now }) {
    if (now?.type !== 'CARD') return;
    const currency = now.sent_currency as string;
    const increase = unclearedOf(now) - (was ? unclearedOf(was) : 0n);
    book.stored.set(currency, (book.stored.get(currency) ?? 0n) + increase);
    book.payments.set(now.id as string, now);
    if (was) applyChange(book, was, now);
  },
  events({ eventCount }, { was, now }) {
    if (now && !was && now.type === 'CARD.STATE_CHANGE') bump(eventCount, now.subject as string);
  },
  wallet_authorizations({ signed }, { was, now }) {
    if (now && !was && now.operation === 'cardPull') bump(signed, now.subject as string);
  },
};

export const applyCardChange = (book: CardBook, change: RowChange): void =>
  APPLY[change.table]?.(book, change);

const sameList = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** A mismatch between a payment and its messages. */
export function replayProblem(row: RecordedRow, replay: Replay | undefined): string | undefined {
  if (!replay) return 'has no opening message';
  const facts = factsOf(row);
  const pairs: [string, unknown, unknown][] = [
    ['authorized', facts.authorized, replay.authorized],
    ['closed', facts.closed, replay.closed],
    ['reversed', facts.reversed, replay.reversed],
  ];
  const mismatch = pairs.find(([, actual, expected]) => actual !== expected);
  if (mismatch) return `is ${mismatch[0]} ${mismatch[1]}, by its messages ${mismatch[2]}`;
  if (!replay.token.endsWith(` ${facts.token}`)) return `has the token ${facts.token}`;
  if (!sameList(facts.settlements, replay.settlements)) {
    return `cleared [${facts.settlements}], by its messages [${replay.settlements}]`;
  }
  if (sameList(facts.returns, replay.returns)) return undefined;
  return `returned [${facts.returns}], by its messages [${replay.returns}]`;
}
