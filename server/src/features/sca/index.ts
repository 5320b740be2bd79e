// What other features may use of strong customer authentication.
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
export { scaOperations } from './operations.ts';
export { isRegulated, needsSca, type ScaParts } from './parts.ts';
export { scaEventPersonal, scaPersonalData } from './personal.ts';
export { resetPage } from './resets/reset-page.ts';
export { decideReset, isOpen, resetJobs, settledReset } from './resets/resets.ts';
export { checkLock, checkSession, presentStanding, unlock } from './standing.ts';
export { challengeStates, RESET_STATUSES, resetStates } from './states.ts';
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
export { scaSweep } from './sweep.ts';
