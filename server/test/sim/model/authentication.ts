// Strong authentication of customers: challenges, proofs, failures and lockouts, and the payments
// that depend on them. The model is written from the specification and counted from each change. It
// finds a proof that was counted twice and a failure that was not counted.
import type { Model, Payment, RecordedRow, RowChange } from './model.ts';

export interface Authentication {
  /** Regions of customers, by ID. */
  regions: Map<string, string>;
  lockouts: Map<string, RecordedRow>;
  challenges: Map<string, RecordedRow>;
  /** Challenges of payments by quote, oldest first. */
  challengesByQuote: Map<string, string[]>;
  /** Payments by quote. */
  payments: Map<string, string>;
  /** Numbers of proofs and of satisfied challenges, by `proofKeyOf`. */
  proofs: Map<string, number>;
  satisfiedCounts: Map<string, number>;
  /** Failures since the last password reset, by customer. */
  failures: Map<string, number>;
  /** Expiry jobs of a challenge, by its ID. */
  expiryJobs: Map<string, number>;
}

export const emptyAuthentication = (): Authentication => ({
  regions: new Map(),
  lockouts: new Map(),
  challenges: new Map(),
  challengesByQuote: new Map(),
  payments: new Map(),
  proofs: new Map(),
  satisfiedCounts: new Map(),
  failures: new Map(),
  expiryJobs: new Map(),
});

const increase = (counts: Map<string, number>, name: string, increment = 1) =>
  counts.set(name, (counts.get(name) ?? 0) + increment);

const PROOF_EVENTS: Readonly<Record<string, string>> = {
  LOGIN: 'LOGIN',
  PAYMENT: 'AUTHORIZED',
  TRUST: 'TRUSTED',
  UNTRUST: 'UNTRUSTED',
};

/** The subject of a challenge as in its event. A login is its own subject. */
const proofKeyOf = ({ id, kind, subject }: RecordedRow) =>
  `${PROOF_EVENTS[kind ?? '']} ${kind === 'LOGIN' ? id : subject}`;

const FAILURE_EVENTS = [
  ...['LOGIN_FAILED', 'AUTHORIZE_FAILED', 'TRUST_FAILED', 'UNTRUST_FAILED'],
  'FAILED_LOGIN_ATTEMPT',
];

/** ID of the challenge that a job expires. */
const expiringChallengeId = (row: RecordedRow | null): string | undefined =>
  row?.kind === 'quotes.expire-authorization'
    ? JSON.parse(row.input ?? '{}').challengeId
    : undefined;

const CHANGE_HANDLERS: Readonly<
  Record<string, (authentication: Authentication, change: RowChange) => void>
> = {
  customers({ regions }, { after }) {
    if (after?.region) regions.set(after.id as string, after.region);
  },
  quotes({ payments }, { after }) {
    if (after) payments.set(after.id as string, after.transaction_id as string);
  },
  sca_lockouts({ lockouts }, { after }) {
    if (after) lockouts.set(after.id as string, after);
  },
  sca_challenges({ challenges, challengesByQuote, satisfiedCounts }, { before, after }) {
    if (!after) return;
    const [id, subject] = [after.id as string, after.subject as string];
    challenges.set(id, after);
    if (after.status === 'SATISFIED' && before?.status !== 'SATISFIED')
      increase(satisfiedCounts, proofKeyOf(after));
    if (!before && after.kind === 'PAYMENT')
      challengesByQuote.set(subject, [...(challengesByQuote.get(subject) ?? []), id]);
  },
  sca_events({ proofs, failures }, { before, after }) {
    if (before || !after) return;
    const { type, subject, customer_id: customer } = after as Record<string, string>;
    if (subject) increase(proofs, `${type} ${subject}`);
    if (FAILURE_EVENTS.includes(type as string)) increase(failures, customer as string);
    if (type === 'RESET_PASSWORD_COMPLETED') failures.set(customer as string, 0);
  },
  jobs({ expiryJobs }, { before, after }) {
    const [removedId, addedId] = [expiringChallengeId(before), expiringChallengeId(after)];
    if (removedId !== undefined) increase(expiryJobs, removedId, -1);
    if (addedId !== undefined) increase(expiryJobs, addedId);
  },
};

export const applyAuthenticationChange = (
  authentication: Authentication,
  change: RowChange,
): void => CHANGE_HANDLERS[change.table]?.(authentication, change);

/**
 * An invalid change of a challenge. Every status except PENDING is final. Final challenges and
 * unfinished logins are deleted after a month, except a challenge that a payment waits for.
 */
export function challengeTransitionProblem(
  before: RecordedRow | null,
  after: RecordedRow | null,
): string | undefined {
  if (!after) {
    const isPending = before?.kind === 'PAYMENT' && before.status === 'PENDING';
    return isPending ? `${before.id} was removed while a payment waited for it` : undefined;
  }
  const from = before?.status ?? 'PENDING';
  if (before && from !== 'PENDING') return `${after.id} was changed after it was ${from}`;
  if (!before && after.status !== 'PENDING') return `${after.id} is ${after.status} at creation`;
  const newFailures = Number(after.wrong) - Number(before?.wrong ?? 0);
  if (newFailures < 0 || newFailures > 1 || Number(after.wrong) > 5)
    return `${after.id} has ${after.wrong} wrong attempts`;
  return undefined;
}

