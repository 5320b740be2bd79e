// What other features may use of strong customer authentication.
import type { Feature } from '../../runtime/operation/feature.ts';
import { scaOperations } from './operations.ts';
import { scaPersonalData } from './personal.ts';
import { resetPage } from './resets/reset-page.ts';
import { resetJobs } from './resets/resets.ts';
import { challengeStates, resetStates } from './states.ts';
import { scaSweep } from './sweep.ts';

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
  type Purpose,
  SCA_TAG,
  ScaAuthorization,
  ScaChallenge,
  ScaFactor,
  type ScaFactorName,
} from './contract.ts';
export { type By, noteScaEvent } from './events.ts';
export { enrolledFactors } from './factors/factors.ts';
export { isRegulated, needsSca, type ScaParts } from './parts.ts';
export { scaEventPersonal } from './personal.ts';
export { decideReset, isOpen, settledReset } from './resets/resets.ts';
export { checkLock, checkSession, presentStanding, unlock } from './standing.ts';
export { RESET_STATUSES } from './states.ts';
export {
  type ChallengeRow,
  type ResetRow,
  type ScaEventRow,
  scaChallenges,
  scaEvents,
  scaFactors,
  scaResets,
  scaStandings,
} from './store.ts';

/** What this feature adds to a server. */
export const scaFeature = {
  operations: scaOperations,
  jobs: resetJobs,
  sweeps: () => [scaSweep()],
  personalData: scaPersonalData,
  page: resetPage,
  states: { challenge: challengeStates, reset: resetStates },
} satisfies Feature;
