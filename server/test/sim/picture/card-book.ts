// Cards, and payments with them as their messages tell them: each message that was let through is gone
// through once more, in the order of the diary, so that a clearing that counted twice or a notice that
// was lost shows. Written from the specification, and kept by counting what happens.
import { type Facts, factsOf, keptOf } from './card-facts.ts';
import type { Note, Noted } from './picture.ts';

/** A payment as its messages have it. */
interface Replay {
  token: string;
  authorized: bigint;
  closed: boolean;
  settlements: string[];
  returns: string[];
  reversed: number;
  /** How often it must have been told of. */
  told: number;
  /** How often a person has decided. */
  resolved: number;
}

export interface CardBook {
  cards: Map<string, Noted>;
  /** Cards that are not closed, by platform and by cardholder. */
  live: Map<string, number>;
  /** How often the state of a card has changed since it was there, and was told. */
  changes: Map<string, number>;
  told: Map<string, number>;
  /** What binds cards to accounts, and the keys that are given for it, by the card. */
  bindings: Map<string, Map<string, Noted>>;
  keys: Map<string, Map<string, Noted>>;
  /** Payments, and what their messages say. */
  payments: Map<string, Noted>;
  replays: Map<string, Replay>;
  /** Payments by the issuer's names for them, and the names of what was declined. */
  tokens: Map<string, string>;
  declined: Set<string>;
  /** Payments of which more is waited for. */
  awaited: Set<string>;
  /** Cardholders who were deleted. */
  deleted: Set<string>;
  /** Payments that a person is asked about, and those with money in suspense. */
  exceptions: Set<string>;
  parked: Set<string>;
  /** What the rows say that our keeping holds, by currency. */
  kept: Map<string, bigint>;
  /** How many signatures a wallet has given for a payment. */
  signed: Map<string, number>;
}

export const emptyCardBook = (): CardBook => ({
  cards: new Map(),
  live: new Map(),
  changes: new Map(),
  told: new Map(),
  bindings: new Map(),
  keys: new Map(),
  payments: new Map(),
  replays: new Map(),
  tokens: new Map(),
  declined: new Set(),
  awaited: new Set(),
  deleted: new Set(),
  exceptions: new Set(),
  parked: new Set(),
  kept: new Map(),
  signed: new Map(),
});

const bump = (counts: Map<string, number>, name: string, by = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + by);

const put = (map: Map<string, Map<string, Noted>>, key: string, row: Noted) => {
  const known = map.get(key) ?? new Map<string, Noted>();
  known.set(row.id as string, row);
  map.set(key, known);
};

/** A decision that came too late has a line of its own about it. */
export const isLate = ({ id }: Noted): boolean => id?.includes('.late ') ?? false;

/** Messages that ask for something; all others tell. */
const OPENING = [
  ...['AUTHORIZATION', 'FINANCIAL_AUTHORIZATION', 'CREDIT_AUTHORIZATION'],
  ...['FINANCIAL_CREDIT_AUTHORIZATION', 'CREDIT_AUTHORIZATION_ADVICE'],
];
export const opens = ({ kind }: Noted): boolean => OPENING.includes(kind ?? '');

const total = (amounts: readonly string[]) => amounts.reduce((all, each) => all + BigInt(each), 0n);

