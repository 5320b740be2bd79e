// Transfers over rails: payouts, debits of accounts and refunds to payers.

import type { Time } from '../../kernel/effects.ts';
import type { Money } from '../../kernel/money.ts';

/**
 * A transfer over a rail: a payout to an account, a debit of an account, or a refund to a payer.
 */
export interface RailInstruction extends Money {
  /**
   * Unique for this transfer and the same at every attempt. Sending is idempotent without a time
   * limit: an operator may retry a job after weeks. If the provider keeps idempotency keys for a
   * shorter time, the connector requests the transfer by this ID before it sends again. `sentAt` is
   * the time of the first attempt.
   */
  id: string;
  platformId: string;
  kind: 'payout' | 'debit' | 'refund';
  /** `quote` for a payout or refund of a quote, otherwise `transfer`. */
  origin: 'quote' | 'transfer';
  /** Null for a wallet and for a refund. */
  rail: string | null;
  /** Target or source account. For a refund the data of the payer, possibly incomplete. */
  account: Record<string, unknown> & { accountType: string };
  beneficiaryName?: string | undefined;
  /** Reference for the statement: at most 34 letters and digits. */
  reference: string;
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
 * State of an instruction. `unknown` is never a failure and is polled again. `checkAfterMs` is the
 * time to the next poll. Without `checkAfterMs` the instruction is not polled, and a message of the
 * provider reports its result. `refundable: false`: the funds of a failed payout cannot be returned
 * automatically.
 */
export type Progress =
  | { state: 'accepted'; reference?: string; checkAfterMs?: number }
  | { state: 'unknown'; reference?: string; checkAfterMs: number }
  | { state: 'settled'; reference: string; checkAfterMs?: number | undefined; onChain?: OnChain }
  | { state: 'failed'; reason: FailureReason; refundable?: boolean | undefined }
  | { state: 'returned'; reason: FailureReason }
  | { state: 'cancelled' };

/** Transaction of a payout on a blockchain. */
export interface OnChain {
  transactionHash: string;
  network: string;
}

/** Causes of a recall, like the codes of SEPA. */
export const RECALL_CAUSES = ['DUPLICATE', 'TECHNICAL_ERROR', 'FRAUD', 'CUSTOMER_REQUEST'] as const;
export type RecallCause = (typeof RECALL_CAUSES)[number];

export const RECALL_REJECTIONS = [
  'BENEFICIARY_REFUSED',
  'INSUFFICIENT_FUNDS',
  'ACCOUNT_CLOSED',
  'TOO_LATE',
  'ALREADY_RETURNED',
  'OTHER',
] as const;
export type RecallRejection = (typeof RECALL_REJECTIONS)[number];

interface RecalledTransfer extends Money {
  /** ID of the instruction. */
  id: string;
}

/**
 * State of a recall. `accepted`: the bank agreed to a return. The return is reported later, as a
 * result of the payout.
 */
export type RecallProgress =
  | { state: 'requested'; checkAfterMs: number }
  | { state: 'accepted' }
  | { state: 'rejected'; reason: RecallRejection };

export interface RailPort {
  /** Whether the rail can reach this type of account. `rail` is null for wallets. */
  supportsPayout(accountType: string, rail: string | null): boolean;
  /** Whether the rail can debit this type of account. Absent: the rail debits no accounts. */
  supportsDebit?(accountType: string, rail: string | null): boolean;
  send(instruction: RailInstruction): Promise<Progress>;
  /** Polled at the times of `checkAfterMs`. `now` is the current time on the caller's clock. */
  check(instruction: RailInstruction, now: Time): Promise<Progress>;
  /**
   * Requests the cancellation of an instruction that is not settled. `accepted`: a later `check` or
   * report contains the result. `rejected`: the instruction continues. Absent: instructions cannot
   * be canceled.
   */
  cancel?(instruction: RailInstruction, now: Time): Promise<'cancelled' | 'accepted' | 'rejected'>;
  /**
   * Requests the return of a settled payout, or the state of that request. Idempotent by the ID of
   * the instruction. Absent: returns cannot be requested.
   */
  recall?(transfer: RecalledTransfer, cause: RecallCause): Promise<RecallProgress>;
}
