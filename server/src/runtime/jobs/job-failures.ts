// What happens to a job whose attempt failed: it waits and runs again, or after its last attempt it is dead
// and keeps the error for the operator. A job whose provider's circuit is open did not have an attempt.

import type { Time } from '../../kernel/effects.ts';
import { circuitOpenIn } from '../../kernel/net/circuit.ts';
import { redactText } from '../observability/log.ts';
import type { Runtime } from '../operation/operate.ts';
import type { Job } from './job-claims.ts';

/** About ten hours with the waits between them. */
export const MAX_ATTEMPTS = 20;
/** About a week: for providers that a program brings, which no circuit guards, so that an outage counts. */
export const OUTAGE_ATTEMPTS = 180;
const MAX_BACKOFF_MS = 3_600_000;
/** Due after every lease and every clock; a release without the state `dead` never reaches it. */
export const NEVER: Time = Date.UTC(9999, 0, 1);
/** Characters of an error that are kept. */
const MAX_ERROR = 300;
/** Jobs that wait for one circuit come back spread over this time. */
const SPREAD_MS = 10_000;

/** Without the state a failure of a run that an operator has ended meanwhile would bring the job back. */
const FAIL = `update jobs set state = $3, due_at = $4, last_error = $5, failed_at = $6
  where id = $1 and version = $2 and state = 'running'`;

const RELEASE = `update jobs set state = 'queued', due_at = $3, attempts = greatest(attempts - 1, 0)
  where id = $1 and version = $2 and state = 'running'`;

export const backoffMs = (attempts: number): number =>
  Math.min(MAX_BACKOFF_MS, 1_000 * 2 ** Math.min(attempts, 20));

const PERSONAL = [
  /[^\s@<>"']+@[^\s@<>"']+/g,
  // Telephone and account numbers; digits within an id stand between hyphens.
  /(?<![\w-])\+?\d{7,}(?![\w-])/g,
];

/** An error as a job keeps it: one line, bounded, without secrets, addresses and numbers. */
export function errorText(error: unknown): string {
  const { message, code } = error as { message?: unknown; code?: unknown };
  const said = typeof message === 'string' && message !== '' ? message : String(code ?? error);
  const line = (said.split('\n')[0] as string).replaceAll(/\p{Cc}/gu, ' ');
  const clean = PERSONAL.reduce((text, each) => text.replaceAll(each, '[redacted]'), line);
  return redactText(clean).slice(0, MAX_ERROR);
}

type Failed = 'again' | 'dead' | 'postponed';

/** Writes down that an attempt failed; says what becomes of the job. */
export async function failJob(
  { db, effects }: Pick<Runtime, 'db' | 'effects'>,
  job: Job,
  error: unknown,
  maxAttempts = MAX_ATTEMPTS,
): Promise<Failed> {
  const now = effects.now();
  const open = circuitOpenIn(error);
  if (open) {
    const [byte = 0] = effects.random(1);
    const at = Math.max(open.retryAt, now) + Math.round((byte / 256) * SPREAD_MS);
    await db.query(RELEASE, [job.id, job.version, new Date(at)]);
    return 'postponed';
  }
  const isDead = job.attempts >= maxAttempts;
  const at = isDead ? NEVER : now + backoffMs(job.attempts);
  const [state, text] = [isDead ? 'dead' : 'queued', errorText(error)];
  await db.query(FAIL, [job.id, job.version, state, new Date(at), text, new Date(now)]);
  return isDead ? 'dead' : 'again';
}
