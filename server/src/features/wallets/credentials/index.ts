// What the composition lists of credentials, and what other features may use of them.
import type { Bound } from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { Feature } from '../../../runtime/operation/feature.ts';
import type { WalletParts } from '../accounts/index.ts';
import { credentialOperations } from './operations.ts';
import { credentialPersonalData } from './personal-data.ts';
import { sessionOperations } from './sessions.ts';

export { isPhoneTied, tiedCredentials } from './contacts.ts';
export {
  type Assertion,
  type Attestation,
  checkAssertion,
  checkAttestation,
  originProblem,
  type Passkey,
  readClientFields,
} from './webauthn.ts';

export const walletAuthOperations = (parts: WalletParts): Bound<Ctx>[] => [
  ...credentialOperations(parts),
  ...sessionOperations(parts),
];

/** What this feature adds to a server. */
export const credentialFeature = {
  operations: walletAuthOperations,
  personalData: credentialPersonalData,
} satisfies Feature;
