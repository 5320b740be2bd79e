// The ports: requests of the server to external systems, as types. A connector provides a subset.
// Functions that need a missing capability are unavailable. Parameters and results contain no rows
// or contexts, so a connector cannot access the database or the ledger.

import type { IssuerPort } from './cards.ts';
import type { DocumentCheckPort } from './documents.ts';
import type { FundingPort } from './funding.ts';
import type { IdentityPort } from './identity.ts';
import type { LivenessPort } from './liveness.ts';
import type { MailPort, SmsPort } from './messages.ts';
import type { BeneficiaryVerificationPort } from './names.ts';
import type { NetworkFeePort } from './network-fees.ts';
import type { RailPort } from './rail.ts';
import type { FirmQuotePort, RatePort } from './rates.ts';
import type { MintPort } from './stablecoins.ts';
import type { UmaPort } from './uma.ts';
import type { ContractWalletPort, CustodyPort, OidcPort, WalletScript } from './wallets.ts';

/** Defined in the kernel, because the runtime reads and seals stored files. */
export type { StoragePort } from '../../kernel/contract/upload.ts';
export type * from './funding.ts';
export type * from './identity.ts';
export type * from './liveness.ts';
export type * from './messages.ts';
export type * from './names.ts';
export type * from './network-fees.ts';
export type * from './rail.ts';
export type * from './rates.ts';
export type * from './uma.ts';
export type { ContractWalletPort } from './wallets.ts';

/** The connectors of one environment. */
export interface Connectors {
  mail?: MailPort | undefined;
  sms?: SmsPort | undefined;
  rail?: RailPort | undefined;
  names?: BeneficiaryVerificationPort | undefined;
  rates?: RatePort | undefined;
  firmQuotes?: FirmQuotePort | undefined;
  funding?: FundingPort | undefined;
  identity?: IdentityPort | undefined;
  uma?: UmaPort | undefined;
  networkFees?: NetworkFeePort | undefined;
  liveness?: LivenessPort | undefined;
  contractWallets?: ContractWalletPort | undefined;
  documents?: DocumentCheckPort | undefined;
  custody?: CustodyPort | undefined;
  oidc?: OidcPort | undefined;
  walletScript?: WalletScript | undefined;
  issuer?: IssuerPort | undefined;
  mint?: MintPort | undefined;
}
