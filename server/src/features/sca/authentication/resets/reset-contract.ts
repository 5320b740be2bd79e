// Contracts for the reset of a lost factor. After an identity check the factor is removed and can
// be enrolled again.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, nullable, oneOf, Timestamp, withDescription } from '../../../../kernel/schema.ts';
import { customerParams, SCA_TAG, ScaFactor } from '../contract.ts';
import { RESET_STATUSES } from '../states.ts';

const TwoFactorResetStartRequest = named(
  'TwoFactorResetStartRequest',
  Type.Object({ factor: ScaFactor }, { description: 'Factor to reset.' }),
);

const maybeText = (description: string) => Type.Optional(nullable(Type.String({ description })));

const TwoFactorResetStart = named(
  'TwoFactorResetStart',
  Type.Object(
    {
      resetId: Type.String({ description: 'ID of the reset, `ScaReset:<uuid>`.' }),
      livenessAccessToken: maybeText(
        'Access token for the liveness check in an app of the platform. Absent if the ' +
          'reset is reviewed manually.',
      ),
      verificationLink: maybeText(
        'Hosted page for the liveness check of the customer. The link can be used ' +
          'once. Absent if the reset is reviewed manually.',
      ),
      expiresAt: Type.Optional(
        nullable({ ...Timestamp, description: 'Time at which the reset expires.' }),
      ),
    },
    { description: 'A started factor reset.' },
  ),
);

const TwoFactorResetStatus = named(
  'TwoFactorResetStatus',
  Type.Object(
    {
      status: oneOf(RESET_STATUSES, {
        description:
          'INITIATED: waiting for the liveness check. PENDING_REVIEW: waiting for a ' +
          'manual review. LIVENESS_PASSED: the reset can be completed. COMPLETED: the ' +
          'factor is reset. REJECTED: the identity was not confirmed. EXPIRED: not ' +
          'completed in time, or replaced by a newer reset.',
      }),
      factor: withDescription(ScaFactor, 'Factor to reset.'),
      enrollmentStatus: Type.Optional(
        nullable(
          oneOf(['PENDING', 'COMPLETED'], {
            description:
              'Enrollment of the factor after the reset. Null for SMS_OTP and before ' +
              'completion.',
          }),
        ),
      ),
      expiresAt: withDescription(Timestamp, 'Time at which the reset expires.'),
      completedAt: Type.Optional(
        nullable({ ...Timestamp, description: 'Time of completion. Null until then.' }),
      ),
    },
    { description: 'Status of a factor reset.' },
  ),
);

const TwoFactorResetCompleteRequest = named(
  'TwoFactorResetCompleteRequest',
  Type.Object(
    {
      mobile: Type.Optional(
        Type.Object(
          {
            countryCode: Type.String({
              description: 'Country calling code with a plus sign, such as +49.',
            }),
            number: Type.String({
              description:
                'Number without the country calling code and without a leading zero: 4 to 14 ' +
                'digits.',
            }),
          },
          {
            description:
              'New phone number for SMS codes, at most 15 digits with the country calling code. ' +
              'Required for SMS_OTP, ignored for other factors.',
          },
        ),
      ),
    },
    { description: 'Data for the completion of a reset.' },
  ),
);

const COMMON_FIELDS = {
  tag: SCA_TAG,
  query: customerParams,
} as const;

const resetParams = {
  ...COMMON_FIELDS,
  params: Type.Object({ resetId: Type.String({ description: 'ID of the factor reset.' }) }),
  notFound: 'NOT_FOUND',
} as const;

export const startTwoFactorReset = operation({
  ...COMMON_FIELDS,
  operationId: 'startTwoFactorReset',
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  method: 'POST',
  path: '/sca/factors/reset',
  summary: 'Start a factor reset',
  description:
    'Starts the replacement of a lost factor. The customer confirms their ' +
    'identity by a liveness check within 30 minutes. Without a connected liveness ' +
    'service, a manual review confirms the identity within 24 hours. A new reset ' +
    'of the same factor replaces the previous one. A customer can start five resets ' +
    'in 24 hours, also while locked. Follow a reset with `getTwoFactorResetStatus` and finish it ' +
    'with `completeTwoFactorReset`.',
  permission: 'MANAGE',
  body: TwoFactorResetStartRequest,
  replies: { 201: TwoFactorResetStart },
  sealed: true,
});

export const getTwoFactorResetStatus = operation({
  ...resetParams,
  operationId: 'getTwoFactorResetStatus',
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
  method: 'GET',
  path: '/sca/factors/reset/{resetId}',
  summary: 'Get a factor reset status',
  description:
    'Returns the status of a factor reset and requests the result of a pending ' +
    'liveness check. Call `completeTwoFactorReset` when the status is ' +
    'LIVENESS_PASSED.',
  permission: 'VIEW',
  replies: { 200: TwoFactorResetStatus },
});

export const completeTwoFactorReset = operation({
  ...resetParams,
  operationId: 'completeTwoFactorReset',
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  method: 'POST',
  path: '/sca/factors/reset/{resetId}/complete',
  summary: 'Complete a factor reset',
  description:
    'Removes the lost factor and revokes the session of the customer. The reset must ' +
    'have the status LIVENESS_PASSED, and can be completed once. For SMS_OTP, the new phone ' +
    'number replaces the previous number and counts as verified. The change is ' +
    'rejected while the previous number receives one-time codes of an embedded wallet. ' +
    'Enroll other factors again with `startScaFactorEnrollment`.',
  permission: 'MANAGE',
  body: TwoFactorResetCompleteRequest,
  bodyOptional: true,
  replies: { 204: null },
});
