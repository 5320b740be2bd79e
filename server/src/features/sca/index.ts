// What other features may use of strong customer authentication.
import type { Feature } from '../../runtime/operation/feature.ts';
import { scaOperations } from './operations.ts';
import { scaPersonalData } from './personal.ts';
import { resetPage } from './resets/reset-page.ts';
import { resetJobs } from './resets/resets.ts';
import { challengeStates, resetStates } from './states.ts';
import { scaSweep } from './sweep.ts';

export {
  decideFactorReset,
  listScaEvents,
  scaDetails,
  searchFactorResets,
  unlockByHand,
} from './by-hand.ts';
export {
  type About,
  lapseChallenge,
  openChallenge,
  pendingChallenge,
  presentChallenge,
  prove,
  resendCode,
  type Who,
} from './challenges.ts';
export {
  addressErrors,
  SCA_TAG,
  ScaAuthorization,
  ScaChallenge,
  ScaFactor,
  type ScaFactorName,
} from './contract.ts';
export { noteScaEvent } from './events.ts';
export { isRegulated, needsSca, type ScaParts } from './parts.ts';
export { checkLock, checkSession } from './standing.ts';
export { type ChallengeRow, readChallenge } from './store.ts';

/** What this feature adds to a server. */
export const scaFeature = {
  operations: scaOperations,
  jobs: resetJobs,
  sweeps: () => [scaSweep()],
  personalData: scaPersonalData,
  page: resetPage,
  states: { challenge: challengeStates, reset: resetStates },
} satisfies Feature;
