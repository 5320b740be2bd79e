// Payments to and from UMA addresses.

import type { UmaProvider } from '../../catalog/rails/uma-providers.ts';
import type { Time } from '../../kernel/effects.ts';
import type { Code } from '../../kernel/fault.ts';
import type { Money } from '../../kernel/money.ts';
import type { Progress } from './rail.ts';

/** Rejection by another UMA provider: error code and a sentence. */
export interface UmaRejection {
  state: 'rejected';
  code: Code;
  reason: string;
}

export interface UmaCurrency {
  code: string;
  /** Minimum and maximum amount of one payment, in minor units. */
  min: bigint;
  max: bigint;
}

type UmaPayeeDiscovery =
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

/** A payment to a UMA address. The amount is the received amount. */
export interface UmaPayment extends Money {
  /** Unique for this payment. Sending is idempotent. */
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
  discoverPayee(query: { receiver: string; sender: string; at: Time }): Promise<UmaPayeeDiscovery>;
  /** Requests the payment from the receiver's provider. No funds are transferred yet. */
  payRequest(payment: UmaPayment): Promise<UmaPayReply>;
  /** Settles an accepted payment. */
  send(payment: UmaPayment & { reference: string }): Promise<Progress>;
  check(payment: UmaPayment & { reference: string }, now: Time): Promise<Progress>;
  /**
   * Notifies the sending provider of an incoming payment that was approved at `payment.at`, with
   * the requested data of the receiver. Returns the progress of the funds. Idempotent. `settled`:
   * received. `failed`: not received. `returned`: received, must be returned. Absent: UMA payments
   * cannot be received.
   */
  collect?(
    payment: UmaPayment & { receiverInfo: Record<string, unknown> },
    now: Time,
  ): Promise<Progress>;
}
