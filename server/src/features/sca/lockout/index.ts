// Failures, locks and logins of customers, as other features use them.
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';

export {
  absolve,
  checkLock,
  checkSession,
  endSession,
  lockoutOf,
  noteFailure,
  openSession,
  presentLockout,
  unlockByHand,
} from './lockout.ts';

const personalData: PersonalData = {
  tables: { sca_lockouts: { rows: 't.id = $1', erasure: 'removed' } },
};

/** What this feature adds to a server. */
export const lockoutFeature = { personalData } satisfies Feature;
