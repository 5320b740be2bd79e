// The jobs of incoming payments. The definitions are separate from the handlers, because the handlers
// depend on the steps that stage the jobs.

import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import { RailTransferInput } from '../payouts/index.ts';
import { PaymentInput } from '../refunds/index.ts';

/** Sends the approval request to the platform. */
export const REQUEST_APPROVAL = defineJob(
  'incoming.request-approval',
  Type.Object({ ...PaymentInput.properties, eventId: Type.String() }),
);
/** Fails a payment whose approval period, requested with a 202 response, has expired. */
export const APPROVAL_EXPIRY = defineJob('incoming.expire', PaymentInput);
/** Collects an approved payment from the sending provider. */
export const COLLECT = defineJob(
  'incoming.collect',
  Type.Object({
    ...PaymentInput.properties,
    receiverInfo: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
);
/** Forwards a collected payment to an external account. */
export const FORWARD = defineJob('incoming.forward', RailTransferInput);
/** Debits an external account. */
export const DEBIT = defineJob('incoming.debit', RailTransferInput);
/** Returns a deposit to its payer. */
export const RETURN_DEPOSIT = defineJob('incoming.return', RailTransferInput);
/** Returns a held deposit whose review period has expired. */
export const REVIEW_EXPIRY = defineJob('incoming.review-expiry', PaymentInput);
