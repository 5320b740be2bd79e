// Interface of a credential type. The operations are common to all types and handle wallets, signatures and
// rows. A kind validates bodies, defines the activity to sign, and verifies the credential.
import type { Static } from '@sinclair/typebox';
import type { Rejected, Reply } from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { NewCredential } from '../accounts/credentials.ts';
import type { Wallet, WalletDeps } from '../accounts/wallet.ts';
import type { Activity } from '../signing/payload.ts';
import type { SignatureRequest } from '../signing/requests.ts';
import type { Authorization, Headers } from '../signing/signed.ts';
import type { CredentialRow } from '../store.ts';
import type {
  AuthCredentialCreateRequest,
  AuthCredentialVerifyRequest,
  AuthMethodResponse,
} from './contract.ts';

type CreateBody = Static<typeof AuthCredentialCreateRequest>;
type VerifyBody = Static<typeof AuthCredentialVerifyRequest>;
export type CreateBodyOf<T> = Extract<CreateBody, { type: T }>;
export type VerifyBodyOf<T> = Extract<VerifyBody, { type: T }>;

/** A credential to be added. */
export interface Registration {
  /** Activity that a session signs. */
  activity: Activity;
  row: NewCredential;
  /** Data for the retry, such as a verified identity. */
  boundData?: unknown;
}

export interface WalletCredential {
  wallet: Wallet;
  row: CredentialRow;
}

type Outcome = Reply | { signatureRequest: SignatureRequest } | Rejected;

export interface Kind<T extends string = string> {
  /**
   * Validates a body. `boundData` is the data of the first request, or undefined on the first request and if
   * no signature is needed.
   */
  register(
    ctx: Ctx,
    deps: WalletDeps,
    wallet: Wallet,
    body: CreateBodyOf<T>,
    boundData: unknown,
  ): Promise<Registration>;
  /** Additional reply fields of a credential that was added by a signed request. */
  addedFields?(
    ctx: Ctx,
    deps: WalletDeps,
    credential: WalletCredential,
  ): Promise<Partial<Static<typeof AuthMethodResponse>>>;
  /** Reply body of a challenge. Absent for types without challenges. */
  challenge?(
    ctx: Ctx,
    deps: WalletDeps,
    credential: WalletCredential,
    body: { clientPublicKey?: string },
  ): Promise<object>;
  /** First request of a verification: a session, a signature request, or a counted rejection. */
  verify(
    ctx: Ctx,
    deps: WalletDeps,
    credential: WalletCredential,
    body: VerifyBodyOf<T>,
    headers: Headers,
  ): Promise<Outcome>;
  /** Signed retry, if the first request requires a signature. */
  completeVerification?(
    ctx: Ctx,
    deps: WalletDeps,
    credential: WalletCredential,
    authorization: Authorization,
  ): Promise<Reply>;
  /** Activity that a session signs to remove the credential. */
  removalActivity(ctx: Ctx, credential: WalletCredential): Activity;
}
