// Contract of verifications: the API resource and its operations.
import { type Static, Type } from '@sinclair/typebox';
import { FINDING_TYPES } from '../../../catalog/identity/verification-errors.ts';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import {
  named,
  oneOf,
  PageQuery,
  page,
  Timestamp,
  text,
  withDescription,
} from '../../../kernel/schema.ts';
import { DocumentType } from '../documents/index.ts';
import { VERIFICATION_STATUSES } from './states.ts';

const TAG = 'KYC/KYB Verifications';
const optional = Type.Optional;

const VerificationStatus = named(
  'VerificationStatus',
  oneOf([...VERIFICATION_STATUSES, 'IN_PROGRESS', 'READY_FOR_VERIFICATION'], {
    description:
      'RESOLVE_ERRORS: correct the data in `errors` and submit the customer again. ' +
      'PENDING_MANUAL_REVIEW: the submission is under review. APPROVED and ' +
      'REJECTED are final. IN_PROGRESS and READY_FOR_VERIFICATION are reserved.',
  }),
);

const VerificationErrorType = named(
  'VerificationErrorType',
  oneOf(FINDING_TYPES, {
    description:
      'Cause of the error. MISSING types: data or a document is absent. INVALID_FIELD: the ' +
      'value is invalid. Other DOCUMENT types: the document was not accepted. APPLICANT types: ' +
      'the person or business was not accepted.',
  }),
);

export const VerificationError = named(
  'VerificationError',
  Type.Object(
    {
      resourceId: text(
        'ID of the customer, beneficial owner or document that the error refers to.',
      ),
      type: VerificationErrorType,
      field: optional(
        text(
          'Path of the field that the error refers to. Examples: `birthDate` of an ' +
            'individual, `customer.businessInfo.taxId` of a business, ' +
            '`personalInfo.birthDate` of a beneficial owner. Absent if the error does not ' +
            'refer to a field.',
        ),
      ),
      acceptedDocumentTypes: optional(
        Type.Array(DocumentType, {
          description:
            'Document types of which one resolves the error. Absent if no document resolves it.',
        }),
      ),
      reason: text('Human-readable description of the error.'),
    },
    {
      description:
        'An error that must be resolved before the customer can be approved, or a reason of its ' +
        'rejection.',
    },
  ),
);

export type VerificationError = Static<typeof VerificationError>;

export const Verification = named(
  'Verification',
  Type.Object(
    {
      id: text('ID of the verification.'),
      customerId: text('ID of the submitted customer.'),
      verificationStatus: VerificationStatus,
      errors: Type.Array(VerificationError, {
        description: 'Errors that must be resolved, or reasons of a rejection. May be empty.',
      }),
      createdAt: withDescription(Timestamp, 'Time of the submission.'),
      updatedAt: optional(
        withDescription(
          Timestamp,
          'Time of the last change, or of the submission if the verification has not changed.',
        ),
      ),
    },
    { description: 'A submission of a customer for verification, and its result.' },
  ),
);

export const createVerification = operation({
  operationId: 'createVerification',
  method: 'POST',
  path: '/verifications',
  tag: TAG,
  summary: 'Submit a customer for verification',
  description:
    'Checks that all required data and documents of the customer are present and submits ' +
    'it for verification. Every submission returns 200. Check `verificationStatus`. For ' +
    'RESOLVE_ERRORS, correct the data in `errors` and submit again. The latest submission ' +
    'is authoritative. A customer that is APPROVED or REJECTED cannot be submitted again.',
  permission: 'MANAGE',
  body: named(
    'VerificationRequest',
    Type.Object(
      { customerId: text('ID of the customer.') },
      { description: 'The customer to verify.' },
    ),
  ),
  replies: { 200: Verification },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  callsExternal: true,
  sealed: true,
});

export const listVerifications = operation({
  operationId: 'listVerifications',
  method: 'GET',
  path: '/verifications',
  tag: TAG,
  summary: 'List verifications',
  description: 'Returns the verifications of the platform that match every filter, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    customerId: optional(text('Return only verifications of this customer.')),
    verificationStatus: optional(
      withDescription(VerificationStatus, 'Return only verifications with this status.'),
    ),
    ...PageQuery,
  }),
  replies: {
    200: named(
      'VerificationListResponse',
      page(Verification, { description: 'A page of verifications.' }),
    ),
  },
  errors: [],
});

export const getVerification = operation({
  operationId: 'getVerification',
  method: 'GET',
  path: '/verifications/{verificationId}',
  tag: TAG,
  summary: 'Get a verification',
  description:
    'Returns one verification with its status and errors, even if a later verification has ' +
    'replaced it.',
  permission: 'VIEW',
  params: Type.Object({ verificationId: text('ID of the verification.') }),
  replies: { 200: Verification },
  errors: [],
  notFound: 'VERIFICATION_NOT_FOUND',
});

/** Event emitted when a verification enters a status. */
export const verificationEvents = {
  RESOLVE_ERRORS: defineEvent('VERIFICATION.RESOLVE_ERRORS', Verification),
  PENDING_MANUAL_REVIEW: defineEvent('VERIFICATION.PENDING_MANUAL_REVIEW', Verification),
  APPROVED: defineEvent('VERIFICATION.APPROVED', Verification),
  REJECTED: defineEvent('VERIFICATION.REJECTED', Verification),
} as const satisfies Record<(typeof VERIFICATION_STATUSES)[number], EventDefinition>;

/** IN_PROGRESS is part of the contract. No verification currently has it. */
const inProgress = defineEvent('VERIFICATION.IN_PROGRESS', Verification);

export const verificationWebhooks: readonly WebhookContract[] = [
  {
    name: 'verification-update',
    summary: 'Verification status changed',
    description:
      'Sent for every submission with its result, and when a verification under review ' +
      'is decided. The customer event follows if the status of the customer ' +
      'changes. `VERIFICATION.IN_PROGRESS` is reserved and not sent.',
    events: [
      verificationEvents.RESOLVE_ERRORS,
      verificationEvents.PENDING_MANUAL_REVIEW,
      verificationEvents.APPROVED,
      verificationEvents.REJECTED,
      inProgress,
    ],
  },
];
