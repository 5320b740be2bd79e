// The ports: everything the server may want of the outside, as types. A connector is one value that
// has the capabilities it has; a missing one is a missing property and what needs it is not
// offered. Ports take and give plain data, never rows or contexts, so a connector cannot reach the
// database or the books.

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

/** Said in the kernel, because the runtime reads and seals what a storage keeps. */
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
  /** Whether a quote or a plain same-currency transfer asked for it. */
  origin: 'quote' | 'transfer';
  /** Null for a wallet. */
  rail: string | null;
  /** Where it goes or is taken from; for a refund what is known of the payer, which may be little. */
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
 * How far an instruction has come. `unknown` is never a failure: it is asked about again.
 * `checkAfterMs` is when to ask next; without it a settled instruction is final, and an accepted
 * one waits for a notice. `refundable: false` says that the money of a failed payout cannot be
 * given back automatically.
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
  /** Whether it can reach this kind of account; `rail` is null for wallets, which have no bank rail. */
  carries(accountType: string, rail: string | null): boolean;
  /** Whether it can take money from this kind of account; without it, from none. */
  pulls?(accountType: string, rail: string | null): boolean;
  send(instruction: RailInstruction): Promise<Progress>;
  /** Asked at the times `checkAfterMs` named; `now` is the asker's clock. */
  check(instruction: RailInstruction, now: Time): Promise<Progress>;
  /**
   * Asks to call back an instruction that is not settled. `accepted` means that `cancelled` will
   * follow by `check` or a notice; `refused` that the instruction goes on. Without it nothing can
   * be called back.
   */
  cancel?(instruction: RailInstruction, now: Time): Promise<'cancelled' | 'accepted' | 'refused'>;
}

export type NameCheck =
  | { status: 'MATCHED' | 'PARTIAL_MATCH'; fullName: string }
  | { status: 'NOT_MATCHED' | 'UNSUPPORTED' | 'CHECKED_BY_RECEIVING_FI' }
  /** The answer takes its time; worth asking again then. */
  | { status: 'PENDING'; checkAfterMs: number }
  | { status: 'INVALID_ACCOUNT' };

export interface NamePort {
  /**
   * Compares the beneficiary's name with the one the account's institution holds. `elapsedMs` is
   * how long ago the same was asked for the first time.
   */
  verify(
    account: Record<string, unknown> & { accountType: string },
    elapsedMs: number,
  ): Promise<NameCheck>;
}

export interface RatePort {
  /** Mid rate, smallest unit to smallest unit; undefined where there is none. */
  rate(from: string, to: string): Promise<{ rate: Rate; at: Time } | undefined>;
}

/** A person who owns or controls a business. */
interface IdentityOwner {
  id: string;
  roles: readonly string[];
  ownershipPercentage: number;
  /** Name, birth date, address, identity number: as the API names them. */
  personalInfo: Readonly<Record<string, unknown>>;
}

/** A document as a case shows it; its file stays with us. */
interface IdentityDocument {
  id: string;
  /** Id of the customer or the owner that it belongs to. */
  holder: string;
  documentType: string;
  side?: string;
  country: string;
  documentNumber?: string;
  issuingAuthority?: string;
}

/** The case of a customer for verification, complete as far as this server can determine. */
export interface IdentityCase {
  /** Unique for this submission; a second submit of it must be taken as the first. */
  id: string;
  platformId: string;
  customerId: string;
  type: 'INDIVIDUAL' | 'BUSINESS';
  email: string | null;
  phoneNumber: string | null;
  /** The fields of its type, as the API names them. */
  details: Readonly<Record<string, unknown>>;
  /** The number of an individual's `idType`. */
  identifier: string | null;
  owners: readonly IdentityOwner[];
  documents: readonly IdentityDocument[];
}

/** Something that keeps a case from being decided. */
export interface IdentityFinding {
  type: FindingType;
  /** Id of the customer, the owner or the document that it is about; the customer unless given. */
  resourceId?: string;
  field?: string;
  reason?: string;
}

export type OwnerOutcome = 'APPROVED' | 'REJECTED' | 'PENDING';

/**
 * How far a case has come. `review` takes its time: worth asking again after `checkAfterMs`, or
 * decided by an operator where that is absent. `unknown` is a submission that may not have arrived.
 * Owners that were submitted and that a final verdict does not name share its outcome.
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
   * Scripts the status that a new customer of a platform without paperwork starts in. Without it
   * the word of a platform that does its own compliance counts.
   */
  atCreation?(customer: {
    type: 'INDIVIDUAL' | 'BUSINESS';
    fullName: string | null;
  }): 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED';
  /**
   * What becomes of a case of a platform that was relieved of paperwork, whether or not it is
   * complete; undefined where it has to be complete. Without it every case has to be.
   */
  unasked?(submitted: IdentityCase): IdentityVerdict | undefined;
  /** Asked while the client waits, and again by a job after `unknown`. */
  submit(submitted: IdentityCase): Promise<IdentityVerdict>;
  /** Asked at the times `checkAfterMs` named, until the case is decided. */
  check(submitted: IdentityCase): Promise<IdentityVerdict>;
}

