// What must hold of cards and of payments with them after every step: nothing is approved that may not
// be, all that was decided is written down for good, the money of a payment is what its messages say, and
// no card is live that may not be.
import { isLate, opens, replayProblem } from '../picture/card-book.ts';
import {
  accountOf,
  factsOf,
  fundsDue,
  inSuspense,
  keptOf,
  statusDue,
  takenProblem,
} from '../picture/card-facts.ts';
import type { Noted, Payment, Picture } from '../picture/picture.ts';

const MOVES: Readonly<Record<string, readonly string[]>> = {
  PROCESSING: ['ACTIVE', 'CLOSED'],
  ACTIVE: ['FROZEN', 'CLOSED'],
  FROZEN: ['ACTIVE', 'CLOSED'],
  CLOSED: [],
};

interface Program {
  maxLive: number;
  maxLivePerHolder: number;
}
const USUAL: Program = { maxLive: 10_000, maxLivePerHolder: 10 };

/** How many cards a platform, and each of its customers, may have. */
export function programOf({ platforms }: Picture, platformId: string): Program {
  return JSON.parse(platforms.get(platformId)?.card_program ?? 'null') ?? USUAL;
}

function beyondProblem(picture: Picture, now: Noted): string | undefined {
  const [platform, holder] = [now.platform_id as string, now.customer_id as string];
  const { maxLive, maxLivePerHolder } = programOf(picture, platform);
  const { live } = picture.cardBook;
  if ((live.get(platform) ?? 0) > maxLive) return `is one more than ${platform} may have`;
  return (live.get(holder) ?? 0) > maxLivePerHolder
    ? `is one more than ${holder} may have`
    : undefined;
}

export function cardMoveProblem(picture: Picture, was: Noted | null, now: Noted | null) {
  if (!now) return `${was?.id} was removed`;
  const problem = was ? moveProblem(was, now) : beyondProblem(picture, now);
  return problem && `${now.id} ${problem}`;
}

function moveProblem(was: Noted, now: Noted): string | undefined {
  const [from, to] = [was.state as string, now.state as string];
  if (from !== to && !MOVES[from]?.includes(to)) return `went from ${from} to ${to}`;
  if ((to === 'CLOSED') !== (now.state_reason !== null)) return `is ${to}: ${now.state_reason}`;
  if (from === 'CLOSED' && was.funding !== now.funding) return 'is closed and was changed';
  return undefined;
}

/** Payments with cards may reach these, one change at a time. */
const PAYMENT: Readonly<Record<string, readonly string[]>> = {
  AUTHORIZED: ['PARTIALLY_SETTLED', 'SETTLED', 'EXCEPTION'],
  PARTIALLY_SETTLED: ['SETTLED', 'REFUNDED', 'EXCEPTION'],
  SETTLED: ['REFUNDED', 'EXCEPTION'],
  REFUNDED: ['SETTLED', 'EXCEPTION'],
  EXCEPTION: ['SETTLED', 'REFUNDED'],
};
const FIRST = ['AUTHORIZED', 'SETTLED'];

export function cardPaymentMoveProblem(was: Noted | null, now: Noted): string | undefined {
  const to = now.status as string;
  if (!was) return FIRST.includes(to) ? undefined : `begins ${to}`;
  const from = was.status as string;
  if (from !== to && !PAYMENT[from]?.includes(to)) return `went from ${from} to ${to}`;
  const kept = ['source_account', 'destination_account', 'sent_currency', 'customer_id'];
  return kept.some((name) => was[name] !== now[name]) ? 'is of another account' : undefined;
}

/** Of a frozen card only what a network tells is taken. */
function mayApprove(card: Noted | undefined, { kind }: Noted): boolean {
  if (card?.state === 'FROZEN') return kind === 'CREDIT_AUTHORIZATION_ADVICE';
  return card?.state === 'ACTIVE';
}

/** What is wrong with a line of the decision log; the book knows of it already. */
export function messageProblem(picture: Picture, was: Noted | null, now: Noted | null) {
  if (was || !now) return `${(was ?? now)?.id} was changed`;
  const { id, approved, reason, transaction_id: payment, kind } = now;
  const yes = approved === 'true';
  if (yes !== (reason === null)) return `${id} is approved: ${approved}, because ${reason}`;
  if (!yes) return !payment || isLate(now) ? undefined : `${id} was declined and opened ${payment}`;
  if (!payment) return kind === 'BALANCE_INQUIRY' ? undefined : `${id} opened nothing`;
  const { cards, tokens, declined, deleted } = picture.cardBook;
  if (declined.has(now.token as string)) return `${id} is about what was declined`;
  if (tokens.get(now.token as string) !== payment) return `${id} is about another payment`;
  const card = cards.get(now.card_id as string);
  if (!opens(now)) return undefined;
  if (deleted.has(card?.customer_id as string)) return `${id} was approved, and its holder is gone`;
  return mayApprove(card, now)
    ? undefined
    : `${id} was approved, and ${card?.id} is ${card?.state}`;
}

