// Public interface of API tokens.
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { Authenticator } from './authenticator.ts';
import { tokenOperations } from './operations.ts';

export { type Authenticator, authenticator } from './authenticator.ts';
export { removeOtherTokens } from './operations.ts';
export { tokenOfClient } from './store.ts';
export {
  createPlatformToken,
  createTokenFor,
  listPlatformTokens,
  pageOfPlatformTokens,
  revokeToken,
} from './token.ts';

/** Parts that this feature adds to a server. */
export const tokenFeature = {
  operations: ({ tokens }: { tokens: Pick<Authenticator, 'drop'> }) => tokenOperations(tokens),
  reset: { retained: { tokens: 'true' } },
} satisfies Feature;