/** What each kind of notice does to what is known; answers whether it is told. */
const HEED: Readonly<Record<string, (replay: Replay, amount: string) => boolean>> = {
  CLEARING(replay, amount) {
    if (amount === '0') return HEED.AUTHORIZATION_EXPIRY?.(replay, amount) ?? false;
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

function open(book: CardBook, id: string, { kind, token, amount }: Noted): void {
  const atOnce = kind?.startsWith('FINANCIAL_') ?? false;
  book.tokens.set(token as string, id);
  book.replays.set(id, {
    token: token as string,
    authorized: BigInt(amount as string),
    closed: atOnce,
    settlements: atOnce ? [amount as string] : [],
    returns: [],
    reversed: 0,
    told: 1,
    resolved: 0,
  });
}

function heedMessage(book: CardBook, row: Noted): void {
  const { transaction_id: id, approved, token } = row;
  if (!id) {
    // Whoever asks once more under the name of what came too late is declined, and its payment stays.
    if (approved !== 'true' && !book.tokens.has(token as string))
      book.declined.add(token as string);
    return;
  }
  if (opens(row) && !isLate(row)) open(book, id, row);
  else heedNotice(book.replays.get(id), row);
}

function heedNotice(replay: Replay | undefined, row: Noted): void {
  if (!replay) return;
  if (isLate(row)) Object.assign(replay, { settlements: [], closed: true, told: replay.told + 1 });
  else if (HEED[row.kind ?? '']?.(replay, row.amount as string)) replay.told++;
}

const MONTH_MS = 30 * 24 * 3_600_000;

/** Whether nothing more is waited for, a month after it was opened, and its network has said nothing. */
function isGivenUp(was: Noted, now: Noted): boolean {
  const [before, after] = [factsOf(was), factsOf(now)];
  const at = Date.parse(now.card_last_event_at ?? '');
  const same = before.settled === after.settled && before.authorized === after.authorized;
  const old = at - Date.parse(now.created_at ?? '') >= MONTH_MS;
  const decided = was.status === 'EXCEPTION' && now.status !== 'EXCEPTION';
  return old && same && !before.closed && after.closed && !decided;
}

/** What of a change was done by no message: a pull that failed, or a person who decided. */
function heedMove(book: CardBook, was: Noted, now: Noted): void {
  const replay = book.replays.get(now.id as string);
  if (!replay) return;
  if (!replay.closed && isGivenUp(was, now))
    Object.assign(replay, { closed: true, told: replay.told + 1 });
  if (was.status === now.status) return;
  if (was.status === 'EXCEPTION') {
    replay.resolved++;
    replay.closed = true;
    // That all came back by then is told as well.
    replay.told += now.status === 'REFUNDED' ? 2 : 1;
  }
  if (now.status !== 'EXCEPTION') return;
  const stuck = (facts: Facts) => facts.pulls.filter(({ status }) => status === 'STUCK').length;
  if (stuck(factsOf(now)) > stuck(factsOf(was))) replay.told++;
}

const isLive = (row: Noted | null) => row !== null && row.state !== 'CLOSED';

const APPLY: Readonly<Record<string, (book: CardBook, note: Note) => void>> = {
  cards(book, { was, now }) {
    if (!now) return;
    book.cards.set(now.id as string, now);
    const by = Number(isLive(now)) - Number(isLive(was));
    for (const of of [now.platform_id, now.customer_id]) bump(book.live, of as string, by);
    if (was && was.state !== now.state) bump(book.changes, now.id as string);
  },
  card_funding_sources({ bindings }, { now }) {
    if (now) put(bindings, now.card_id as string, now);
  },
  delegated_keys({ keys }, { now }) {
    if (now) put(keys, now.card_id as string, now);
  },
  card_messages(book, { was, now }) {
    if (now && !was) heedMessage(book, now);
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
  suspense_items({ parked }, { was, now }) {
    if (now) parked.add(now.id as string);
    else parked.delete(was?.id as string);
  },
  transactions(book, { was, now }) {
    if (now?.type !== 'CARD') return;
    const currency = now.sent_currency as string;
    const more = keptOf(now) - (was ? keptOf(was) : 0n);
    book.kept.set(currency, (book.kept.get(currency) ?? 0n) + more);
    book.payments.set(now.id as string, now);
    if (was) heedMove(book, was, now);
  },
  events({ told }, { was, now }) {
    if (now && !was && now.type === 'CARD.STATE_CHANGE') bump(told, now.subject as string);
  },
  wallet_authorizations({ signed }, { was, now }) {
    if (now && !was && now.operation === 'cardPull') bump(signed, now.subject as string);
  },
};

export const applyCardNote = (book: CardBook, note: Note): void => APPLY[note.table]?.(book, note);

const sameList = (a: readonly string[], b: readonly string[]) => a.join() === b.join();

/** What is wrong between a payment and its messages. */
export function replayProblem(row: Noted, replay: Replay | undefined): string | undefined {
  if (!replay) return 'was opened by no message';
  const facts = factsOf(row);
  const pairs: [string, unknown, unknown][] = [
    ['authorized', facts.authorized, replay.authorized],
    ['closed', facts.closed, replay.closed],
    ['reversed', facts.reversed, replay.reversed],
  ];
  const off = pairs.find(([, is, due]) => is !== due);
  if (off) return `is ${off[0]} ${off[1]}, by its messages ${off[2]}`;
  if (!replay.token.endsWith(` ${facts.token}`)) return `is called ${facts.token}`;
  if (!sameList(facts.settlements, replay.settlements)) {
    return `cleared [${facts.settlements}], by its messages [${replay.settlements}]`;
  }
  if (sameList(facts.returns, replay.returns)) return undefined;
  return `got back [${facts.returns}], by its messages [${replay.returns}]`;
}
