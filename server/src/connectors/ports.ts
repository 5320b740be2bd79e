// The ports: everything the server may want of the outside, as types. A connector is one value that has
// the capabilities it has; a missing one is a missing property and what needs it is not offered. Ports
// take and give plain data, never rows or contexts, so a connector cannot reach the database or the books.
import type { PaymentInstructions } from '../catalog/payment-instructions.ts';
import type { Rate } from '../kernel/money.ts';
import type { Time } from '../kernel/world.ts';

/** A payout or pull as a rail sees it. Amount in smallest units. */
export interface RailInstruction {
  /** Unique for this attempt to move money; a rail must treat a second send of it as the first. */
  id: string;
  platformId: string;
  kind: 'payout' | 'pull';
  /** Whether a quote or a plain same-currency transfer asked for it. */
  origin: 'quote' | 'transfer';
  /** Null for a wallet. */
  rail: string | null;
  currency: string;
  amount: bigint;
  account: Record<string, unknown> & { accountType: string };
  beneficiaryName?: string;
  remittanceInformation?: string;
  purposeOfPayment?: string;
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
 * How far an instruction has come. `unknown` is never a failure: it is asked about again. `checkAfterMs`
 * is when to ask next; without it a settled instruction is final. `refundable: false` says that the money
 * of a failed payout cannot be given back automatically.
 */
export type Progress =
  | { state: 'accepted' | 'unknown'; reference?: string; checkAfterMs: number }
  | { state: 'settled'; reference: string; checkAfterMs?: number }
  | { state: 'failed'; reason: FailureReason; refundable?: boolean }
  | { state: 'returned'; reason: FailureReason }
  | { state: 'cancelled' };

export interface RailPort {
  /** Whether it can reach this kind of account; `rail` is null for wallets, which have no bank rail. */
  carries(accountType: string, rail: string | null): boolean;
  send(instruction: RailInstruction): Promise<Progress>;
  /** Asked at the times `checkAfterMs` named; `now` is the asker's clock. */
  check(instruction: RailInstruction, now: Time): Promise<Progress>;
}

export type NameCheck =
  | { status: 'MATCHED' | 'PARTIAL_MATCH'; fullName: string }
  | { status: 'NOT_MATCHED' | 'UNSUPPORTED' | 'CHECKED_BY_RECEIVING_FI' | 'PENDING' }
  | { status: 'INVALID_ACCOUNT' };

export interface NamePort {
  /** Compares the beneficiary's name with the one the account's institution holds. */
  verify(account: Record<string, unknown> & { accountType: string }): Promise<NameCheck>;
}

export interface RatePort {
  /** Mid rate, smallest unit to smallest unit; undefined where there is none. */
  rate(from: string, to: string): Promise<{ rate: Rate; at: Time } | undefined>;
}

export interface IdentityPort {
  /** The status a new customer of a platform that does its own compliance starts in. */
  atCreation(customer: {
    type: 'INDIVIDUAL' | 'BUSINESS';
    fullName: string | null;
  }): 'UNVERIFIED' | 'PENDING' | 'APPROVED' | 'REJECTED';
}

export interface FundingPort {
  /**
   * Where money is paid in for one internal account: always the same coordinates for the same account
   * and never those of another; empty where money of this currency cannot be paid in.
   */
  instructions(account: {
    accountId: string;
    currency: string;
    owner: 'customer' | 'platform';
  }): PaymentInstructions[];
}

/** What serves one environment. */
export interface Connectors {
  rail?: RailPort;
  names?: NamePort;
  rates?: RatePort;
  funding?: FundingPort;
  identity?: IdentityPort;
}
