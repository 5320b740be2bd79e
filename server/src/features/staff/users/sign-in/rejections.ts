// Audit records of rejected sign-ins, about the user concerned. Nothing is recorded about an unknown
// user; a commit of the same cost takes its place, so that the time of a reply reveals no user. The
// tried secrets are never stored.
import { Fault } from '../../../../kernel/fault.ts';
import { claim, countAttempt } from '../../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../../runtime/operation/context.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { auditedRuntime } from '../../audit/index.ts';
import { INSTALLATION } from '../../roles/index.ts';
import { operatorOfUser } from '../present-operator.ts';
import type { UserRow } from '../store.ts';
import type { Browser } from './browser.ts';

const MINUTE_MS = 60_000;

/** Attempts of a user; also the number of its records of rejected sign-ins. */
export const OF_USER = [
  { max: 5, withinMs: 15 * MINUTE_MS },
  { max: 20, withinMs: 24 * 60 * MINUTE_MS },
];

/** A request that signs in a user. */
export interface SignInAttempt {
  browser: Browser;
  operationId: string;
}

const NO_USER = 'operator sign-in of no user';

/** Commits what `stage` stages; false if a limit or other requests at the same time prevent it. */
async function isCommitted(runtime: Runtime, stage: (ctx: Ctx) => Promise<void>): Promise<boolean> {
  try {
    await operate(runtime, INSTALLATION, stage);
    return true;
  } catch (error) {
    if (error instanceof Fault) return false;
    throw error;
  }
}

/** The actor is the user whom the request claims to be, without roles: it has proven nothing. */
async function record(
  runtime: Runtime,
  { browser: { address, requestId }, operationId }: SignInAttempt,
  user: UserRow,
  reason: string,
): Promise<void> {
  const operator = {
    ...operatorOfUser({ ...user, roles: [] }),
    ...(address === undefined ? {} : { address }),
    ...(requestId === undefined ? {} : { requestId }),
  };
  const request = { operator, operationId, subject: user.id, reason: `Rejected: ${reason}.` };
  await auditedRuntime(runtime, request).recordAccess();
}

/** Records a rejected sign-in whose number is limited already. */
export async function recordLimitedRejection(
  runtime: Runtime,
  attempt: SignInAttempt,
  user: UserRow | undefined,
  reason: string,
): Promise<void> {
  if (user) await record(runtime, attempt, user, reason);
  else await isCommitted(runtime, (ctx) => claim(ctx, NO_USER));
}

/** Records a rejected sign-in, at most as often as a password can be tried. */
export async function recordRejection(
  runtime: Runtime,
  attempt: SignInAttempt,
  user: UserRow | undefined,
  reason: string,
): Promise<void> {
  const isCounted =
    user !== undefined &&
    (await isCommitted(runtime, (ctx) =>
      countAttempt(ctx, `operator rejections ${user.id}`, OF_USER),
    ));
  if (!isCounted) await isCommitted(runtime, (ctx) => claim(ctx, NO_USER));
  await recordLimitedRejection(runtime, attempt, isCounted ? user : undefined, reason);
}
