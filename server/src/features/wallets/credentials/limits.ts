// How often a credential may fail to be proved, whatever its type: whoever guesses is stopped long
// before a guess is likely to be right. A failure that counts is committed with its refusal. Where a
// guess may be right, as with codes, nothing is judged any more beyond that. A signature cannot be
// guessed: there a good proof is taken however many bad ones came before, as anybody could otherwise
// lock the holder out with nonsense.

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

/** For what can be guessed: throws RATE_LIMITED where it failed too often lately; stages nothing. */
export const checkFailureLimit = (ctx: Ctx, credentialId: string): Promise<void> =>
  checkAttempts(ctx, limiterId(credentialId), VERIFY_FAILURES);

/** Stages that proving the credential failed, and says so; throws RATE_LIMITED beyond the limit. */
export async function recordFailure(
  ctx: Ctx,
  credentialId: string,
  fault: Fault,
): Promise<Rejected> {
  await countAttempt(ctx, limiterId(credentialId), VERIFY_FAILURES);
  return { rejected: fault };
}
