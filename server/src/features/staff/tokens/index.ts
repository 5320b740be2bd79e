// Public interface of operator tokens.
import type { Feature } from '../../../runtime/operation/feature.ts';

export {
  type CurrentOperator,
  operatorTokenAuthenticator,
  readTokenOperator,
} from './authenticator.ts';
export {
  assertWithin,
  createOperatorToken,
  listOperatorTokens,
  MAX_TOKEN_DAYS,
  type NewOperatorToken,
  revokeOperatorToken,
} from './tokens.ts';

/** Parts that this feature adds to a server. */
export const operatorTokenFeature = {
  reset: { retained: { operator_tokens: 'true' } },
} satisfies Feature;
