// The jobs that follow incoming money, apart from their handlers because the steps that stage them come
// before those.

import { Type } from '@sinclair/typebox';
import { defineJob } from '../../../kernel/contract/job.ts';
import { RailTransferInput } from '../payouts/index.ts';
import { PaymentInput } from '../refunds/index.ts';

/** Asks the platform whether its customer may be paid. */
export const ASK = defineJob(
  'incoming.ask',
  Type.Object({ ...PaymentInput.properties, eventId: Type.String() }),
);
/** The time a platform took for its answer is over. */
export const LAPSE = defineJob('incoming.expire', PaymentInput);
/** Fetches an approved payment from the sender's provider. */
export const COLLECT = defineJob(
  'incoming.collect',
  Type.Object({
    ...PaymentInput.properties,
    receiverInfo: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  }),
);
/** Sends an arrived payment on to an account outside. */
export const PASS_ON = defineJob('incoming.forward', RailTransferInput);
/** Takes money from an account outside. */
export const PULL = defineJob('incoming.debit', RailTransferInput);
/** Sends money back to whoever paid it in. */
export const SEND_BACK = defineJob('incoming.return', RailTransferInput);
/** A deposit has been held for as long as it may be. */
export const REVIEW_EXPIRY = defineJob('incoming.review-expiry', PaymentInput);
