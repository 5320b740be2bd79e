// Port of a provider: the calls of the provider protocol, and how a provider is connected.

import type { SignatureKey } from '../../../kernel/crypto/http-signatures.ts';
import type { Effects, Time } from '../../../kernel/effects.ts';
import type { ProviderIssuerPort } from '../cards.ts';
import type { FundingPort } from '../funding.ts';
import type { IdentityPort, IdentityVerdict } from '../identity.ts';
import type { MailPort, SmsPort } from '../messages.ts';
import type { BeneficiaryVerificationPort } from '../names.ts';
import type { Progress, RailPort, RecallProgress } from '../rail.ts';
import type { FirmQuote, FirmQuotePort, FirmQuoteRequest, RatePort } from '../rates.ts';
import type { MintPort, OrderProgress } from '../stablecoins.ts';
import type { CustodyPort } from '../wallets.ts';
import type { Balances, Capabilities, StatementPage, TransferState } from './protocol.ts';
import type { RecallState } from './recalls.ts';
import type { IdentityDecision, ReportedRates } from './services.ts';
import type { StablecoinOrderState } from './stablecoins.ts';

export interface ProviderPort {
  /** Requests the capabilities. Rejects with an error message for operators. */
  capabilities(): Promise<Capabilities>;
  /** Requests the prefunded balances. */
  balances(): Promise<Balances['balances']>;
  /** The calls about transfers. Routing decides which transfers a provider receives. */
  transfers: Pick<RailPort, 'send' | 'check'> & Required<Pick<RailPort, 'cancel' | 'recall'>>;
  /** The services; which of them the provider offers is part of its capabilities. */
  names: BeneficiaryVerificationPort;
  rates: RatePort;
  identity: Pick<IdentityPort, 'submit' | 'check'>;
  funding: Required<Pick<FundingPort, 'request' | 'forPayment'>>;
  mail: MailPort;
  sms: SmsPort;
  custody: Pick<CustodyPort, 'newSigner' | 'stampWith'>;
  firmQuotes: Pick<FirmQuotePort, 'redeem'> & {
    request(request: FirmQuoteRequest): Promise<Omit<FirmQuote, 'providerId'> | undefined>;
  };
  mint: Omit<MintPort, 'selectedProvider' | 'enablesAtOnce'>;
  /** A page of the statement of a day; undefined if the provider does not have it yet. */
  statementPage(request: {
    day: string;
    currency: string;
    page: number;
  }): Promise<StatementPage | undefined>;
  /** The calls for cards. */
  cards: ProviderIssuerPort;
}

/** Address of a provider. */
interface ProviderAddress {
  /** Base URL without a trailing slash. */
  url: string;
  /** Whether the operator has allowed an address that is not public, or plain HTTP. */
  isPrivateAllowed: boolean;
}

/** A call that was sent to a provider. */
export interface ProviderCall {
  /** Whether its response was valid. A rejection of the subject is valid too. */
  isSuccess: boolean;
  durationMs: number;
}

export interface ConnectedProvider {
  /** Appears in error messages. */
  name: string;
  address: ProviderAddress;
  /** The current signing key. */
  keyOf(): SignatureKey;
  /** The rates of its latest message; null if there was none. */
  reportedRates: ReportedRates | null;
  /** Called after each call that was sent. */
  observe(call: ProviderCall): void;
}

/** This server's implementation of the provider protocol. */
export interface ProviderProtocol {
  connect(effects: Effects, provider: ConnectedProvider): ProviderPort;
  /** Converts a reported state to the progress of an instruction. */
  progressOf(reported: TransferState): Progress;
  /** A reported state of a recall as its progress. */
  recallProgressOf(reported: RecallState): RecallProgress;
  /** A reported decision as the verdict of a case. */
  verdictOf(reported: IdentityDecision): IdentityVerdict;
  /** A reported state of a mint or burn as its progress; `amount` is that of the order. */
  orderProgressOf(reported: StablecoinOrderState, amount: bigint): OrderProgress;
  /** Why reported rates cannot be used; undefined if they can. */
  rateProblem(reported: ReportedRates, now: Time): string | undefined;
}
