// One-time codes, shared by the features that send them. Each feature provides the text and the
// delivery.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { codeSweep } from './codes.ts';

export {
  type CodePurpose,
  type CodeRules,
  eraseCodes,
  generateCode,
  issueCode,
  LETTERS_AND_DIGITS,
  revokeCode,
  verifyCode,
} from './codes.ts';

/** Parts that this feature adds to a server. */
export const codeFeature = {
  sweeps: () => [codeSweep()],
} satisfies Feature;
