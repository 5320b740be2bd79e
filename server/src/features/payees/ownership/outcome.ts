// What the end of a challenge means for the account, however it came about.
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type ExternalAccountRow,
  proveOwnership,
  requireExternalAccount,
  transitionExternalAccount,
} from '../external-accounts/index.ts';
import { isProvable } from './challenge.ts';
import { type OwnershipChallengeRow, ownershipChallenges } from './store.ts';

/** Ends a challenge as held or failed. An account that others decide about meanwhile is left as it is. */
export function closeChallenge(
  ctx: Ctx,
  challenge: OwnershipChallengeRow,
  account: ExternalAccountRow,
  held: boolean,
): ExternalAccountRow {
  ctx.remove(ownershipChallenges, challenge);
  if (!isProvable(account)) {
    requireExternalAccount(ctx, account);
    return account;
  }
  if (!held) return transitionExternalAccount(ctx, account, 'disprove');
  return proveOwnership(ctx, account);
}
