// Applies the result of a challenge to the account.
import type { Ctx } from '../../../runtime/operation/context.ts';
import {
  type ExternalAccountRow,
  proveOwnership,
  requireExternalAccount,
  transitionExternalAccount,
} from '../external-accounts/index.ts';
import { isVerifiable } from './challenge.ts';
import { type OwnershipChallengeRow, ownershipChallenges } from './store.ts';

/** Closes a challenge. An account that is being checked, under review or disabled is unchanged. */
export function closeChallenge(
  ctx: Ctx,
  challenge: OwnershipChallengeRow,
  account: ExternalAccountRow,
  isProved: boolean,
): ExternalAccountRow {
  ctx.remove(ownershipChallenges, challenge);
  if (!isVerifiable(account)) {
    requireExternalAccount(ctx, account);
    return account;
  }
  if (!isProved) return transitionExternalAccount(ctx, account, 'disprove');
  return proveOwnership(ctx, account);
}
