// Manual identity verification: the queue, the case of one customer, and the decisions.
import { type Static, type TSchema, Type } from '@sinclair/typebox';
import { FINDING_TYPES } from '../../catalog/identity/verification-errors.ts';
import { customerFeature } from '../../features/customers/records/index.ts';
import {
  type Decision,
  decideVerification,
  findingProblem,
  listVerifications,
  showVerification,
  VERIFICATION_STATUSES,
  VerificationError,
} from '../../features/customers/verifications/index.ts';
import { operation } from '../../kernel/contract/operation.ts';
import type { FieldError } from '../../kernel/fault.ts';
import {
  named,
  nullable,
  oneOf,
  PageQuery,
  page,
  text,
  time,
  withDescription,
} from '../../kernel/schema.ts';
import { type OperatorCall, operatorHandle } from '../handle.ts';
import {
  CHECK_STATUS_DESCRIPTION,
  listInput,
  OptionalReason,
  PlatformFilter,
  Reason,
  VERIFICATION_STATUS_DESCRIPTION,
} from '../schemas.ts';

const CHECK_STATUSES = Object.keys(customerFeature.states.check.transitions);

const TAG = 'Verifications';

const DECIDED_BY = nullable(
  oneOf(['operator', 'connector'], {
    description: 'Source of the decision, or null if there is none.',
  }),
);
const CUSTOMER = {
  platformId: text('Platform of the customer.'),
  customerId: text('ID of the customer.'),
};
const VERIFICATION = {
  verificationId: text('ID of the verification.'),
  ...CUSTOMER,
  status: oneOf(VERIFICATION_STATUSES, { description: VERIFICATION_STATUS_DESCRIPTION }),
  decidedBy: DECIDED_BY,
  createdAt: time('Time of the submission.'),
  updatedAt: time('Time of the last change.'),
};
const Item = named(
  'OperatorVerification',
  Type.Object(VERIFICATION, { description: 'The latest verification of a customer.' }),
);
const errors = Type.Array(VerificationError, { description: 'Errors that must be resolved.' });

const CheckStatus = oneOf(CHECK_STATUSES, { description: CHECK_STATUS_DESCRIPTION });
const channel = oneOf(['PENDING', 'VERIFIED'], {
  description: 'Status of the verification of the channel.',
});
const listOf = <T extends TSchema>(item: T, description: string) =>
  Type.Unsafe<readonly Static<T>[]>(Type.Array(item, { description }));
const fields = (description: string) =>
  Type.Unsafe<Readonly<Record<string, unknown>>>(
    Type.Record(Type.String(), Type.Unknown(), { description }),
  );

const Case = Type.Object({
  verification: nullable(
    Type.Object(
      { ...VERIFICATION, errors },
      { description: 'The latest verification, or null before the first submission.' },
    ),
  ),
  ...CUSTOMER,
  type: oneOf(['INDIVIDUAL', 'BUSINESS'], { description: 'Type of the customer.' }),
  status: CheckStatus,
  contactVerification: nullable(
    Type.Object(
      { email: channel, phone: channel },
      { description: 'Contact channels that must be verified first, or null if there are none.' },
    ),
  ),
  missing: Type.Array(VerificationError, {
    description: 'Data and documents that the verification still requires.',
  }),
  email: nullable(text('E-mail address of the customer, or null if there is none.')),
  phoneNumber: nullable(text('Telephone number of the customer, or null if there is none.')),
  details: fields('Data of the customer, with the field names of the API.'),
  identifier: nullable(text('Identity or tax number of an individual, or null if there is none.')),
  owners: Type.Array(
    Type.Object({
      id: text('ID of the beneficial owner.'),
      status: CheckStatus,
      roles: listOf(Type.String(), 'Roles of the owner.'),
      ownershipPercentage: Type.Number({ description: 'Share of the business, in percent.' }),
      personalInfo: fields('Data of the owner, with the field names of the API.'),
    }),
    { description: 'Beneficial owners of a business.' },
  ),
  documents: Type.Array(
    Type.Object({
      id: text('ID of the document.'),
      holder: text('Customer or beneficial owner that the document is about.'),
      documentType: text('Type of the document, such as `PASSPORT`.'),
    }),
    { description: 'Documents, without their files.' },
  ),
});

const params = Type.Object({
  subjectId: text('ID of a customer, of its latest verification, or of one beneficial owner.'),
});

const list = operation({
  operationId: 'listVerificationsForReview',
  method: 'GET',
  path: '/verifications',
  tag: TAG,
  summary: 'List verifications',
  description:
    'Returns the latest verification of each customer that matches the filter, oldest first. ' +
    'Deleted customers are not included.',
  auth: 'operator',
  operatorPermission: 'customers.read',
  oldestFirst: true,
  commands: ['verifications list'],
  query: Type.Object({
    status: Type.Optional(
      oneOf(VERIFICATION_STATUSES, {
        default: 'PENDING_MANUAL_REVIEW',
        description:
          'Return only verifications with this status. Defaults to those awaiting a decision.',
      }),
    ),
    ...PlatformFilter,
    ...PageQuery,
  }),
  replies: {
    200: named(
      'OperatorVerificationPage',
      page(Item, {
        description: 'A page of the latest verification of each customer, oldest first.',
      }),
    ),
  },
  errors: [],
});

const show = operation({
  operationId: 'getVerificationCase',
  method: 'GET',
  path: '/verifications/{subjectId}',
  tag: TAG,
  summary: 'Get a verification case',
  description:
    'Returns the case of a customer with its owners and documents. The case contains personal data, so ' +
    'this request is recorded.',
  auth: 'operator',
  operatorPermission: 'customers.decide',
  reveals: true,
  commands: ['verifications show'],
  params,
  replies: { 200: Case },
  // A later verification has replaced the verification with this ID.
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
});

