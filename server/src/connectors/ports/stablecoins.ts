// The port of a stablecoin provider: the platform's account at the provider, its tokens, minting
// and burning. Fiat is transferred between banks and the provider, outside this ledger. Amounts are
// in minor units of the token. A call throws if the provider is unavailable.
import type { Time } from '../../kernel/effects.ts';

export interface ProviderCredentials {
  clientId: string;
  clientSecret: string;
}

/** A platform's account with the provider, for calls. */
export interface ProviderLink {
  credentials: ProviderCredentials;
  providerAccountId: string;
  /** The routed provider of the account. Absent or null: the built-in connector. */
  providerId?: string | null;
}

/** Result of any call whose credentials are no longer valid. */
export interface UnlinkedResult {
  state: 'unlinked';
  reason: 'INVALID' | 'REVOKED';
}

export const ISSUANCE_STATUSES = [
  'PENDING_REVIEW',
  'PROVISIONING',
  'PROVISIONED',
  'REJECTED',
  'FAILED',
] as const;
export type IssuanceStatus = (typeof ISSUANCE_STATUSES)[number];

export interface TokenName {
  providerTokenIdentifier: string;
  networkTokenIdentifier: string;
  network: string;
}

/** A token as its provider describes it. */
export interface ProviderToken {
  name: string;
  symbol: string;
  decimals: number;
  baseCurrency: string;
  issuance: IssuanceStatus;
  /** Circulating supply, in minor units of the token. */
  supply: bigint;
  /** Time to the next poll while it is being issued, or null if its state is final. */
  checkAfterMs?: number | null;
}

export type TokenLookup =
  | { state: 'found'; token: ProviderToken }
  /** The token is unknown to the provider. */
  | { state: 'absent' }
  /** The network identifier belongs to another token. */
  | { state: 'mismatch' }
  | UnlinkedResult;

/** An external account for the orders of mints and burns. */
export interface LinkedAccount {
  id: string;
  /** Details of the account in the form of the API. */
  info: Record<string, unknown> & { accountType: string };
  /** Use of the account: a rail of a burn, ACH_DEBIT, or SPARK. */
  rail: string;
}

/** Reason for which the provider rejects an external account. */
export type LinkProblem =
  | 'LINK_FAILED'
  | 'LINK_METHOD_REQUIRED'
  | 'NOT_LINKED'
  | 'NOT_SUPPORTED'
  | 'PROVIDER_LINK_REQUIRED'
  | 'PROVIDER_LINK_FAILED';

export type LinkResult =
  | { state: 'linked'; reference: string }
  | { state: 'rejected'; problem: LinkProblem }
  | UnlinkedResult;

/**
 * Source or destination account of an order, by the provider's reference. The details of the
 * account were sent when it was linked, and may have been erased since.
 */
export interface OrderAccount {
  id: string;
  rail: string;
  reference: string;
}

export interface MintOrder {
  /** ID of the operation. A repeated order must be idempotent. */
  id: string;
  type: 'MINT' | 'BURN';
  token: TokenName;
  decimals: number;
  baseCurrency: string;
  amount: bigint;
  /** Funding, or source of the tokens: WIRE, ACH_DEBIT, EXTERNAL_ACCOUNT, … */
  source: string;
  /** Destination: SPARK for tokens, a rail for fiat. */
  rail: string;
  from?: OrderAccount;
  to?: OrderAccount;
  description: string | null;
  orderedAt: Time;
}

/** Instructions for the payment that the order waits for. */
export interface FundingInstructions {
  rail: string;
  network: string;
  address: string;
  valueType: string;
  [field: string]: unknown;
}

/** The provider's validation of an order before it is placed, and the next step. */
export type OrderPreview =
  | {
      state: 'accepted';
      /** Present only if a payment is needed first. */
      fundingInstructions?: FundingInstructions;
      expiresAt?: Time;
      /** Estimates. Amounts of fiat as strings in minor units. */
      estimatedDelivery?: { rail: string; amount: string; currency: string; timing: string };
    }
  /** Rejected, with a reason for the platform. */
  | { state: 'rejected'; reason: string }
  /** The balance at the provider is too low for the order. */
  | { state: 'no-source' }
  | UnlinkedResult;

/**
 * State of an order. `failed`: neither tokens nor funds were transferred, or both were returned.
 */
export type OrderProgress = { providerStatus: string; checkAfterMs?: number } & (
  | { state: 'funding' | 'submitted' | 'processing' | 'completed' }
  | { state: 'failed'; reason: string }
  /** The provider cannot determine the state. The recorded state is unchanged. */
  | { state: 'unknown' }
  /** The order was not paid in time. `final`: a late payment is rejected. */
  | { state: 'expired'; final?: true }
);

export interface MintPort {
  /** The routed provider of new accounts. Absent or null: the built-in connector. */
  selectedProvider?(): string | null;
  /** Provider accounts that the credentials can access. Empty if the credentials are rejected. */
  accountsOf(
    credentials: ProviderCredentials,
    providerId?: string | null,
  ): Promise<readonly string[]>;
  /**
   * `ageMs` is the time since the registration of the token. It determines the status of a
   * simulated issuance.
   */
  token(link: ProviderLink, name: TokenName, ageMs: number | null): Promise<TokenLookup>;
  /** Links an external account with the provider. Idempotent. */
  linkAccount(link: ProviderLink, account: LinkedAccount): Promise<LinkResult>;
  /** Validates without placing an order. */
  prepare(link: ProviderLink, order: MintOrder): Promise<OrderPreview>;
  submit(link: ProviderLink, order: MintOrder): Promise<OrderProgress | UnlinkedResult>;
  check(link: ProviderLink, order: MintOrder, now: Time): Promise<OrderProgress | UnlinkedResult>;
  /** Whether tokens are approved without an operator, as in the sandbox. */
  enablesImmediately?(name: TokenName): boolean;
}
