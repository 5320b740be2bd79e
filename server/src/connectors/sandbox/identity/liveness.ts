// The scripted liveness check, without a camera. The check completes when the button on the hosted
// page is pressed. A check of a wallet also completes five seconds after its start, and the last
// three characters of the address select the result. A check of a customer passes at the second
// read.
import { sandboxSuffixOf } from '../../../catalog/accounts/account-info.ts';
import type { LivenessCheck, LivenessPort, LivenessProgress } from '../../ports/index.ts';

const DURATION_MS = 5_000;
const REQUIRED_POLLS = 2;

export const LIVENESS_BY_SUFFIX: Readonly<Record<string, LivenessProgress>> = {
  '002': { state: 'failed' },
};

const outcomeOf = ({ subject }: LivenessCheck): LivenessProgress =>
  (subject.type === 'WALLET' && LIVENESS_BY_SUFFIX[sandboxSuffixOf(subject.account)]) || {
    state: 'passed',
  };

function remainingMs({ subject, startedAt }: LivenessCheck, now: number): number {
  if (subject.type === 'WALLET') return startedAt + DURATION_MS - now;
  return subject.polls < REQUIRED_POLLS ? DURATION_MS : 0;
}

export const sandboxLiveness: LivenessPort = {
  async check(check, now) {
    const remainingTimeMs = remainingMs(check, now);
    return remainingTimeMs > 0
      ? { state: 'waiting', checkAfterMs: remainingTimeMs }
      : outcomeOf(check);
  },
  complete: async (check) => outcomeOf(check),
};
