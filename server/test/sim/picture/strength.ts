// How customers of the region of strong authentication stand: challenges, proofs, failures and locks, and
// what of their money may go. Written from the specification, and kept by counting what happens, so that a
// proof which counted twice or a failure that did not count shows.
import type { Note, Noted, Payment, Picture } from './picture.ts';

export interface Strength {
  /** Where customers belong, by id. */
  regions: Map<string, string>;
  standings: Map<string, Noted>;
  challenges: Map<string, Noted>;
  /** Challenges of payments by quote, the oldest first. */
  ofQuote: Map<string, string[]>;
  /** Payments by quote. */
  payments: Map<string, string>;
  /** How often something was proved, and how many challenges about it were satisfied, by `aboutOf`. */
  proofs: Map<string, number>;
  satisfied: Map<string, number>;
  /** Failures since the password was last reset, by customer. */
  failures: Map<string, number>;
  /** Jobs that end a challenge, by its id. */
  ends: Map<string, number>;
}

export const emptyStrength = (): Strength => ({
  regions: new Map(),
  standings: new Map(),
  challenges: new Map(),
  ofQuote: new Map(),
  payments: new Map(),
  proofs: new Map(),
  satisfied: new Map(),
  failures: new Map(),
  ends: new Map(),
});

const bump = (counts: Map<string, number>, name: string, by = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + by);

const PROVED: Readonly<Record<string, string>> = {
  LOGIN: 'LOGIN',
  PAYMENT: 'AUTHORIZED',
  TRUST: 'TRUSTED',
  UNTRUST: 'UNTRUSTED',
};

/** What a challenge is about, as the event names it: a login has nothing else to be named by. */
const aboutOf = ({ id, kind, subject }: Noted) =>
  `${PROVED[kind ?? '']} ${kind === 'LOGIN' ? id : subject}`;

const FAILURES = [
  ...['LOGIN_FAILED', 'AUTHORIZE_FAILED', 'TRUST_FAILED', 'UNTRUST_FAILED'],
  'FAILED_LOGIN_ATTEMPT',
];

/** The challenge that a job is to end. */
const endedBy = (row: Noted | null): string | undefined =>
  row?.kind === 'quotes.lapse' ? JSON.parse(row.input ?? '{}').challengeId : undefined;

const APPLY: Readonly<Record<string, (strength: Strength, note: Note) => void>> = {
  customers({ regions }, { now }) {
    if (now?.region) regions.set(now.id as string, now.region);
  },
  quotes({ payments }, { now }) {
    if (now) payments.set(now.id as string, now.transaction_id as string);
  },
  sca_lockouts({ standings }, { now }) {
    if (now) standings.set(now.id as string, now);
  },
  sca_challenges({ challenges, ofQuote, satisfied }, { was, now }) {
    if (!now) return;
    const [id, subject] = [now.id as string, now.subject as string];
    challenges.set(id, now);
    if (now.status === 'SATISFIED' && was?.status !== 'SATISFIED') bump(satisfied, aboutOf(now));
    if (!was && now.kind === 'PAYMENT') ofQuote.set(subject, [...(ofQuote.get(subject) ?? []), id]);
  },
  sca_events({ proofs, failures }, { was, now }) {
    if (was || !now) return;
    const { type, subject, customer_id: customer } = now as Record<string, string>;
    if (subject) bump(proofs, `${type} ${subject}`);
    if (FAILURES.includes(type as string)) bump(failures, customer as string);
    if (type === 'RESET_PASSWORD_COMPLETED') failures.set(customer as string, 0);
  },
  jobs({ ends }, { was, now }) {
    const [before, after] = [endedBy(was), endedBy(now)];
    if (before !== undefined) bump(ends, before, -1);
    if (after !== undefined) bump(ends, after);
  },
};

export const applyStrengthNote = (strength: Strength, note: Note): void =>
  APPLY[note.table]?.(strength, note);

/**
 * What is wrong with a move of a challenge, which is over for good once it is no longer PENDING. Those
 * that are over are forgotten after a month, and logins that nobody finished; one that a payment waits
 * for never is.
 */
export function challengeMoveProblem(was: Noted | null, now: Noted | null): string | undefined {
  if (!now) {
    const waits = was?.kind === 'PAYMENT' && was.status === 'PENDING';
    return waits ? `${was.id} was removed while a payment waited for it` : undefined;
  }
  const from = was?.status ?? 'PENDING';
  if (was && from !== 'PENDING') return `${now.id} was ${from} and was changed`;
  if (!was && now.status !== 'PENDING') return `${now.id} begins ${now.status}`;
  const more = Number(now.wrong) - Number(was?.wrong ?? 0);
  if (more < 0 || more > 1 || Number(now.wrong) > 5)
    return `${now.id} has ${now.wrong} wrong tries`;
  return undefined;
}

const MINUTE = 60_000;
/** What the fifth failure and each after it bring; beyond the last nobody gets in by waiting. */
const LOCKS = [15 * MINUTE, 30 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE];

const timeIn = (text: string | null | undefined) => (text ? Date.parse(text) : null);

