// One-time codes for every feature that sends one. Their text and delivery are the sender's.
import type { Feature } from '../../../runtime/operation/feature.ts';
import { codeSweep } from './codes.ts';

export {
  type CodePurpose,
  type CodeRules,
  drawCode,
  dropCode,
  eraseCodes,
  issueCode,
  LETTERS_AND_DIGITS,
  takeCode,
} from './codes.ts';

/** What this feature adds to a server. */
export const codeFeature = {
  sweeps: () => [codeSweep()],
} satisfies Feature;
