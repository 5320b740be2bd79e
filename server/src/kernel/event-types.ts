// Every type of event that a receiver may meet, now or in a later version, and the envelope all of them
// share. Receivers generate code from this list, so it holds the whole vocabulary of the API.
import { type TSchema, Type } from '@sinclair/typebox';
import { described, named, oneOf, Timestamp } from './schema.ts';

const family = (object: string, names: string) =>
  names.split(' ').map((name) => `${object}.${name}`);

export const EVENT_TYPES: readonly string[] = [
  ...family(
    'OUTGOING_PAYMENT',
    'PENDING PENDING_AUTHORIZATION PROCESSING COMPLETED FAILED EXPIRED ' +
      'REFUND_PENDING REFUND_COMPLETED REFUND_FAILED',
  ),
  ...family(
    'INCOMING_PAYMENT',
    'PENDING COMPLETED FAILED REFUND_PENDING REFUND_COMPLETED REFUND_FAILED',
  ),
  ...family('CUSTOMER', 'KYC_APPROVED KYC_REJECTED KYC_PENDING'),
  ...family('CUSTOMER', 'KYB_APPROVED KYB_REJECTED KYB_PENDING'),
  ...family(
    'VERIFICATION',
    'APPROVED REJECTED RESOLVE_ERRORS IN_PROGRESS PENDING_MANUAL_REVIEW READY_FOR_VERIFICATION',
  ),
  ...family('EXTERNAL_ACCOUNT', 'STATUS_UPDATED'),
  ...family('INTERNAL_ACCOUNT', 'BALANCE_UPDATED STATUS_UPDATED FUNDING_INSTRUCTIONS_UPDATED'),
  ...family('INVITATION', 'CLAIMED'),
  ...family('BULK_UPLOAD', 'COMPLETED FAILED'),
  ...family('AGENT_ACTION', 'PENDING_APPROVAL'),
  ...family('CARD', 'STATE_CHANGE FUNDING_SOURCE_CHANGE'),
  ...family('CARD_TRANSACTION', 'AUTHORIZED PARTIALLY_SETTLED SETTLED REFUNDED EXCEPTION'),
  'TEST',
];

const WebhookType = named(
  'WebhookType',
  oneOf(EVENT_TYPES, { description: 'What happened: the kind of resource, then the fact.' }),
);

const BaseWebhook = named(
  'BaseWebhook',
  Type.Object(
    {
      id: Type.String({
        description: 'Id of the event, the same however often it is sent: keep it to drop repeats.',
      }),
      type: WebhookType,
      timestamp: described(Timestamp, 'When it happened.'),
    },
    { description: 'What every event carries.' },
  ),
);

/** The body of the events named in `types`, whose `data` has this schema. */
export const eventBody = (types: readonly string[], data: TSchema): TSchema =>
  Type.Intersect([BaseWebhook, Type.Object({ type: oneOf(types), data })]);