function lockProblem(was: Noted | null, now: Noted): string | undefined {
  const failures = Number(now.failed_attempts);
  const fresh = failures !== Number(was?.failed_attempts ?? 0);
  const due = LOCKS[failures - 5];
  const suspended = failures >= 5 + LOCKS.length;
  if ((now.suspended === 'true') !== suspended) return `is suspended: ${now.suspended}`;
  const until = timeIn(now.locked_until);
  if (!due) return until === null ? undefined : `is locked until ${now.locked_until}`;
  if (until === null) return 'is not locked';
  const at = timeIn(fresh ? now.updated_at : was?.locked_until);
  return until === (fresh ? (at ?? 0) + due : at)
    ? undefined
    : `is locked until ${now.locked_until}`;
}

/** What is wrong with where a customer stands now. */
export function standingMoveProblem(was: Noted | null, now: Noted | null): string | undefined {
  if (!now) return `${was?.id} was removed`;
  const [before, failures] = [Number(was?.failed_attempts ?? 0), Number(now.failed_attempts)];
  if (failures !== before && failures !== before + 1 && failures !== 0) {
    return `${now.id} failed ${before} times and then ${failures}`;
  }
  const problem = lockProblem(was, now);
  return problem && `${now.id} failed ${failures} times and ${problem}`;
}

const COUNTRIES = ['DE', 'FR', 'ES', 'NO'];
const CURRENCIES = ['EUR', 'USDC'];

/** Whether a payment needs its customer's word. */
function isGated({ strength }: Picture, row: Noted): boolean {
  if (row.type !== 'OUTGOING' || !CURRENCIES.includes(row.sent_currency ?? '')) return false;
  return COUNTRIES.includes(strength.regions.get(row.customer_id ?? '') ?? '');
}

/** The challenges of a payment, the oldest first. */
export const challengesOf = ({ strength }: Picture, row: Noted): Noted[] =>
  row.type === 'OUTGOING'
    ? (strength.ofQuote.get(row.quote_id ?? '') ?? []).map(
        (id) => strength.challenges.get(id) as Noted,
      )
    : [];

/** The challenge that somebody still has to answer. */
export const pendingOf = ({ strength }: Picture, quoteId: string): Noted | undefined =>
  (strength.ofQuote.get(quoteId) ?? [])
    .map((id) => strength.challenges.get(id))
    .find((each) => each?.status === 'PENDING');

const statusesOf = (challenges: readonly Noted[]) => challenges.map(({ status }) => status).join();

/** Whether every step that was asked for was proved. */
function isProved(challenges: readonly Noted[]): boolean {
  if (challenges.length === 0 || challenges.some(({ status }) => status !== 'SATISFIED'))
    return false;
  return JSON.parse(challenges.at(-1)?.steps ?? '[]').length === 0;
}

const isMoney = ({ currency }: { currency: string }) => !currency.startsWith('velocity.');

/** What is wrong between a payment and the challenges that it waited for. */
export function waitedProblem(picture: Picture, { row, transfers }: Payment): string | undefined {
  const all = challengesOf(picture, row);
  const open = all.filter(({ status }) => status === 'PENDING');
  const waits = row.status === 'PENDING_AUTHORIZATION';
  if (open.length !== (waits ? 1 : 0)) {
    return `is ${row.status} and its challenges are [${statusesOf(all)}]`;
  }
  if (open.some(({ id }) => !picture.strength.ends.get(id as string))) {
    return `waits for ${open[0]?.id}, which nothing ends`;
  }
  const lapsed = row.failure_reason === 'SCA_NOT_COMPLETED';
  if (lapsed !== (all.at(-1)?.status === 'EXPIRED')) {
    return `failed with ${row.failure_reason}, and its challenges are [${statusesOf(all)}]`;
  }
  if ((lapsed || waits) && transfers.some(isMoney)) return 'was not authorised and moved money';
  return undefined;
}

/** What is wrong with a payment that has just begun to move money. */
export function unprovedProblem(picture: Picture, { row }: Payment): string | undefined {
  if (!isGated(picture, row)) return undefined;
  const all = challengesOf(picture, row);
  const { outside, strength, now } = picture;
  const end = outside.get(row.destination_account ?? '');
  // Of what is paid in it was decided when the quote was made, whatever became of the trust since.
  const trusted =
    row.source_account === null ||
    (end?.customer_id === row.customer_id && (end?.trusted_at ?? null) !== null);
  const exempted = strength.proofs.get(`EXEMPTED ${row.quote_id}`) === 1;
  if (!isProved(all) && !(all.length === 0 && trusted && exempted)) {
    return `began without its customer's word: [${statusesOf(all)}]`;
  }
  // What is paid in comes whenever it comes; everything else is let go by somebody who is logged in.
  const until = timeIn(strength.standings.get(row.customer_id ?? '')?.session_expires_at) ?? 0;
  return row.source_account === null || until > now ? undefined : 'began and nobody is logged in';
}

/** What is wrong with a challenge and the proofs of what it is about. */
export function proofProblem({ strength }: Picture, id: string): string | undefined {
  const about = aboutOf(strength.challenges.get(id) as Noted);
  const [times, due] = [strength.proofs.get(about) ?? 0, strength.satisfied.get(about) ?? 0];
  return times === due ? undefined : `${about}: satisfied ${due} times, proved ${times} times`;
}

/** What is wrong with how often a customer counts as having failed. */
export function failureProblem({ strength }: Picture, id: string): string | undefined {
  const counted = Number(strength.standings.get(id)?.failed_attempts ?? 0);
  const seen = strength.failures.get(id) ?? 0;
  return counted === seen ? undefined : `failed ${seen} times, of which ${counted} count`;
}
