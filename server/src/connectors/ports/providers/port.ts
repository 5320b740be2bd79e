// Port of a provider: the calls of the provider protocol, and the parameters of a connection.

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

/**
 * Effect of a message. CONTRADICTORY: the message contradicts the recorded state and was not
 * applied.
 */
export type ReportResult = 'APPLIED' | 'IGNORED' | 'CONTRADICTORY';

export interface ProviderPort {
  /** Requests the capabilities. Rejects with an error message for operators. */
  capabilities(): Promise<Capabilities>;
  /** Requests the prefunded balances. */
  balances(): Promise<Balances['balances']>;
  /** The calls about transfers. Routing determines which transfers a provider receives. */
  transfers: Pick<RailPort, 'send' | 'check'> & Required<Pick<RailPort, 'cancel' | 'recall'>>;
  /** The services. The capabilities state which of them the provider offers. */
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
  mint: Omit<MintPort, 'selectedProvider' | 'enablesImmediately'>;
  /** A page of the statement of a day, or undefined if the provider does not have it yet. */
  statementPage(request: {
    day: string;
    currency: string;
    page: number;
  }): Promise<StatementPage | undefined>;
  /** The calls for cards. */
  cards: ProviderIssuerPort;
}

interface ProviderAddress {
  /** Base URL without a trailing slash. */
  url: string;
  /** Whether the operator allowed plain HTTP and private addresses. */
  isPrivateAllowed: boolean;
}

/** A call that was sent to a provider. */
export interface CallOutcome {
  /**
   * Whether the response was valid. A rejection, such as a failed transfer, is a valid response.
   */
  isSuccess: boolean;
  durationMs: number;
}

export interface ConnectedProvider {
  /** Name in error messages. */
  name: string;
  address: ProviderAddress;
  /** The current signing key. */
  keyOf(): SignatureKey;
  /** The rates of the latest message, or null if there was none. */
  reportedRates: ReportedRates | null;
  /** Called after each call that was sent. */
  observe(call: CallOutcome): void;
}

/** This server's implementation of the provider protocol. */
export interface ProviderProtocol {
  connect(effects: Effects, provider: ConnectedProvider): ProviderPort;
  /** Converts a reported state to the progress of an instruction. */
  progressOf(reportedState: TransferState): Progress;
  /** Converts a reported state of a recall to its progress. */
  recallProgressOf(reportedState: RecallState): RecallProgress;
  /** Converts a reported decision to the verdict of a case. */
  verdictOf(decision: IdentityDecision): IdentityVerdict;
  /**
   * Converts a reported state of a mint or burn to its progress. `amount` is the amount of the
   * order.
   */
  orderProgressOf(reportedState: StablecoinOrderState, amount: bigint): OrderProgress;
  /** Returns the problem of reported rates, or undefined if they are usable. */
  rateProblem(reportedRates: ReportedRates, now: Time): string | undefined;
}
