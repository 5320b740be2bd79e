// Events notify platforms. The emitter, the webhook contract and the OpenAPI document share one definition,
// so the data of an event has the documented type.
import type { TSchema } from '@sinclair/typebox';
import { named, oneOf } from '../schema.ts';

/** Every documented event type. Platforms switch on these names. */
export const EVENT_TYPES = [
  'OUTGOING_PAYMENT.PENDING',
  'OUTGOING_PAYMENT.PENDING_AUTHORIZATION',
  'OUTGOING_PAYMENT.PROCESSING',
  'OUTGOING_PAYMENT.COMPLETED',
  'OUTGOING_PAYMENT.FAILED',
  'OUTGOING_PAYMENT.EXPIRED',
  'OUTGOING_PAYMENT.REFUND_PENDING',
  'OUTGOING_PAYMENT.REFUND_COMPLETED',
  'OUTGOING_PAYMENT.REFUND_FAILED',
  'INCOMING_PAYMENT.PENDING',
  'INCOMING_PAYMENT.COMPLETED',
  'INCOMING_PAYMENT.FAILED',
  'INCOMING_PAYMENT.REFUND_PENDING',
  'INCOMING_PAYMENT.REFUND_COMPLETED',
  'INCOMING_PAYMENT.REFUND_FAILED',
  'CUSTOMER.KYC_APPROVED',
  'CUSTOMER.KYC_REJECTED',
  'CUSTOMER.KYC_PENDING',
  'CUSTOMER.KYB_APPROVED',
  'CUSTOMER.KYB_REJECTED',
  'CUSTOMER.KYB_PENDING',
  'VERIFICATION.APPROVED',
  'VERIFICATION.REJECTED',
  'VERIFICATION.RESOLVE_ERRORS',
  'VERIFICATION.IN_PROGRESS',
  'VERIFICATION.PENDING_MANUAL_REVIEW',
  'VERIFICATION.READY_FOR_VERIFICATION',
  'EXTERNAL_ACCOUNT.STATUS_UPDATED',
  'INTERNAL_ACCOUNT.BALANCE_UPDATED',
  'INTERNAL_ACCOUNT.STATUS_UPDATED',
  'INTERNAL_ACCOUNT.FUNDING_INSTRUCTIONS_UPDATED',
  'INVITATION.CLAIMED',
  'BULK_UPLOAD.COMPLETED',
  'BULK_UPLOAD.FAILED',
  'AGENT_ACTION.PENDING_APPROVAL',
  'CARD.STATE_CHANGE',
  'CARD.FUNDING_SOURCE_CHANGE',
  'CARD_TRANSACTION.AUTHORIZED',
  'CARD_TRANSACTION.PARTIALLY_SETTLED',
  'CARD_TRANSACTION.SETTLED',
  'CARD_TRANSACTION.REFUNDED',
  'CARD_TRANSACTION.EXCEPTION',
  'WEBHOOK_ENDPOINT.PAUSED',
  'TEST',
] as const;

export type EventType = (typeof EVENT_TYPES)[number];

/** Types that a webhook contract documents and that are never emitted. */
export const RESERVED_EVENT_TYPES: readonly EventType[] = ['VERIFICATION.IN_PROGRESS'];

export const WebhookType = named(
  'WebhookType',
  oneOf(EVENT_TYPES, { description: 'Type of an event.' }),
);

/** Private to this file, so that only `defineEvent` creates definitions. */
const DEFINED = Symbol('defineEvent');

export interface EventDefinition<S extends TSchema = TSchema, T extends EventType = EventType> {
  readonly type: T;
  /** Schema of `data`, which is the resource in the form of its GET. */
  readonly data: S;
  readonly [DEFINED]: true;
}

/** Defines an event type. Each type has one definition, next to the contract of its resource. */
export const defineEvent = <S extends TSchema, T extends EventType>(
  type: T,
  data: S,
): EventDefinition<S, T> => ({ type, data, [DEFINED]: true });

/** The webhook contract of the events of one kind of resource. All its events have the same `data`. */
export interface WebhookContract {
  /** Name in the document: `outgoing-payment`. */
  readonly name: string;
  readonly summary: string;
  readonly description: string;
  readonly events: readonly EventDefinition[];
}
