// Schemas that several operations of the operator API share.
import { Type } from '@sinclair/typebox';
import { text } from '../kernel/schema.ts';

/** Filter by platform; an operator of several single platforms must set it. */
export const PlatformFilter = {
  platformId: Type.Optional(
    text('Return only items of this platform. Required for an operator of several platforms.'),
  ),
};

/** Why the operator does this; part of the audit record. */
const Reason = text('Reason, kept in the audit record. Without personal data.', {
  minLength: 1,
  maxLength: 500,
});

export const OptionalReason = { reason: Type.Optional(Reason) };
