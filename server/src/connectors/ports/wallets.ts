// The ports of embedded wallets: who keeps their seeds, who reads the tokens of identity providers,
// and what a scripted environment takes in place of a real signature. They stand apart because the
// other ports are about money and people.
import type { OidcVerdict } from '../../catalog/identity/oidc.ts';
import type { Time } from '../../kernel/effects.ts';

/** What the installation lends a custodian: sealing, and secrets that follow from a purpose. */
export interface CustodyKeys {
  seal(text: Uint8Array | string, context: string): string;
  /** Throws for another context or a damaged text. */
  open(sealed: string, context: string): Buffer;
  /** 32 bytes, the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** What of a wallet its custodian puts into bundles and payloads. */
interface CustodyNames {
  organizationId: string;
  walletId: string;
}

/**
 * Keeps what must never leave it: the seeds of wallets, the keys that one-time codes are encrypted
 * to, those that sign for a wallet by themselves, and those that sign its bundles. The texts it
 * hands out (`seed`, `target`, `signer`) mean something to it alone. Every bundle, token and stamp
 * is one that clients of this API can read as it is.
 */
export interface CustodyPort {
  /** Draws the seed of a new wallet. */
  newSeed(of: CustodyNames): Promise<{ seed: string }>;
  /** The wallet's words, encrypted to an uncompressed P-256 key, lower-case hex: an export bundle. */
  exportSeed(of: CustodyNames & { seed: string; clientPublicKey: string }): Promise<string>;
  /**
   * Draws a session key and seals it to an uncompressed `clientPublicKey`. The private half is
   * forgotten. `publicKey` is compressed, lower-case hex.
   */
  newSessionKey(clientPublicKey: string): Promise<{ publicKey: string; sealedKey: string }>;
  /** Draws a key that a one-time code is encrypted to. `id` is unique for the code. */
  newOtpTarget(of: {
    id: string;
    organizationId: string;
    expiresAt: Time;
  }): Promise<{ target: string; bundle: string }>;
  /** What was encrypted to it; undefined where it was not, or is not of the agreed form. */
  openOtp(of: {
    id: string;
    target: string;
    encryptedBundle: string;
  }): Promise<{ code: string; publicKey: string } | undefined>;
  /** A token that says who has shown a one-time code: a compact ES256 JWT. */
  signToken(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * Draws a key that signs for a wallet by itself. `id` is unique for the key; `publicKey` is
   * compressed, lower-case hex.
   */
  newSigner(of: { id: string }): Promise<{ publicKey: string; signer: string }>;
  /**
   * A stamp of such a key over a text, as in the wallet signature header of clients. Throws if it
   * cannot sign now: a payment is declined then, and a notice of a network is repeated.
   */
  stampWith(of: { id: string; signer: string; payload: string }): Promise<string>;
  /** Uncompressed, hex: the keys that sign bundles and tokens, for clients to pin. */
  publicKeys(): { bundles: string; tokens: string };
}

/** Reads tokens that an identity provider signed. Throws if the provider is unavailable. */
export interface OidcPort {
  verify(token: string, now: Time): Promise<OidcVerdict>;
}

/** What an environment of scripted endings takes in place of what only a real device or person has. */
export interface WalletScript {
  /** Every one-time code. */
  code: string;
  /** A stamp, and the signature of a passkey's assertion, that pass unseen. */
  stamp: string;
  assertionSignature: string;
  /** What a signature that fails is answered with. */
  failure: 'UNAUTHORIZED';
  /** Whether one of the credentials that are tied to an e-mail address cannot be moved to this one. */
  rejectsEmail(email: string): boolean;
  challengesPerMinute: number;
}
