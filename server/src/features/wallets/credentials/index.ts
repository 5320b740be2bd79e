// What the composition lists of credentials, and what other features may use of them.
import type { Bound } from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { WalletParts } from '../accounts/index.ts';
import { credentialOperations } from './operations.ts';
import { sessionOperations } from './sessions.ts';

export { isPhoneTied, tiedCredentials } from './contacts.ts';
export { credentialPersonalData } from './personal-data.ts';
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
