// The ports: everything the server may request from external systems, as types. A connector
// provides a subset; functions that need a missing capability are not offered. Ports take and
// return plain data, never rows or contexts, so a connector cannot access the database or the
// books.

import type { FindingType } from '../../catalog/identity/verification-errors.ts';
import type { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import type { UmaProvider } from '../../catalog/rails/uma-providers.ts';
import type { Time } from '../../kernel/effects.ts';
import type { Code } from '../../kernel/fault.ts';
import type { Money, Rate } from '../../kernel/money.ts';
import type { IssuerPort } from './cards.ts';
import type { DocumentCheckPort } from './documents.ts';
import type { MintPort } from './stablecoins.ts';
import type { CustodyPort, OidcPort, WalletScript } from './wallets.ts';

/** Defined in the kernel, because the runtime reads and seals stored files. */
export type { StoragePort } from '../../kernel/contract/upload.ts';

/** A transfer over a rail: a payout to an account, a debit of one, or a refund to a payer. */
export interface RailInstruction extends Money {
  /**
   * Unique for this transfer and the same at every attempt. A rail must treat a second send of it
   * as the first, however late: an operator may retry a job after weeks. Where the provider forgets
   * idempotency keys sooner, the connector requests the transfer by this id before it sends again;
   * `sentAt` is the time of the first attempt.
   */
  id: string;
  platformId: string;
  kind: 'payout' | 'pull' | 'refund';
  /** Whether it belongs to a quote or to a same-currency transfer. */
  origin: 'quote' | 'transfer';
  /** Null for a wallet. */
  rail: string | null;
  /** Target or source account; for a refund the known data of the payer, possibly little. */
  account: Record<string, unknown> & { accountType: string };
  beneficiaryName?: string | undefined;
  remittanceInformation?: string | undefined;
  purposeOfPayment?: string | undefined;
  sentAt: Time;
}

export type FailureReason =
  | 'QUOTE_EXECUTION_FAILED'
  | 'COUNTERPARTY_POST_TX_FAILED'
  | 'PAYOUT_RETURNED'
  | 'ACCOUNT_INVALID'
  | 'ACCOUNT_CANNOT_RECEIVE'
  | 'LIMIT_EXCEEDED'
  | 'COMPLIANCE_REJECTED';

/**
 * State of an instruction. `unknown` is never a failure: it is polled again. `checkAfterMs` is the
 * time to the next poll; without it a settled instruction is final, and an accepted one waits for a
 * notice. `refundable: false`: the funds of a failed payout cannot be returned automatically.
 */
export type Progress =
  | { state: 'accepted'; reference?: string; checkAfterMs?: number }
  | { state: 'unknown'; reference?: string; checkAfterMs: number }
  | { state: 'settled'; reference: string; checkAfterMs?: number | undefined; onChain?: OnChain }
  | { state: 'failed'; reason: FailureReason; refundable?: boolean | undefined }
  | { state: 'returned'; reason: FailureReason }
  | { state: 'cancelled' };

/** A transfer on a chain, as shown by any explorer. */
export interface OnChain {
  transactionHash: string;
  network: string;
}

export interface RailPort {
  /** Whether it can reach this type of account; `rail` is null for wallets. */
  carries(accountType: string, rail: string | null): boolean;
  /** Whether it can debit this type of account; absent: none. */
  pulls?(accountType: string, rail: string | null): boolean;
  send(instruction: RailInstruction): Promise<Progress>;
  /** Polled at the times of `checkAfterMs`; `now` is the clock of the caller. */
  check(instruction: RailInstruction, now: Time): Promise<Progress>;
  /**
   * Requests the cancellation of an instruction that is not settled. `accepted`: `cancelled` will
   * follow by `check` or a notice; `refused`: the instruction continues. Absent: instructions
   * cannot be cancelled.
   */
  cancel?(instruction: RailInstruction, now: Time): Promise<'cancelled' | 'accepted' | 'refused'>;
}

export type NameCheck =
  | { status: 'MATCHED' | 'PARTIAL_MATCH'; fullName: string }
  | { status: 'NOT_MATCHED' | 'UNSUPPORTED' | 'CHECKED_BY_RECEIVING_FI' }
  /** No answer yet; poll again after this time. */
  | { status: 'PENDING'; checkAfterMs: number }
  | { status: 'INVALID_ACCOUNT' };

export interface NamePort {
  /**
   * Compares the beneficiary's name with the one on record at the account's institution.
   * `elapsedMs` is the time since the first call.
   */
  verify(
    account: Record<string, unknown> & { accountType: string },
    elapsedMs: number,
  ): Promise<NameCheck>;
}

export interface RatePort {
  /** Mid rate from minor unit to minor unit; undefined if there is none. */
  rate(from: string, to: string): Promise<{ rate: Rate; at: Time } | undefined>;
}

/** A person who owns or controls a business. */
interface IdentityOwner {
  id: string;
  roles: readonly string[];
  ownershipPercentage: number;
  /** Name, birth date, address and identity number, by their API names. */
  personalInfo: Readonly<Record<string, unknown>>;
}

/** A document of a case; its file stays with the server. */
interface IdentityDocument {
  id: string;
  /** Id of the customer or the owner. */
  holder: string;
  documentType: string;
  side?: string;
  country: string;
  documentNumber?: string;
  issuingAuthority?: string;
}

/** The case of a customer for verification, complete as far as this server can determine. */
export interface IdentityCase {
  /** Unique for this submission; a repeated submission must be idempotent. */
  id: string;
  platformId: string;
  customerId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  email: string | null;
  phoneNumber: string | null;
  /** Fields of its type, by their API names. */
  details: Readonly<Record<string, unknown>>;
  /** Number of an individual's `idType`. */
  identifier: string | null;
  owners: readonly IdentityOwner[];
  documents: readonly IdentityDocument[];
}

/** A finding that prevents a decision. */
export interface IdentityFinding {
  type: FindingType;
  /** Id of the customer, owner or document; default: the customer. */
  resourceId?: string;
  field?: string;
  reason?: string;
}

export type OwnerOutcome = 'APPROVED' | 'REJECTED' | 'PENDING';

/**
 * State of a case. `review` is polled again after `checkAfterMs`, or decided by an operator if that
 * is absent. `unknown`: the submission may not have arrived. Owners that a final verdict does not
 * name share its outcome.
 */
export type IdentityVerdict =
  | { state: 'approved'; owners?: Readonly<Record<string, OwnerOutcome>> }
  | {
      state: 'rejected';
      owners?: Readonly<Record<string, OwnerOutcome>>;
      findings?: readonly IdentityFinding[];
    }
  | { state: 'unresolved'; findings: readonly IdentityFinding[] }
  | { state: 'review'; checkAfterMs?: number }
  | { state: 'unknown'; checkAfterMs: number };

export interface IdentityPort {
  /**
   * Scripts the initial status of customers of a platform without document requirements. Absent:
   * the platform's own compliance decides.
   */
  atCreation?(customer: {
    type: 'INDIVIDUAL' | 'BUSINESS';
    fullName: string | null;
  }): 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED';
  /**
   * Verdict for a case of a platform without document requirements, complete or not; undefined if
   * it must be complete. Absent: every case must be complete.
   */
  unasked?(submitted: IdentityCase): IdentityVerdict | undefined;
  /** Called while the client waits, and again by a job after `unknown`. */
  submit(submitted: IdentityCase): Promise<IdentityVerdict>;
  /** Polled at the times of `checkAfterMs` until the case is decided. */
  check(submitted: IdentityCase): Promise<IdentityVerdict>;
}

export interface FundingPort {
  /**
   * Payment instructions of an internal account: under unchanged settings always the same
   * coordinates, unique to the account; empty if this currency cannot be paid in.
   */
  instructions(account: {
    accountId: string;
    currency: string;
    owner: 'customer' | 'platform';
  }): PaymentInstructions[];
  /**
   * Payment instructions of one payment, each entry an alternative; empty if this currency does not
   * settle within minutes. Absent: payments cannot be funded directly.
   */
  forPayment?(payment: PaymentFunding): PaymentInstructions[];
}

/** Amount, deadline and reference of one deposit. */
export interface PaymentFunding extends Money {
  transactionId: string;
  /** Repeated by the payer if the rail carries a reference. */
  reference: string;
  /** The requested chain; always present for a digital asset. */
  network?: string | undefined;
  owner: 'customer' | 'platform';
  at: Time;
  expiresAt: Time;
}

/** Rejection by another UMA provider: error code and a sentence. */
export interface UmaRejection {
  state: 'refused';
  code: Code;
  reason: string;
}

export interface UmaCurrency {
  code: string;
  /** Minimum and maximum amount that it receives at once, in minor units. */
  min: bigint;
  max: bigint;
}

type UmaLookup =
  | {
      state: 'found';
      /** Currencies that the receiver accepts, the preferred one first. */
      currencies: UmaCurrency[];
      /** Payer data that the receiver's provider requires. */
      requiredPayerData: { name: string; mandatory: boolean }[];
    }
  | UmaRejection;

type UmaPayReply =
  | { state: 'accepted'; reference: string; receiverInfo?: Record<string, unknown> }
  | UmaRejection;

/** One payment to a UMA address; its amount is the received amount. */
export interface UmaPayment extends Money {
  /** Unique for this payment; sending is idempotent. */
  id: string;
  sender: string;
  receiver: string;
  payerData: Record<string, unknown>;
  at: Time;
}

/** The network of UMA providers. */
export interface UmaPort {
  /** Whether the connector reaches the provider of an address. */
  reaches(address: string): boolean;
  /** Known providers, and whether a platform may use them. */
  providers?(): readonly UmaProvider[];
  lookup(query: { receiver: string; sender: string; at: Time }): Promise<UmaLookup>;
  /** Requests the payment from the receiver's provider; no funds move yet. */
  payRequest(payment: UmaPayment): Promise<UmaPayReply>;
  /** Settles an accepted payment. */
  send(payment: UmaPayment & { reference: string }): Promise<Progress>;
  check(payment: UmaPayment & { reference: string }, now: Time): Promise<Progress>;
  /**
   * For a payment to us that was approved at `payment.at`: notifies the sending provider, with the
   * requested data of the receiver, and returns the progress of the funds. Idempotent. `settled`:
   * received; `failed`: never received; `returned`: received and to be returned. Without it
   * payments cannot be received.
   */
  collect?(
    payment: UmaPayment & { receiverInfo: Record<string, unknown> },
    now: Time,
  ): Promise<Progress>;
}

/** Network fee of one payment on a chain. */
export interface NetworkFee {
  /** In the smallest unit of the asset: lamports, wei, satoshis. */
  fee: bigint;
  asset: string;
  /** Cents for one smallest unit; absent if the asset is a currency with rates. */
  price?: Rate | undefined;
}

export interface NetworkFeePort {
  feeOf(network: string): Promise<NetworkFee | undefined>;
}

/** Claimed identity: the owner of a wallet, or a known customer. */
type LivenessSubject =
  | { type: 'WALLET'; account: Record<string, unknown> & { accountType: string } }
  | {
      type: 'CUSTOMER';
      customerId: string;
      /** Number of this poll, from 1. */
      polls: number;
    };

/** A liveness check of the person at the camera. */
export interface LivenessCheck {
  /** Unique for this check. */
  id: string;
  subject: LivenessSubject;
  startedAt: Time;
}

export type LivenessProgress =
  | { state: 'waiting'; checkAfterMs: number }
  | { state: 'passed' }
  | { state: 'failed' };

export interface LivenessPort {
  /**
   * For a wallet called at the start and at the times of `checkAfterMs`; for a customer whenever
   * its platform reads the result.
   */
  check(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
  /** The person confirmed the end of the check on the hosted page. */
  complete(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
}

/** Contract wallets: code on the chain decides which signatures are valid. */
export interface ContractWalletPort {
  /** Whether the chain of this account type is available. */
  reaches(accountType: string): boolean;
  /** Whether the wallet accepts a signature of this digest. Rejects without an answer. */
  approves(query: {
    accountType: string;
    address: string;
    digest: Uint8Array;
    signature: Uint8Array;
  }): Promise<boolean>;
}

/** A message to a person. */
interface OutgoingMessage {
  /** Unique for the message; repetitions have the same. */
  id: string;
  /** An e-mail address, or a telephone number in E.164 format. */
  to: string;
  text: string;
}

/**
 * `sent`: the service has accepted it. `refused`: it will never be accepted. An error is retried
 * while the message is useful; it contains neither recipient nor text.
 */
type MessageReply = 'sent' | 'refused';

interface OutgoingMail extends OutgoingMessage {
  subject: string;
  /** Sender name and reply address, if not those of the operator. */
  senderName?: string | undefined;
  replyTo?: string | undefined;
}

export interface MailPort {
  send(message: OutgoingMail): Promise<MessageReply>;
}

export interface SmsPort {
  send(message: OutgoingMessage): Promise<MessageReply>;
}

/** The connectors of one environment. */
export interface Connectors {
  mail?: MailPort | undefined;
  sms?: SmsPort | undefined;
  rail?: RailPort | undefined;
  names?: NamePort | undefined;
  rates?: RatePort | undefined;
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
