// How often a credential may fail to be proved, whatever its type: whoever guesses is stopped long before a
// guess is likely to be right. A failure that counts is committed with its refusal.
import type { Fault } from '../../kernel/fault.ts';
import type { Refused } from '../../kernel/operation.ts';
import type { Ctx } from '../../runtime/context.ts';
import { checkTries, noteTry, type TryRule } from '../../runtime/tries.ts';

export const VERIFY_FAILURES: readonly TryRule[] = [{ most: 10, withinMs: 3_600_000 }];

const triesOf = (credentialId: string) => `verify ${credentialId}`;

/** Throws RATE_LIMITED where the credential failed too often lately; stages nothing. */
export const checkFailures = (ctx: Ctx, credentialId: string): Promise<void> =>
  checkTries(ctx, triesOf(credentialId), VERIFY_FAILURES);

/** Stages that proving the credential failed, and is the answer that says so. */
export async function noteFailure(ctx: Ctx, credentialId: string, fault: Fault): Promise<Refused> {
  await noteTry(ctx, triesOf(credentialId), VERIFY_FAILURES);
  return { refused: fault };
}