const MINUTE = 60_000;
/** Lockouts after the fifth to the eighth failure. After the ninth failure only a reset unlocks. */
const LOCKOUT_DURATIONS = [15 * MINUTE, 30 * MINUTE, 60 * MINUTE, 24 * 60 * MINUTE];

const timeIn = (text: string | null | undefined) => (text ? Date.parse(text) : null);

function lockProblem(before: RecordedRow | null, after: RecordedRow): string | undefined {
  const failures = Number(after.failed_attempts);
  const isAdded = failures !== Number(before?.failed_attempts ?? 0);
  const lockoutMs = LOCKOUT_DURATIONS[failures - 5];
  const isSuspended = failures >= 5 + LOCKOUT_DURATIONS.length;
  if ((after.suspended === 'true') !== isSuspended) return `is suspended: ${after.suspended}`;
  const lockedUntil = timeIn(after.locked_until);
  if (!lockoutMs) return lockedUntil === null ? undefined : `is locked until ${after.locked_until}`;
  if (lockedUntil === null) return 'is not locked';
  const lockedAt = timeIn(isAdded ? after.updated_at : before?.locked_until);
  return lockedUntil === (isAdded ? (lockedAt ?? 0) + lockoutMs : lockedAt)
    ? undefined
    : `is locked until ${after.locked_until}`;
}

/** An invalid change of the lockout state. */
export function lockoutTransitionProblem(
  before: RecordedRow | null,
  after: RecordedRow | null,
): string | undefined {
  if (!after) return `${before?.id} was removed`;
  const [previousFailures, failures] = [
    Number(before?.failed_attempts ?? 0),
    Number(after.failed_attempts),
  ];
  if (failures !== previousFailures && failures !== previousFailures + 1 && failures !== 0) {
    return `${after.id} failed ${previousFailures} times and then ${failures}`;
  }
  const problem = lockProblem(before, after);
  return problem && `${after.id} failed ${failures} times and ${problem}`;
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
    ? (authentication.challengesByQuote.get(row.quote_id ?? '') ?? []).map(
        (id) => authentication.challenges.get(id) as RecordedRow,
      )
    : [];

/** The pending challenge of a quote. */
export const pendingChallengeOf = (
  { authentication }: Model,
  quoteId: string,
): RecordedRow | undefined =>
  (authentication.challengesByQuote.get(quoteId) ?? [])
    .map((id) => authentication.challenges.get(id))
    .find((challenge) => challenge?.status === 'PENDING');

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
  const allChallenges = challengesOf(model, row);
  const openChallenges = allChallenges.filter(({ status }) => status === 'PENDING');
  const isWaiting = row.status === 'PENDING_AUTHORIZATION';
  if (openChallenges.length !== (isWaiting ? 1 : 0)) {
    return `is ${row.status} and its challenges are [${statusesOf(allChallenges)}]`;
  }
  if (openChallenges.some(({ id }) => !model.authentication.expiryJobs.get(id as string))) {
    return `waits for ${openChallenges[0]?.id}, which has no expiry job`;
  }
  const isExpired = row.failure_reason === 'SCA_NOT_COMPLETED';
  if (isExpired !== (allChallenges.at(-1)?.status === 'EXPIRED')) {
    return `failed with ${row.failure_reason}, and its challenges are [${statusesOf(allChallenges)}]`;
  }
  if ((isExpired || isWaiting) && transfers.some(isMoney))
    return 'was not authorized and has transfers';
  return undefined;
}

/** A payment that has just started without authentication. */
export function unauthenticatedProblem(model: Model, { row }: Payment): string | undefined {
  if (!requiresScaIn(model, row)) return undefined;
  const allChallenges = challengesOf(model, row);
  const { externalAccounts, authentication, now } = model;
  const destination = externalAccounts.get(row.destination_account ?? '');
  // The exemption of a deposit was decided at the quote, regardless of later changes of the trusted
  // account.
  const isTrusted =
    row.source_account === null ||
    (destination?.customer_id === row.customer_id && (destination?.trusted_at ?? null) !== null);
  const isExempted = authentication.proofs.get(`EXEMPTED ${row.quote_id}`) === 1;
  if (!isProved(allChallenges) && !(allChallenges.length === 0 && isTrusted && isExempted)) {
    return `started without authentication: [${statusesOf(allChallenges)}]`;
  }
  // A deposit starts at its arrival. Other payments require a login session.
  const sessionEnd =
    timeIn(authentication.lockouts.get(row.customer_id ?? '')?.session_expires_at) ?? 0;
  return row.source_account === null || sessionEnd > now
    ? undefined
    : 'started without a login session';
}

/** A mismatch between a challenge and its proofs. */
export function proofProblem({ authentication }: Model, id: string): string | undefined {
  const proofKey = proofKeyOf(authentication.challenges.get(id) as RecordedRow);
  const [proofCount, satisfiedCount] = [
    authentication.proofs.get(proofKey) ?? 0,
    authentication.satisfiedCounts.get(proofKey) ?? 0,
  ];
  return proofCount === satisfiedCount
    ? undefined
    : `${proofKey}: satisfied ${satisfiedCount} times, ${proofCount} proofs`;
}

/** A wrong number of failures. */
export function failureProblem({ authentication }: Model, id: string): string | undefined {
  const countedFailures = Number(authentication.lockouts.get(id)?.failed_attempts ?? 0);
  const failureCount = authentication.failures.get(id) ?? 0;
  return countedFailures === failureCount
    ? undefined
    : `has ${countedFailures} counted failures and failed ${failureCount} times`;
}
