// Jobs that the deletion of a customer stages. Their handlers belong to features that depend on
// this feature.
import { Type } from '@sinclair/typebox';
import { defineJob, PlatformFields } from '../../../kernel/contract/job.ts';

const DeletionInput = Type.Object({
  ...PlatformFields,
  customerId: Type.String(),
  /** Token that deleted the customer. */
  tokenId: Type.Union([Type.String(), Type.Null()]),
});

/** Deletes the agents of the customer. */
export const END_AGENTS = defineJob('agents.end', DeletionInput);
/** Closes the cards of the customer. */
export const CLOSE_CARDS = defineJob('cards.close', DeletionInput);
