// The pretended liveness check: nobody looks into a camera. It ends by itself a few seconds after it was
// started, or at once when the button on the hosted page is pressed; the last three characters of the
// address decide how.
import { sandboxSuffixOf } from '../../catalog/account-info.ts';
import type { LivenessCheck, LivenessPort, LivenessProgress } from '../ports.ts';

const TAKES_MS = 5_000;

export const LIVENESS_BY_SUFFIX: Readonly<Record<string, LivenessProgress>> = {
  '002': { state: 'failed' },
};

const outcomeOf = ({ account }: LivenessCheck): LivenessProgress =>
  LIVENESS_BY_SUFFIX[sandboxSuffixOf(account)] ?? { state: 'passed' };

export const sandboxLiveness: LivenessPort = {
  async check(check, now) {
    const left = check.startedAt + TAKES_MS - now;
    return left > 0 ? { state: 'waiting', checkAfterMs: left } : outcomeOf(check);
  },
  complete: async (check) => outcomeOf(check),
};