export interface FundingPort {
  /**
   * Where money is paid in for one internal account: under unchanged settings always the same
   * coordinates for the same account, and never those of another; empty where money of this
   * currency cannot be paid in.
   */
  instructions(account: {
    accountId: string;
    currency: string;
    owner: 'customer' | 'platform';
  }): PaymentInstructions[];
  /**
   * Where to pay in for one payment, each entry an alternative; empty where money of this currency
   * does not come in within minutes. Without it no payment can be funded so.
   */
  forPayment?(payment: PaymentFunding): PaymentInstructions[];
}

/** What a payer is asked to pay in, once and exactly, for one payment. */
export interface PaymentFunding extends Money {
  transactionId: string;
  /** Repeated by the payer wherever the rail carries a reference. */
  reference: string;
  /** The chain asked for; always there for a digital asset. */
  network?: string | undefined;
  owner: 'customer' | 'platform';
  at: Time;
  expiresAt: Time;
}

/** Why another UMA provider, or the way to it, says no: an error code of ours and a sentence. */
export interface UmaRejection {
  state: 'refused';
  code: Code;
  reason: string;
}

export interface UmaCurrency {
  code: string;
  /** Least and most it receives at once, in its smallest units. */
  min: bigint;
  max: bigint;
}

type UmaLookup =
  | {
      state: 'found';
      /** What the receiver takes, the preferred one first. */
      currencies: UmaCurrency[];
      /** What the receiver's side wants to know of the payer. */
      requiredPayerData: { name: string; mandatory: boolean }[];
    }
  | UmaRejection;

type UmaPayReply =
  | { state: 'accepted'; reference: string; receiverInfo?: Record<string, unknown> }
  | UmaRejection;

/** One payment to a UMA address. Its money is what is received. */
export interface UmaPayment extends Money {
  /** Unique for this payment; a second send of it must have the effect of one. */
  id: string;
  sender: string;
  receiver: string;
  payerData: Record<string, unknown>;
  at: Time;
}

/** The network of UMA providers. */
export interface UmaPort {
  /** Whether an address lies with a provider that this connector reaches. */
  reaches(address: string): boolean;
  /** The providers it knows by name, and whether a platform may deal with them. */
  providers?(): readonly UmaProvider[];
  lookup(query: { receiver: string; sender: string; at: Time }): Promise<UmaLookup>;
  /** Asks the receiver's side to take this payment; nothing moves yet. */
  payRequest(payment: UmaPayment): Promise<UmaPayReply>;
  /** Settles a payment whose request was accepted. */
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

/** What a chain takes for carrying one payment. */
export interface NetworkFee {
  /** In the smallest unit of the asset: lamports, wei, satoshis. */
  fee: bigint;
  asset: string;
  /** Cents for one smallest unit; absent where the asset is a currency of ours, which the rates know. */
  price?: Rate | undefined;
}

export interface NetworkFeePort {
  feeOf(network: string): Promise<NetworkFee | undefined>;
}

/** Whom a person at the camera says to be: the owner of a wallet, or a customer that is known. */
type LivenessSubject =
  | { type: 'WALLET'; account: Record<string, unknown> & { accountType: string } }
  | {
      type: 'CUSTOMER';
      customerId: string;
      /** How often it was asked for the outcome, this time counted. */
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
   * Of a wallet asked when the check starts and at the times `checkAfterMs` named; of a customer
   * whenever its platform wants to know.
   */
  check(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
  /** The person says on our page that they are done. */
  complete(check: LivenessCheck, now: Time): Promise<LivenessProgress>;
}

/** Wallets that are contracts: not a key but code on the chain says which signatures are theirs. */
export interface ContractWalletPort {
  /** Whether the chain of this account type can be asked. */
  reaches(accountType: string): boolean;
  /** Whether the wallet stands by a signature of this digest. Rejects when no answer came. */
  approves(query: {
    accountType: string;
    address: string;
    digest: Uint8Array;
    signature: Uint8Array;
  }): Promise<boolean>;
}

/** One message to one person. */
interface OutgoingMessage {
  /** Unique for the message; repetitions have the same. */
  id: string;
  /** An e-mail address, or a telephone number in E.164 form. */
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
  /** The name it comes from, and the address that answers go to, where these are not the operator's. */
  senderName?: string | undefined;
  replyTo?: string | undefined;
}

export interface MailPort {
  send(message: OutgoingMail): Promise<MessageReply>;
}

export interface SmsPort {
  send(message: OutgoingMessage): Promise<MessageReply>;
}

/** What serves one environment. */
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
