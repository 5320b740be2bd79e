// The ports of wallets: the custodian of embedded wallets, the verification of identity tokens,
// scripted signatures of the sandbox, and contract wallets.
import type { OidcResult } from '../../catalog/identity/oidc.ts';
import type { Time } from '../../kernel/effects.ts';

/** Sealing for a custodian, and secrets derived from a purpose. */
export interface CustodyKeys {
  seal(text: Uint8Array | string, context: string): string;
  /** Throws for another context or a damaged text. */
  open(sealedText: string, context: string): Buffer;
  /** 32 bytes, the same at every start. */
  derive(purpose: string): Uint8Array;
}

/** Data of a wallet for bundles and payloads. */
interface CustodyNames {
  organizationId: string;
  walletId: string;
}

/**
 * Keeps the secrets of wallets: seeds, keys for one-time codes, delegated keys, and the keys that
 * sign bundles. The strings that it returns (`seed`, `target`, `signer`) are references that only
 * the custodian can use. Bundles, tokens and stamps have the format of the published clients.
 */
export interface CustodyPort {
  /** Generates the seed of a new wallet. */
  newSeed(wallet: CustodyNames): Promise<{ seed: string }>;
  /**
   * The wallet's mnemonic, encrypted to an uncompressed P-256 key, lower-case hex: an export
   * bundle.
   */
  exportSeed(wallet: CustodyNames & { seed: string; clientPublicKey: string }): Promise<string>;
  /**
   * Generates a session key and seals it to an uncompressed `clientPublicKey`. The private key is
   * not stored. `publicKey` is compressed, lower-case hex.
   */
  newSessionKey(clientPublicKey: string): Promise<{ publicKey: string; sealedKey: string }>;
  /** Generates a key for the encryption of a one-time code. `id` is unique for the code. */
  newOtpTarget(code: {
    id: string;
    organizationId: string;
    expiresAt: Time;
  }): Promise<{ target: string; bundle: string }>;
  /**
   * The decrypted code with the public key of the client. Undefined if it cannot be decrypted or
   * has another format.
   */
  openOtp(code: {
    id: string;
    target: string;
    encryptedBundle: string;
  }): Promise<{ code: string; publicKey: string } | undefined>;
  /** A token for the owner of a verified one-time code: a compact ES256 JWT. */
  signToken(claims: Readonly<Record<string, unknown>>): Promise<string>;
  /**
   * Generates a delegated key of a wallet. `id` is unique for the key. `publicKey` is compressed,
   * lower-case hex.
   */
  newSigner(key: { id: string }): Promise<{ publicKey: string; signer: string }>;
  /**
   * A stamp of a delegated key over a string, as in the wallet signature header of clients. Throws
   * if the custodian cannot sign. The caller then declines the payment, or rejects a notice
   * temporarily so that the network repeats the notice.
   */
  stampWith(request: { id: string; signer: string; payload: string }): Promise<string>;
  /** Uncompressed, hex: the public keys that verify bundles and tokens, for clients to pin. */
  publicKeys(): { bundles: string; tokens: string };
}

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';

/**
 * A stamp. `signature` is DER, hex. The stamp equals the stamps of the client libraries, including
 * the order of members.
 */
export function stampOf(publicKey: string, signature: string): string {
  const stamp = { publicKey, scheme: SCHEME, signature };
  return Buffer.from(JSON.stringify(stamp)).toString('base64url');
}

/** Verifies tokens that an identity provider signed. Throws if the provider is unavailable. */
export interface OidcPort {
  verify(token: string, now: Time): Promise<OidcResult>;
}

/** Scripted values of the sandbox in place of the values of a real device or person. */
export interface WalletScript {
  /** The value of every one-time code. */
  code: string;
  /**
   * A stamp, and the signature of a passkey's assertion, that are accepted without verification.
   */
  stamp: string;
  assertionSignature: string;
  /** Error code for an invalid signature. */
  failure: 'UNAUTHORIZED';
  /** Whether a change of credentials to this e-mail address fails. */
  rejectsEmail(email: string): boolean;
  /** Maximum one-time codes per minute for each wallet and channel. */
  challengesPerMinute: number;
}

/** Contract wallets: code on the chain decides which signatures are valid. */
export interface ContractWalletPort {
  /** Whether the chain of this account type is available. */
  reaches(accountType: string): boolean;
  /**
   * Whether the wallet accepts a signature of this digest. The promise rejects if the result is
   * unknown.
   */
  approves(query: {
    accountType: string;
    address: string;
    digest: Uint8Array;
    signature: Uint8Array;
  }): Promise<boolean>;
}
