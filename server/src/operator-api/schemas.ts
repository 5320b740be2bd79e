// Schemas that several operations of the operator API share.
import { Type } from '@sinclair/typebox';
import { named, oneOf, text, time } from '../kernel/schema.ts';

/** Filter by platform. Without it, an operator of several platforms receives the items of all of them. */
export const PlatformFilter = {
  platformId: Type.Optional(
    text(
      'Return only items of this platform. Default: all platforms that the operator may access.',
    ),
  ),
};

/** Filter of sums. Without it, an operator of several platforms receives the sums of all of them. */
export const SummedPlatform = {
  platformId: Type.Optional(
    text('Sum only this platform. Default: all platforms that the operator may access.'),
  ),
};

/** The operator's reason for the change. Part of the audit record. */
export const Reason = text('Reason, stored in the audit record. Must not contain personal data.', {
  minLength: 1,
  maxLength: 500,
});

export const OptionalReason = { reason: Type.Optional(Reason) };

/** Meaning of each status of an identity check. */
export const CHECK_STATUS_DESCRIPTION =
  'Status of the identity check. UNVERIFIED: not submitted, or submitted with errors to resolve. ' +
  'PENDING: under review. APPROVED: verified. REJECTED: failed permanently. HOLD: more information ' +
  'is required.';

/** Meaning of each status of a verification. */
export const VERIFICATION_STATUS_DESCRIPTION =
  'Status of the verification. RESOLVE_ERRORS: the data must be corrected and submitted again. ' +
  'PENDING_MANUAL_REVIEW: needs a decision. APPROVED and REJECTED are final.';

/** Meaning of each status of a card payment. */
export const CARD_PAYMENT_STATUS_DESCRIPTION =
  'AUTHORIZED: authorized and not cleared. PARTIALLY_SETTLED: cleared in part. SETTLED: cleared, or ' +
  'the remaining authorization was released. REFUNDED: the full settled amount was refunded. ' +
  'EXCEPTION: the settled amount could not be debited and needs a decision.';

/** Query of a removal, which has no body. */
export const RemovalQuery = Type.Object(OptionalReason);

/** Body of a decision that rejects, which always has a reason. */
export const RejectionBody = Type.Object({ reason: Reason });

const personSchema = (description: string) =>
  Type.Object(
    {
      id: text('ID of the operator.'),
      name: text('Name of the operator at the time of the action.'),
    },
    { description },
  );

export const APPROVAL = {
  id: text('ID of the approval.'),
  operationId: text('Operation that was requested.'),
  subject: Type.Optional(
    text('ID of the resource that the request names. Absent if there is none.'),
  ),
  status: oneOf(['PENDING', 'APPROVED', 'REJECTED', 'EXPIRED', 'INVALID'], {
    description:
      'PENDING: can be decided until `expiresAt`. EXPIRED: was not decided in time. APPROVED: was ' +
      'executed. REJECTED: is not executed. INVALID: can only be rejected. The requester is ' +
      'disabled, uses a token that has expired or was revoked, or lost the permission or access to the ' +
      'platform.',
  }),
  platformId: Type.Optional(
    text('ID of the platform whose data changes. Absent if there is none.'),
  ),
  customerId: Type.Optional(
    text('ID of the customer whose data changes. Absent if there is none.'),
  ),
  policyId: text(
    'ID of the policy that requires the approval, or `built-in` for an operation that always requires one.',
  ),
  requestedBy: personSchema('Operator who requested the change.'),
  reason: Type.Optional(text('Reason for the request. Absent if none was stated.')),
  decidedBy: Type.Optional(
    personSchema('Operator who approved or rejected the change. Absent until then.'),
  ),
  decisionReason: Type.Optional(text('Reason for the decision. Absent until then.')),
  expiresAt: time('Time until which the request can be decided.'),
  createdAt: time('Time of the request.'),
  updatedAt: time('Time of the last change.'),
};

/** A requested change that a second operator must approve. */
export const Approval = named(
  'Approval',
  Type.Object(APPROVAL, {
    description: 'A requested change that a second operator approves or rejects.',
  }),
);

const rowValues = (description: string) =>
  Type.Record(Type.String(), Type.Unknown(), { description });

/** Rows and postings of a change. */
export const Changes = Type.Object(
  {
    rows: Type.Array(
      Type.Object({
        table: text('Table of the row.'),
        id: text('ID of the row.'),
        before: Type.Optional(rowValues('Values before the change. Absent for an added row.')),
        after: Type.Optional(rowValues('Values after the change. Absent for a removed row.')),
      }),
      { description: 'Rows with the values that change.' },
    ),
    transfers: Type.Array(rowValues('Fields of a posting.'), {
      description: 'Postings in the ledger.',
    }),
    omitted: Type.Integer({
      description: 'Number of rows and postings that are omitted, beyond the first hundred.',
    }),
  },
  {
    description:
      'Rows and postings that change. Absent if nothing changes, and after an erasure of the customer.',
  },
);

/** Size of a page without `limit`, as in `PageQuery`. */
const DEFAULT_LIMIT = 20;

/** The query of a list with the size of its page. */
export const listInput = <Q extends { limit?: number }>(query: Q) => ({
  ...query,
  limit: query.limit ?? DEFAULT_LIMIT,
});
