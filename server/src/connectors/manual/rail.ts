// A rail that is operated manually, so that a production platform can operate without a connected
// bank. Stateless and without external calls. An accepted instruction has no time of the next check,
// because the operator records the result.
import { ACCOUNT_TYPE_ROWS, isAccountType } from '../../catalog/accounts/account-types.ts';
import type { Progress, RailInstruction, RailPort } from '../ports/index.ts';

/** A Lightning invoice usually expires before a manual payout. */
const supportsPayout = (accountType: string): boolean =>
  isAccountType(accountType) && ACCOUNT_TYPE_ROWS[accountType].kind !== 'lightning';

/** ACH debits of US bank accounts. */
const supportsDebit = (accountType: string, rail: string | null): boolean =>
  accountType === 'USD_ACCOUNT' && (rail === null || rail === 'ACH');

function accepts({ kind, account, rail }: RailInstruction): boolean {
  if (kind === 'refund') return true; // a refund needs no data of the payer
  return kind === 'debit'
    ? supportsDebit(account.accountType, rail)
    : supportsPayout(account.accountType);
}

const progressOf = async (instruction: RailInstruction): Promise<Progress> =>
  accepts(instruction)
    ? { state: 'accepted' }
    : { state: 'failed', reason: 'ACCOUNT_CANNOT_RECEIVE' };

export const manualRail: RailPort = {
  supportsPayout,
  supportsDebit,
  send: progressOf,
  check: progressOf,
  // The operator decides whether the instruction can still be canceled.
  cancel: async () => 'accepted',
};
