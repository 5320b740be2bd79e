// The port of a stablecoin provider: the platform's account there, its tokens, minting and burning.
// Fiat moves between banks and the provider, never through our books. Amounts are in minor units of
// the token. An error means that the provider does not answer now.
import type { Time } from '../../kernel/effects.ts';

export interface ProviderCredentials {
  clientId: string;
  clientSecret: string;
}

/** A platform as the provider knows it. */
export interface ProviderLink {
  credentials: ProviderCredentials;
  providerAccountId: string;
}

/** Credentials that were good and are no more: every call may be answered so. */
export interface Unlinked {
  state: 'unlinked';
  as: 'INVALID' | 'REVOKED';
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
  /** What circulates of it now. */
  supply: bigint;
  /** When to look again while it is being issued; null where it is known to stay as it is. */
  checkAfterMs?: number | null;
}

export type TokenLookup =
  | { state: 'found'; token: ProviderToken }
  /** The provider has none of this name, or its token is another one on the network. */
  | { state: 'absent' }
  | { state: 'mismatch' }
  | Unlinked;

/** An external account that is to pay for a mint, or be paid by a burn. */
export interface LinkedAccount {
  id: string;
  /** Its details as the API shows them. */
  info: Record<string, unknown> & { accountType: string };
  /** What it is to be used for: a rail of a burn, ACH_DEBIT, or SPARK. */
  rail: string;
}

/** Why an external account cannot be used at the provider. */
export type LinkProblem =
  | 'LINK_FAILED'
  | 'LINK_METHOD_REQUIRED'
  | 'NOT_LINKED'
  | 'NOT_SUPPORTED'
  | 'PROVIDER_LINK_REQUIRED'
  | 'PROVIDER_LINK_FAILED';

export type LinkResult =
  | { state: 'linked'; reference: string }
  | { state: 'refused'; problem: LinkProblem }
  | Unlinked;

/**
 * An external account at an end of an order, by the provider's reference. Its details were sent
 * when it was linked, and may be erased by now.
 */
export interface OrderAccount {
  id: string;
  rail: string;
  reference: string;
}

export interface MintOrder {
  /** Id of the operation; a second order of it must be taken as the first. */
  id: string;
  type: 'MINT' | 'BURN';
  token: TokenName;
  decimals: number;
  baseCurrency: string;
  amount: bigint;
  /** How it is paid for, or where its tokens come from: WIRE, ACH_DEBIT, EXTERNAL_ACCOUNT, … */
  source: string;
  /** Where the other side goes: SPARK for tokens, a rail for money. */
  rail: string;
  from?: OrderAccount;
  to?: OrderAccount;
  description: string | null;
  orderedAt: Time;
}

/** Payment instructions that the order waits for. */
export interface FundingInstructions {
  rail: string;
  network: string;
  address: string;
  valueType: string;
  [more: string]: unknown;
}

/** What the provider says before anything is ordered: whether it would take it, and what to do then. */
export type OrderPreview =
  | {
      state: 'accepted';
      /** Only if a payment is needed first. */
      fundingInstructions?: FundingInstructions;
      expiresAt?: Time;
      /** Guidance, amounts of money as text in its smallest units. */
      estimatedDelivery?: { rail: string; amount: string; currency: string; timing: string };
    }
  /** It would not; the text says why, to the platform. */
  | { state: 'refused'; reason: string }
  /** There is no balance there that it could be paid from. */
  | { state: 'no-source' }
  | Unlinked;

/** How far an order has come. `failed`: neither tokens nor money have moved, or they are back. */
export type OrderProgress = { providerStatus: string; checkAfterMs?: number } & (
  | { state: 'funding' | 'submitted' | 'processing' | 'completed' }
  | { state: 'failed'; reason: string }
  /** Not paid; `final` if a payment would no longer be accepted. */
  | { state: 'expired'; final?: true }
);

export interface MintPort {
  /** The provider accounts that credentials open; none where they are refused. */
  accountsOf(credentials: ProviderCredentials): Promise<readonly string[]>;
  token(link: ProviderLink, name: TokenName, registeredAt: Time | null): Promise<TokenLookup>;
  /** Makes an external account known to the provider; asked again it is the same link. */
  linkAccount(link: ProviderLink, account: LinkedAccount): Promise<LinkResult>;
  /** Asks without ordering anything. */
  prepare(link: ProviderLink, order: MintOrder): Promise<OrderPreview>;
  submit(link: ProviderLink, order: MintOrder): Promise<OrderProgress | Unlinked>;
  check(link: ProviderLink, order: MintOrder, now: Time): Promise<OrderProgress | Unlinked>;
  /** Whether the operator's decision about a token need not be waited for: where nothing is real. */
  enablesAtOnce?(name: TokenName): boolean;
}
