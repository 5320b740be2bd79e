// What one type of credential decides. The operations are the same for all types: they find the wallet, ask
// for signatures and keep the rows; a kind says what a body must hold, what is to be signed for it, and what
// proves it.
import type { Static } from '@sinclair/typebox';
import type { Rejected, Reply } from '../../../kernel/contract/operation.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';
import type { NewCredential } from '../accounts/credentials.ts';
import type { Wallet, WalletParts } from '../accounts/wallet.ts';
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

/** A credential that may be added. */
export interface Registration {
  /** What a session is to sign for it. */
  activity: Activity;
  row: NewCredential;
  /** What the second leg goes on with, so that it need not be found out again: an identity, say. */
  bound?: unknown;
}

/** A credential of a wallet. */
export interface WalletCredential {
  wallet: Wallet;
  row: CredentialRow;
}

type Outcome = Reply | { signatureRequest: SignatureRequest } | Rejected;

export interface Kind<T extends string = string> {
  /**
   * Judges a body: throws what stands against adding it. `bound` is what the first leg found out, on the
   * second; undefined on the first and where there is only one.
   */
  register(
    ctx: Ctx,
    parts: WalletParts,
    wallet: Wallet,
    body: CreateBodyOf<T>,
    bound: unknown,
  ): Promise<Registration>;
  /** What a credential that was just added by a signed request is shown with, beside itself. */
  added?(
    ctx: Ctx,
    parts: WalletParts,
    held: WalletCredential,
  ): Promise<Partial<Static<typeof AuthMethodResponse>>>;
  /** Body of the 200 of a challenge. Absent: this type has none. */
  challenge?(
    ctx: Ctx,
    parts: WalletParts,
    held: WalletCredential,
    body: { clientPublicKey?: string },
  ): Promise<object>;
  /** The unsigned leg of a verification: a session, something to sign first, or a refusal that counts. */
  verify(
    ctx: Ctx,
    parts: WalletParts,
    held: WalletCredential,
    body: VerifyBodyOf<T>,
    headers: Headers,
  ): Promise<Outcome>;
  /** The signed leg, where the first wants a signature. */
  verified?(
    ctx: Ctx,
    parts: WalletParts,
    held: WalletCredential,
    act: Authorization,
  ): Promise<Reply>;
  /** What a session signs to remove such a credential. */
  removal(ctx: Ctx, held: WalletCredential): Activity;
}
