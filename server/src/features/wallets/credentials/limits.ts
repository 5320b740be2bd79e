// Limit of failed verifications per credential, of any type. Failures are committed with the rejection. Codes
// can be guessed, so verification is blocked at the limit. A valid signature is accepted at any time, because
// signatures cannot be guessed and an attacker must not lock the holder out.

import type { Rejected } from '../../../kernel/contract/operation.ts';
import type { Fault } from '../../../kernel/fault.ts';
import {
  type AttemptRule,
  checkAttempts,
  countAttempt,
} from '../../../runtime/operation/attempt-limiter.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

const VERIFY_FAILURES: readonly AttemptRule[] = [{ max: 10, withinMs: 3_600_000 }];

const limiterId = (credentialId: string) => `verify ${credentialId}`;

/** Throws RATE_LIMITED at the limit. Only for credentials that can be guessed. */
export const checkFailureLimit = (ctx: Ctx, credentialId: string): Promise<void> =>
  checkAttempts(ctx, limiterId(credentialId), VERIFY_FAILURES);

/** Stages a failed verification and returns the rejection. Throws RATE_LIMITED beyond the limit. */
export async function recordFailure(
  ctx: Ctx,
  credentialId: string,
  fault: Fault,
): Promise<Rejected> {
  await countAttempt(ctx, limiterId(credentialId), VERIFY_FAILURES);
  return { rejected: fault };
}
