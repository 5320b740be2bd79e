// Public interface of strong customer authentication.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { scaOperations } from './operations.ts';
import { scaPersonalData } from './personal.ts';
import { resetPage } from './resets/reset-page.ts';
import { resetJobs } from './resets/resets.ts';
import { challengeStates, resetStates } from './states.ts';
import { scaSweep } from './sweep.ts';

export { decideFactorReset, scaDetails, searchFactorResets } from './by-operator.ts';
export {
  expireChallenge,
  findPendingChallenge,
  openChallenge,
  presentChallenge,
  prove,
  resendCode,
  type ScaAction,
  type ScaParty,
} from './challenges.ts';
export { addressErrors, ScaAuthorization, ScaChallenge, ScaFactor } from './contract.ts';
export { isRegulated, needsSca, type ScaDeps } from './deps.ts';
export type { ChallengeRow } from './store.ts';

/** Operations, jobs and other parts that this feature adds to a server. */
export const scaFeature = {
  operations: scaOperations,
  jobs: resetJobs,
  sweeps: () => [scaSweep()],
  personalData: scaPersonalData,
  page: resetPage,
  states: { challenge: challengeStates, reset: resetStates },
} satisfies Feature;
