// Verifications as the API shows them, and the operations on them.
import { type Static, Type } from '@sinclair/typebox';
import { FINDING_TYPES } from '../../../catalog/identity/verification-errors.ts';
import {
  defineEvent,
  type EventDefinition,
  type WebhookContract,
} from '../../../kernel/contract/event.ts';
import { operation } from '../../../kernel/contract/operation.ts';
import { described, named, oneOf, PageQuery, page, Timestamp } from '../../../kernel/schema.ts';
import { DocumentType } from '../documents/index.ts';
import { VERIFICATION_STATUSES } from './states.ts';

const TAG = 'KYC/KYB Verifications';
const maybe = Type.Optional;
const text = (description: string) => Type.String({ description });

const VerificationStatus = named(
  'VerificationStatus',
  oneOf([...VERIFICATION_STATUSES, 'IN_PROGRESS', 'READY_FOR_VERIFICATION'], {
    description:
      'RESOLVE_ERRORS: mend what `errors` names and submit again. PENDING_MANUAL_REVIEW: somebody ' +
      'is looking. APPROVED and REJECTED are final. The other two are not used today.',
  }),
);

const VerificationErrorType = named(
  'VerificationErrorType',
  oneOf(FINDING_TYPES, { description: 'What stands in the way.' }),
);

const VerificationError = named(
  'VerificationError',
  Type.Object(
    {
      resourceId: text('Id of the customer, the beneficial owner or the document in question.'),
      type: VerificationErrorType,
      field: maybe(
        text(
          'The field in question. Of a person as the customer has it, `birthDate`; of a business ' +
            'behind `customer.`; of an owner `personalInfo.birthDate` and the like.',
        ),
      ),
      acceptedDocumentTypes: maybe(
        Type.Array(DocumentType, { description: 'Documents of which one would do.' }),
      ),
      reason: text('The same for people to read.'),
    },
    { description: 'One thing that stands in the way.' },
  ),
);

export type VerificationError = Static<typeof VerificationError>;

export const Verification = named(
  'Verification',
  Type.Object(
    {
      id: text('Id of the verification.'),
      customerId: text('The customer that was submitted.'),
      verificationStatus: VerificationStatus,
      errors: Type.Array(VerificationError, {
        description: 'What stands in the way; empty when nothing does.',
      }),
      createdAt: described(Timestamp, 'When it was submitted.'),
      updatedAt: maybe(described(Timestamp, 'When it last changed.')),
    },
    { description: 'A submission of a customer to its identity check, and what came of it.' },
  ),
);

export const createVerification = operation({
  operationId: 'createVerification',
  method: 'POST',
  path: '/verifications',
  tag: TAG,
  summary: 'Submit a customer to its identity check',
  description:
    'Looks whether everything is there and has the customer checked. It answers 200 whatever came ' +
    'of it: what is missing is named by `errors`. May be repeated until the customer is approved or ' +
    'rejected; the latest one counts.',
  permission: 'MANAGE',
  body: named(
    'VerificationRequest',
    Type.Object({ customerId: text('The customer.') }, { description: 'Whom to check.' }),
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
  description: 'Verifications that fit every filter given, newest first.',
  permission: 'VIEW',
  query: Type.Object({
    customerId: maybe(text('Those of this customer.')),
    verificationStatus: maybe(described(VerificationStatus, 'Those in this state.')),
    ...PageQuery,
  }),
  replies: { 200: named('VerificationListResponse', page(Verification)) },
  errors: [],
});

export const getVerification = operation({
  operationId: 'getVerification',
  method: 'GET',
  path: '/verifications/{verificationId}',
  tag: TAG,
  summary: 'Show a verification',
  description: 'One verification, whether or not a later one took its place.',
  permission: 'VIEW',
  params: Type.Object({ verificationId: text('Id of the verification.') }),
  replies: { 200: Verification },
  errors: [],
  notFound: 'VERIFICATION_NOT_FOUND',
});

/** The event about each status that a verification enters. */
export const verificationEvents = {
  RESOLVE_ERRORS: defineEvent('VERIFICATION.RESOLVE_ERRORS', Verification),
  PENDING_MANUAL_REVIEW: defineEvent('VERIFICATION.PENDING_MANUAL_REVIEW', Verification),
  APPROVED: defineEvent('VERIFICATION.APPROVED', Verification),
  REJECTED: defineEvent('VERIFICATION.REJECTED', Verification),
} as const satisfies Record<(typeof VERIFICATION_STATUSES)[number], EventDefinition>;

/** Part of the contract; no verification has this status today. */
const inProgress = defineEvent('VERIFICATION.IN_PROGRESS', Verification);

export const verificationWebhooks: readonly WebhookContract[] = [
  {
    name: 'verification-update',
    summary: 'A verification has come further',
    description:
      'Sent for every submission with what came of it, and when one that was under review is decided. ' +
      'Where the status of the customer follows, its event comes behind.',
    events: [
      verificationEvents.RESOLVE_ERRORS,
      verificationEvents.PENDING_MANUAL_REVIEW,
      verificationEvents.APPROVED,
      verificationEvents.REJECTED,
      inProgress,
    ],
  },
];
