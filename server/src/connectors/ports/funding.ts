// Account details and instructions for payments into internal accounts.

import type { PaymentInstructions } from '../../catalog/rails/payment-instructions.ts';
import type { Time } from '../../kernel/effects.ts';
import type { Money } from '../../kernel/money.ts';

/** An internal account for deposits. */
interface FundedAccount {
  accountId: string;
  currency: string;
  owner: 'customer' | 'platform';
}

export interface FundingPort {
  /**
   * Payment instructions of an internal account. Under unchanged settings they are always the same.
   * Their account details or their reference are unique to the account. Empty if deposits in this
   * currency are not supported.
   */
  instructions(account: FundedAccount): PaymentInstructions[];
  /**
   * Whether `request` returns the instructions of accounts in this currency, after they are opened.
   * Absent: `instructions` returns all.
   */
  isRequested?(currency: string): boolean;
  /** Requests payment instructions from an external system. */
  request?(account: FundedAccount): Promise<PaymentInstructions[]>;
  /**
   * Payment instructions of one payment. Each entry is an alternative. Empty if this currency does
   * not settle within minutes. Absent: payments cannot be funded directly.
   */
  forPayment?(payment: PaymentFunding): PaymentInstructions[] | Promise<PaymentInstructions[]>;
}

/** Amount, deadline and reference of one deposit. */
export interface PaymentFunding extends Money {
  transactionId: string;
  /** Repeated by the payer if the rail transmits a reference. */
  reference: string;
  /** The requested chain. Always present for a digital asset. */
  network?: string | undefined;
  owner: 'customer' | 'platform';
  at: Time;
  expiresAt: Time;
}
