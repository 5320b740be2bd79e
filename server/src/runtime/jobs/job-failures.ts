// Handles a failed attempt. The job runs again after a wait. After its last attempt, the job is dead and
// stores the error for the operator. An open circuit of the provider does not count as an attempt.

import type { Time } from '../../kernel/effects.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import { redactText } from '../observability/log.ts';
import type { Runtime } from '../operation/operate.ts';
import type { Job } from './job-claims.ts';
import { dueAt } from './jobs-table.ts';

/** Maximum number of attempts. With the waits, they last about ten hours. */
export const MAX_ATTEMPTS = 20;
/**
 * Maximum number of attempts of jobs that call a provider. With the waits, they last about a week,
 * so that jobs continue after an outage of days. The probe of a circuit counts as an attempt.
 * Connectors that a program adds have no circuit.
 */
export const OUTAGE_ATTEMPTS = 180;
const MAX_BACKOFF_MS = 3_600_000;
/**
 * Due time of a dead job, later than every lease and every clock. A release without the state `dead`
 * therefore never runs the job.
 */
export const NOT_DUE: Time = Date.UTC(9999, 0, 1);
/** Maximum characters of a stored error. */
const MAX_ERROR = 300;
/** Jobs that wait for one circuit are retried over this period. */
const JITTER_MS = 10_000;

/** Has no effect if the job was claimed again, changed or canceled in the meantime. */
const FAIL = `update jobs set state = $3, due_at = $4, clock_due_at = $7, last_error = $5,
    failed_at = $6
  where id = $1 and version = $2 and state = 'running'`;

const RELEASE = `update jobs set state = 'queued', due_at = $3, clock_due_at = $4,
    attempts = greatest(attempts - 1, 0)
  where id = $1 and version = $2 and state = 'running'`;

export const backoffMs = (attempts: number): number =>
  Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 20));

const PERSONAL_PATTERNS = [
  /[^\s@<>"']+@[^\s@<>"']+/g,
  // Telephone and account numbers. Digits within an ID are between hyphens.
  /(?<![\w-])\+?\d{7,}(?![\w-])/g,
];

/**
 * The stored form of an error: one line, bounded, without secrets, email addresses and long
 * numbers.
 */
export function errorText(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  const text = typeof message === 'string' && message !== '' ? message : String(code ?? error);
  const line = (text.split('\n')[0] as string).replaceAll(/\p{Cc}/gu, ' ');
  const redactedLine = PERSONAL_PATTERNS.reduce(
    (text, each) => text.replaceAll(each, '[redacted]'),
    line,
  );
  return redactText(redactedLine).slice(0, MAX_ERROR);
}

type FailedState = 'again' | 'dead' | 'postponed';

/** Records a failed attempt. Returns the job's new state. */
export async function failJob(
  { db, effects, clocks }: Pick<Runtime, 'db' | 'effects' | 'clocks'>,
  job: Job,
  error: unknown,
  maxAttempts = MAX_ATTEMPTS,
): Promise<FailedState> {
  const now = effects.now();
  /** The columns of the time after a delay, on the clock of the platform. */
  const columnsAfter = async (ms: number) => {
    const time = await clocks.timeOf({ platformId: job.platform_id });
    const dueColumns = dueAt({ now: time.now + ms, ownClock: time.ownClock });
    return [
      new Date(dueColumns.due_at),
      dueColumns.clock_due_at === null ? null : new Date(dueColumns.clock_due_at),
    ];
  };
  const openCircuit = circuitOpenIn(error);
  if (openCircuit) {
    const [byte = 0] = effects.random(1);
    const delayMs = Math.max(openCircuit.retryAt - now, 0) + Math.round((byte / 256) * JITTER_MS);
    await db.query(RELEASE, [job.id, job.version, ...(await columnsAfter(delayMs))]);
    return 'postponed';
  }
  const isDead = job.attempts >= maxAttempts;
  const [nextDueAt, clockDueAt] = isDead
    ? [new Date(NOT_DUE), null]
    : await columnsAfter(backoffMs(job.attempts));
  const [state, text] = [isDead ? 'dead' : 'queued', errorText(error)];
  await db.query(FAIL, [job.id, job.version, state, nextDueAt, text, new Date(now), clockDueAt]);
  return isDead ? 'dead' : 'again';
}
