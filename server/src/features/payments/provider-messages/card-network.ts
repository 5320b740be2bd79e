// Functions of the cards feature that card messages of providers need. The cards feature depends on
// payments, so payments receive these functions as a dependency. Each message is applied in one
// change set, together with the rows that the caller stages.

import type { CardDecision, CardMerchant, CardRequest } from '../../../connectors/ports/cards.ts';
import type { Time } from '../../../kernel/effects.ts';
import type { Ctx } from '../../../runtime/operation/context.ts';

/** An entry of the network about a payment. Each entry is posted once. */
export interface CardEntry {
  id: string;
  /** The issuer's token of the payment. */
  token: string;
  /** ID of the request that would have opened the payment. */
  requestId: string;
  cardId: string;
  kind: 'CLEARING' | 'REVERSAL' | 'ADJUSTMENT' | 'REFUND' | 'REFUND_REVERSAL';
  /** Undefined for a reversal of the uncleared amount. */
  amount: bigint | undefined;
  currency: string;
  merchant: CardMerchant | undefined;
}

/** The payment that a message is about. */
export interface CardSubject {
  platformId: string;
  /** Null if there is no payment. */
  transactionId: string | null;
}

/** Stages further rows in the change set of a message that has an effect. */
export type StageMessage = (ctx: Ctx, subject: CardSubject) => void;

/**
 * `isNew`: applied now, together with the staged rows. False: without effect because of an earlier
 * message.
 */
export interface CardOutcome extends CardSubject {
  isNew: boolean;
}

/**
 * Errors with the code NOT_FOUND, TRANSACTION_NOT_FOUND, CONFLICT or INVALID_INPUT mean that the
 * message contradicts the recorded state.
 */
export interface CardNetwork {
  /** Decides on an authorization request. A repetition returns the recorded decision. */
  decide(
    request: CardRequest,
    deadline: Time,
    stage: StageMessage,
  ): Promise<CardOutcome & { decision: CardDecision }>;
  /**
   * Posts a request that the provider has approved, also without funds. `decidedId` is the ID of the same
   * request if it was sent for a decision.
   */
  postApproved(request: CardRequest, decidedId: string, stage: StageMessage): Promise<CardOutcome>;
  /** Posts an entry. A clearing or refund without a payment opens a payment. */
  postEntry(entry: CardEntry, stage: StageMessage): Promise<CardOutcome>;
}
