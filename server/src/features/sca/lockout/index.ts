// Public interface of lockouts and SCA sessions.
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { PersonalData } from '../../../runtime/operation/personal-data.ts';

export {
  checkLock,
  checkSession,
  lockoutOf,
  openSession,
  presentLockout,
  recordScaFailure,
  resetLockout,
  revokeSession,
  unlockByOperator,
} from './lockout.ts';

const personalData: PersonalData = {
  tables: { sca_lockouts: { rows: 't.id = $1', erasure: 'removed' } },
};

/** Operations, jobs and other parts that this feature adds to a server. */
export const lockoutFeature = { personalData } satisfies Feature;