const Finding = named(
  'OperatorFinding',
  Type.Object(
    {
      type: oneOf(FINDING_TYPES, { description: 'Type of the finding.' }),
      resourceId: Type.Optional(
        text('Customer, beneficial owner or document. Defaults to the customer.'),
      ),
      field: Type.Optional(
        text('Path of the field, such as `birthDate`. Absent if the finding is not about a field.'),
      ),
      reason: Type.Optional(
        text('Explanation for the platform. Defaults to the explanation of the type.', {
          minLength: 1,
          maxLength: 500,
        }),
      ),
    },
    { description: 'A finding that prevents the approval.' },
  ),
);

const PROBLEMS = {
  'field-missing': { name: 'field', message: 'is required for this type' },
  'field-unexpected': { name: 'field', message: 'must be absent for this type' },
  'document-missing': { name: 'resourceId', message: 'must be a document for this type' },
} as const;

/** Findings of an unknown type are rejected by the schema, whose errors are in the same reply. */
const isOfKnownType = (finding: unknown): finding is Static<typeof Finding> => {
  const type = (finding as { type?: unknown } | null)?.type;
  return FINDING_TYPES.some((findingType) => findingType === type);
};

function findingErrors(body: unknown): FieldError[] {
  const findings = (body as { findings?: unknown } | null | undefined)?.findings;
  if (!Array.isArray(findings)) return [];
  return findings.flatMap((finding: unknown, index) => {
    const problem = isOfKnownType(finding) && findingProblem(finding);
    if (!problem) return [];
    const { name, message } = PROBLEMS[problem];
    return [{ field: `findings.${index}.${name}`, message }];
  });
}

const DecisionResult = named(
  'OperatorVerificationDecision',
  Type.Object(
    {
      ...CUSTOMER,
      ownerId: Type.Optional(
        text('ID of the beneficial owner. Absent for a decision about a customer.'),
      ),
      verificationId: Type.Optional(
        text('ID of the verification. Absent for a decision about an owner.'),
      ),
      status: oneOf([...new Set([...VERIFICATION_STATUSES, ...CHECK_STATUSES])], {
        description: 'Status of the verification, or of the identity check of the owner.',
      }),
      decidedBy: Type.Optional(
        withDescription(
          DECIDED_BY,
          'Source of the decision, or null if there is none. Absent for a decision about an owner.',
        ),
      ),
      createdAt: Type.Optional(
        time('Time of the submission. Absent for a decision about an owner.'),
      ),
      updatedAt: Type.Optional(time('Time of the decision. Absent for a decision about an owner.')),
      errors: Type.Optional(
        withDescription(
          errors,
          'Errors that must be resolved. Absent for a decision about an owner.',
        ),
      ),
    },
    { description: 'The decision about a customer or a beneficial owner.' },
  ),
);

const DECISION = {
  method: 'POST',
  tag: TAG,
  auth: 'operator',
  operatorPermission: 'customers.decide',
  params,
  replies: { 200: DecisionResult },
  errors: ['CONFLICT'],
  notFound: 'NOT_FOUND',
} as const;

const approve = operation({
  ...DECISION,
  operationId: 'approveVerification',
  path: '/verifications/{subjectId}/approve',
  summary: 'Approve a verification',
  description:
    'Approves the identity of a customer, or of one beneficial owner. The decision is final.',
  commands: ['verifications approve'],
  body: Type.Object(OptionalReason),
  bodyOptional: true,
});

const findings = Type.Array(Finding, {
  maxItems: 100,
  description: 'Findings about the customer. Must be absent or empty for an owner.',
});

const reject = operation({
  ...DECISION,
  operationId: 'rejectVerification',
  path: '/verifications/{subjectId}/reject',
  summary: 'Reject a verification',
  description: 'Rejects a customer, or one beneficial owner. The decision is final.',
  commands: ['verifications reject'],
  body: Type.Object({ findings: Type.Optional(findings), reason: Reason }),
  bodyRules: findingErrors,
});

const hold = operation({
  ...DECISION,
  operationId: 'requestVerificationCorrections',
  path: '/verifications/{subjectId}/hold',
  summary: 'Request corrections',
  description:
    'Returns the case to the customer for corrections and a new submission. At least one ' +
    'finding is required for a customer.',
  commands: ['verifications hold'],
  body: Type.Object({ findings: Type.Optional(findings), ...OptionalReason }),
  bodyOptional: true,
  bodyRules: findingErrors,
});

interface DecisionInput {
  params: Static<typeof params>;
  body: { findings?: Static<typeof Finding>[]; reason?: string };
}

const decider =
  (state: Decision) =>
  async ({ installation }: OperatorCall, { params: { subjectId: id }, body }: DecisionInput) => {
    const input = { id, state, findings: body.findings ?? [] };
    return { status: 200 as const, body: await decideVerification(installation.runtime, input) };
  };

export const verificationOperations = [
  operatorHandle(list, async ({ installation }, { query }) => ({
    status: 200,
    body: await listVerifications(installation.runtime, {
      ...listInput(query),
      status: query.status ?? 'PENDING_MANUAL_REVIEW',
    }),
  })),
  operatorHandle(show, async ({ installation }, { params: { subjectId } }) => ({
    status: 200,
    body: await showVerification(installation.runtime, subjectId),
  })),
  operatorHandle(approve, decider('approved')),
  operatorHandle(reject, decider('rejected')),
  operatorHandle(hold, decider('unresolved')),
];
