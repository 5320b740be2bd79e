// A bank that is a person: every instruction waits until the operator says what became of it, so that a
// production platform can work before any bank is connected by wire. It keeps no state and asks nobody; an
// instruction that it takes is `accepted` without a time to ask again, which means that a notice will come.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../../catalog/accounts/account-types.ts';
import type { Progress, RailInstruction, RailPort } from '../ports/index.ts';

/** An invoice runs out within minutes, which is no time for a person. */
const carries = (accountType: string): boolean =>
  isAccountType(accountType) && ACCOUNT_TYPE_ROWS[accountType].kind !== 'lightning';

/** Direct debits: what American banks offer to whoever has the owner's consent. */
const pulls = (accountType: string, rail: string | null): boolean =>
  accountType === 'USD_ACCOUNT' && (rail === null || rail === 'ACH');

function takes({ kind, account, rail }: RailInstruction): boolean {
  if (kind === 'refund') return true; // to whoever paid in, however little is known of them
  return kind === 'pull' ? pulls(account.accountType, rail) : carries(account.accountType);
}

const answer = async (instruction: RailInstruction): Promise<Progress> =>
  takes(instruction)
    ? { state: 'accepted' }
    : { state: 'failed', reason: 'ACCOUNT_CANNOT_RECEIVE' };

export const manualRail: RailPort = {
  carries,
  pulls,
  send: answer,
  check: answer,
  // The operator decides whether it can still be stopped.
  cancel: async () => 'accepted',
};
