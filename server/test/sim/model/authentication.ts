// Strong authentication of customers: challenges, proofs, failures and lockouts, and the payments
// that depend on them. Written from the specification and counted from each change, so that a proof
// counted twice or a failure that was not counted is found.
import type { Model, Payment, RecordedRow, RowChange } from './model.ts';

export interface Authentication {
  /** Regions of customers, by id. */
  regions: Map<string, string>;
  lockouts: Map<string, RecordedRow>;
  challenges: Map<string, RecordedRow>;
  /** Challenges of payments by quote, oldest first. */
  ofQuote: Map<string, string[]>;
  /** Payments by quote. */
  payments: Map<string, string>;
  /** Numbers of proofs and of satisfied challenges, by `aboutOf`. */
  proofs: Map<string, number>;
  satisfied: Map<string, number>;
  /** Failures since the last password reset, by customer. */
  failures: Map<string, number>;
  /** Expiry jobs of a challenge, by its id. */
  ends: Map<string, number>;
}

export const emptyAuthentication = (): Authentication => ({
  regions: new Map(),
  lockouts: new Map(),
  challenges: new Map(),
  ofQuote: new Map(),
  payments: new Map(),
  proofs: new Map(),
  satisfied: new Map(),
  failures: new Map(),
  ends: new Map(),
});

const bump = (counts: Map<string, number>, name: string, increment = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + increment);

const PROVED: Readonly<Record<string, string>> = {
  LOGIN: 'LOGIN',
  PAYMENT: 'AUTHORIZED',
  TRUST: 'TRUSTED',
  UNTRUST: 'UNTRUSTED',
};

/** The subject of a challenge as in its event; a login is its own subject. */
const aboutOf = ({ id, kind, subject }: RecordedRow) =>
  `${PROVED[kind ?? '']} ${kind === 'LOGIN' ? id : subject}`;

const FAILURES = [
  ...['LOGIN_FAILED', 'AUTHORIZE_FAILED', 'TRUST_FAILED', 'UNTRUST_FAILED'],
  'FAILED_LOGIN_ATTEMPT',
];

/** The challenge that a job expires. */
const endedBy = (row: RecordedRow | null): string | undefined =>
  row?.kind === 'quotes.lapse' ? JSON.parse(row.input ?? '{}').challengeId : undefined;