const shut = (picture: Picture, row: Noted) =>
  !['ACTIVE', 'FROZEN'].includes(picture.internal.get(accountOf(row))?.status ?? '');

/** What is wrong with how a payment with a card stands. */
export function cardPaymentProblem(picture: Picture, payment: Payment): string | undefined {
  const { row, transfers, story } = payment;
  const { replays, exceptions, parked, cards, signed, awaited, deleted } = picture.cardBook;
  const id = row.id as string;
  const replay = replays.get(id);
  const problem = replayProblem(row, replay);
  if (problem || !replay) return problem;
  const [facts, excepted] = [factsOf(row), exceptions.has(id)];
  if (awaited.has(id) === facts.closed) {
    return `is closed: ${facts.closed}, and its network is waited for: ${awaited.has(id)}`;
  }
  const [status, funds] = [statusDue(facts, excepted), fundsDue(facts, excepted)];
  if (row.status !== status || row.funds !== funds) {
    return `is ${row.status}, ${row.funds}, and must be ${status}, ${funds}`;
  }
  if (facts.stuck > 0n && !excepted) return 'has a pull that is stuck, and nobody is asked';
  if (excepted && facts.stuck + facts.failed === 0n) return 'is an exception without a reason';
  const taken = takenProblem(facts, excepted);
  if (taken && !(taken.startsWith('gave') && shut(picture, row))) return taken;
  const shutCard = cards.get(facts.cardId)?.state === 'CLOSED';
  const bears = shutCard || deleted.has(row.customer_id as string) || replay.resolved > 0;
  if (facts.lost > 0n && !bears) return `lost ${facts.lost} with a live card and undecided`;
  if ((inSuspense(transfers) !== 0n) !== parked.has(id)) {
    return `has ${inSuspense(transfers)} in suspense, and ${parked.has(id) ? '' : 'nobody '}is asked`;
  }
  if (story.length !== replay.told) return `was told ${story.length} times, not ${replay.told}`;
  if (story.at(-1) !== `CARD_TRANSACTION.${row.status}`) return `was told last as ${story.at(-1)}`;
  const isWallet = picture.internal.get(accountOf(row))?.type === 'EMBEDDED_WALLET';
  const asides = transfers.filter(({ phase }) => phase === 'pending').length;
  const due = isWallet ? asides : 0;
  const signatures = signed.get(id) ?? 0;
  return signatures === due ? undefined : `was signed for ${signatures} times, not ${due}`;
}

/** What is wrong with a card: what pays for it, its keys, its places, and what was told. */
export function cardProblem(picture: Picture, id: string): string | undefined {
  const { cards, bindings, keys, changes, told } = picture.cardBook;
  const card = cards.get(id);
  if (!card) return 'is not there';
  const open = [...(bindings.get(id)?.values() ?? [])].filter(({ ended_at }) => !ended_at);
  const bound = open.map(({ account_id }) => account_id).sort();
  const due: string[] = card.state === 'CLOSED' ? [] : JSON.parse(card.funding as string);
  if (bound.join() !== [...due].sort().join()) return `is paid by [${bound}], and says [${due}]`;
  const live = [...(keys.get(id)?.values() ?? [])].filter(({ status }) => status !== 'REVOKED');
  const lone = live.find((key) => !open.some((each) => each.id === key.funding_source_id));
  if (lone) return `has ${lone.id}, which is ${lone.status} and of nothing that pays`;
  const active = live.filter(({ status }) => status === 'ACTIVE');
  if (new Set(active.map((key) => key.funding_source_id)).size !== active.length) {
    return 'has two keys for one account';
  }
  const [is, should] = [told.get(id) ?? 0, changes.get(id) ?? 0];
  return is === should ? undefined : `was told ${is} times and has changed ${should} times`;
}

/** What is wrong with the places that live cards take. */
export function* placeProblems({ accounts, cardBook }: Picture, of: Iterable<string>) {
  for (const id of of) {
    const used = -(accounts.get(`velocity:cards:${id}`)?.balance ?? 0n);
    const live = cardBook.live.get(id) ?? 0;
    if (used !== BigInt(live)) yield `${id} has ${live} live cards in ${used} places`;
  }
}

/** Our keeping has what the rows say. */
export function* keepingProblems({ accounts, cardBook }: Picture) {
  for (const [currency, kept] of cardBook.kept) {
    const id = `system:sandbox:cards:${currency}`;
    const balance = accounts.get(id)?.balance ?? 0n;
    if (balance !== kept) yield `${id} has ${balance}, and card payments say ${kept}`;
  }
}

/** The same from all rows anew. */
export function* keptAnew({ cardBook }: Picture) {
  const sums = new Map<string, bigint>();
  for (const row of cardBook.payments.values()) {
    const currency = row.sent_currency as string;
    sums.set(currency, (sums.get(currency) ?? 0n) + keptOf(row));
  }
  for (const [currency, kept] of sums) {
    if (cardBook.kept.get(currency) !== kept) yield `kept of ${currency} is ${kept} by all rows`;
  }
}
