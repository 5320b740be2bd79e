// Audit records of rejected sign-ins of a user. For an unknown user, a commit of the same cost
// replaces the record, so that the time of a reply does not reveal which users exist. The submitted
// secrets are never stored.
import { Fault } from '../../../../kernel/fault.ts';
import { claim, countAttempt } from '../../../../runtime/operation/attempt-limiter.ts';
import { operate, type Runtime } from '../../../../runtime/operation/operate.ts';
import { INSTALLATION } from '../../../tenancy/platform/index.ts';
import { auditedRuntime } from '../../audit/index.ts';
import { operatorOfUser } from '../operator-rights.ts';
import type { UserRow } from '../store.ts';
import type { Browser } from './browser.ts';

const MINUTE_MS = 60_000;

/** Limits of the password attempts of a user, and of the records of rejected sign-ins. */
export const USER_LIMITS = [
  { max: 5, withinMs: 15 * MINUTE_MS },
  { max: 20, withinMs: 24 * 60 * MINUTE_MS },
];

/** A request that signs in a user. */
export interface SignInAttempt {
  browser: Browser;
  operationId: string;
}

const UNKNOWN_USER = 'operator sign-in of no user';

/** Counts a rejection of a user. False if the limit is reached. */
async function countRejection(runtime: Runtime, { id }: UserRow): Promise<boolean> {
  try {
    await operate(runtime, INSTALLATION, (ctx) =>
      countAttempt(ctx, `operator rejections ${id}`, USER_LIMITS),
    );
    return true;
  } catch (error) {
    if (error instanceof Fault && error.code === 'RATE_LIMITED') return false;
    throw error;
  }
}

/** A commit of the same cost as an audit record. */
const claimUnknownUser = (runtime: Runtime): Promise<void> =>
  operate(runtime, INSTALLATION, (ctx) => claim(ctx, UNKNOWN_USER));

/**
 * Records a rejection. The actor is the claimed user, without roles, because the identity is not
 * proved.
 */
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
  const request = {
    ...{ operator, operationId, subject: user.id, reason: `Rejected: ${reason}.` },
    outcome: 'UNAUTHORIZED',
  };
  await auditedRuntime(runtime, request).recordAccess();
}

/** Records a rejected sign-in. The caller has already limited the attempts. */
export async function recordLimitedRejection(
  runtime: Runtime,
  attempt: SignInAttempt,
  user: UserRow | undefined,
  reason: string,
): Promise<void> {
  if (user) await record(runtime, attempt, user, reason);
  else await claimUnknownUser(runtime);
}

/** Records a rejected sign-in, within the limits of password attempts. */
export async function recordRejection(
  runtime: Runtime,
  attempt: SignInAttempt,
  user: UserRow | undefined,
  reason: string,
): Promise<void> {
  const isCounted = user !== undefined && (await countRejection(runtime, user));
  if (!isCounted) await claimUnknownUser(runtime);
  await recordLimitedRejection(runtime, attempt, isCounted ? user : undefined, reason);
}