const APPLY: Readonly<Record<string, (authentication: Authentication, change: RowChange) => void>> =
  {
    customers({ regions }, { now }) {
      if (now?.region) regions.set(now.id as string, now.region);
    },
    quotes({ payments }, { now }) {
      if (now) payments.set(now.id as string, now.transaction_id as string);
    },
    sca_lockouts({ lockouts }, { now }) {
      if (now) lockouts.set(now.id as string, now);
    },
    sca_challenges({ challenges, ofQuote, satisfied }, { was, now }) {
      if (!now) return;
      const [id, subject] = [now.id as string, now.subject as string];
      challenges.set(id, now);
      if (now.status === 'SATISFIED' && was?.status !== 'SATISFIED') bump(satisfied, aboutOf(now));
      if (!was && now.kind === 'PAYMENT')
        ofQuote.set(subject, [...(ofQuote.get(subject) ?? []), id]);
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

export const applyAuthenticationChange = (
  authentication: Authentication,
  change: RowChange,
): void => APPLY[change.table]?.(authentication, change);

/**
 * An invalid change of a challenge, which is final once it is no longer PENDING. Final challenges
 * and unfinished logins are deleted after a month, except one that a payment waits for.
 */
export function challengeTransitionProblem(
  was: RecordedRow | null,
  now: RecordedRow | null,
): string | undefined {
  if (!now) {
    const isPending = was?.kind === 'PAYMENT' && was.status === 'PENDING';
    return isPending ? `${was.id} was removed while a payment waited for it` : undefined;
  }
  const from = was?.status ?? 'PENDING';
  if (was && from !== 'PENDING') return `${now.id} was ${from} and was changed`;
  if (!was && now.status !== 'PENDING') return `${now.id} begins ${now.status}`;
  const increase = Number(now.wrong) - Number(was?.wrong ?? 0);
  if (increase < 0 || increase > 1 || Number(now.wrong) > 5)
    return `${now.id} has ${now.wrong} wrong attempts`;
  return undefined;
}

const MINUTE = 60_000;
/** Lockout of the fifth and each further failure; after the last one only a reset unlocks. */
const LOCKS = [15 * MINUTE, 30 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE];

const timeIn = (text: string | null | undefined) => (text ? Date.parse(text) : null);

function lockProblem(was: RecordedRow | null, now: RecordedRow): string | undefined {
  const failures = Number(now.failed_attempts);
  const added = failures !== Number(was?.failed_attempts ?? 0);
  const lockMinutes = LOCKS[failures - 5];
  const suspended = failures >= 5 + LOCKS.length;
  if ((now.suspended === 'true') !== suspended) return `is suspended: ${now.suspended}`;
  const until = timeIn(now.locked_until);
  if (!lockMinutes) return until === null ? undefined : `is locked until ${now.locked_until}`;
  if (until === null) return 'is not locked';
  const lockedAt = timeIn(added ? now.updated_at : was?.locked_until);
  return until === (added ? (lockedAt ?? 0) + lockMinutes : lockedAt)
    ? undefined
    : `is locked until ${now.locked_until}`;
}

/** An invalid change of the lockout state. */
export function lockoutTransitionProblem(
  was: RecordedRow | null,
  now: RecordedRow | null,
): string | undefined {
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

/** Whether a payment requires strong authentication. */
function requiresScaIn({ authentication }: Model, row: RecordedRow): boolean {
  if (row.type !== 'OUTGOING' || !CURRENCIES.includes(row.sent_currency ?? '')) return false;
  return COUNTRIES.includes(authentication.regions.get(row.customer_id ?? '') ?? '');
}

/** The challenges of a payment, oldest first. */
export const challengesOf = ({ authentication }: Model, row: RecordedRow): RecordedRow[] =>
  row.type === 'OUTGOING'
    ? (authentication.ofQuote.get(row.quote_id ?? '') ?? []).map(
        (id) => authentication.challenges.get(id) as RecordedRow,
      )
    : [];

/** The open challenge. */
export const pendingOf = ({ authentication }: Model, quoteId: string): RecordedRow | undefined =>
  (authentication.ofQuote.get(quoteId) ?? [])
    .map((id) => authentication.challenges.get(id))
    .find((each) => each?.status === 'PENDING');

const statusesOf = (challenges: readonly RecordedRow[]) =>
  challenges.map(({ status }) => status).join();

/** Whether every required step was completed. */
function isProved(challenges: readonly RecordedRow[]): boolean {
  if (challenges.length === 0 || challenges.some(({ status }) => status !== 'SATISFIED'))
    return false;
  return JSON.parse(challenges.at(-1)?.steps ?? '[]').length === 0;
}

const isMoney = ({ currency }: { currency: string }) => !currency.startsWith('velocity.');

/** A mismatch between a payment and its challenges. */
export function challengesProblem(model: Model, { row, transfers }: Payment): string | undefined {
  const all = challengesOf(model, row);
  const open = all.filter(({ status }) => status === 'PENDING');
  const isWaiting = row.status === 'PENDING_AUTHORIZATION';
  if (open.length !== (isWaiting ? 1 : 0)) {
    return `is ${row.status} and its challenges are [${statusesOf(all)}]`;
  }
  if (open.some(({ id }) => !model.authentication.ends.get(id as string))) {
    return `waits for ${open[0]?.id}, which has no expiry job`;
  }
  const expired = row.failure_reason === 'SCA_NOT_COMPLETED';
  if (expired !== (all.at(-1)?.status === 'EXPIRED')) {
    return `failed with ${row.failure_reason}, and its challenges are [${statusesOf(all)}]`;
  }
  if ((expired || isWaiting) && transfers.some(isMoney))
    return 'was not authorized and has transfers';
  return undefined;
}

/** A payment that has just started without authentication. */
export function unauthenticatedProblem(model: Model, { row }: Payment): string | undefined {
  if (!requiresScaIn(model, row)) return undefined;
  const all = challengesOf(model, row);
  const { externalAccounts, authentication, now } = model;
  const destination = externalAccounts.get(row.destination_account ?? '');
  // For a deposit the exemption was decided at the quote, regardless of later changes of the trust.
  const trusted =
    row.source_account === null ||
    (destination?.customer_id === row.customer_id && (destination?.trusted_at ?? null) !== null);
  const exempted = authentication.proofs.get(`EXEMPTED ${row.quote_id}`) === 1;
  if (!isProved(all) && !(all.length === 0 && trusted && exempted)) {
    return `started without authentication: [${statusesOf(all)}]`;
  }
  // A deposit starts whenever it arrives; other payments require a login session.
  const until = timeIn(authentication.lockouts.get(row.customer_id ?? '')?.session_expires_at) ?? 0;
  return row.source_account === null || until > now ? undefined : 'started without a login session';
}

/** A mismatch between a challenge and its proofs. */
export function proofProblem({ authentication }: Model, id: string): string | undefined {
  const about = aboutOf(authentication.challenges.get(id) as RecordedRow);
  const [times, satisfiedCount] = [
    authentication.proofs.get(about) ?? 0,
    authentication.satisfied.get(about) ?? 0,
  ];
  return times === satisfiedCount
    ? undefined
    : `${about}: satisfied ${satisfiedCount} times, ${times} proofs`;
}

/** A wrong number of failures. */
export function failureProblem({ authentication }: Model, id: string): string | undefined {
  const counted = Number(authentication.lockouts.get(id)?.failed_attempts ?? 0);
  const failureCount = authentication.failures.get(id) ?? 0;
  return counted === failureCount
    ? undefined
    : `failed ${failureCount} times, of which ${counted} count`;
}
