// The operations by which a customer who has lost a factor gets rid of it: somebody looks at the customer,
// then the factor is cleared and can be enrolled anew.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, nullable, oneOf, Timestamp } from '../../../../kernel/schema.ts';
import { ofCustomer, SCA_TAG, ScaFactor } from '../contract.ts';
import { RESET_STATUSES } from '../states.ts';

const TwoFactorResetStartRequest = named(
  'TwoFactorResetStartRequest',
  Type.Object({ factor: ScaFactor }, { description: 'The factor that was lost.' }),
);

const maybeText = (description: string) => Type.Optional(nullable(Type.String({ description })));

const TwoFactorResetStart = named(
  'TwoFactorResetStart',
  Type.Object(
    {
      resetId: Type.String({ description: 'ScaReset:<uuid>' }),
      livenessAccessToken: maybeText(
        'Secret for the liveness check in an app of your own; absent where a person decides.',
      ),
      verificationLink: maybeText(
        'Page to send the customer to, which works once; absent where a person decides.',
      ),
      expiresAt: Type.Optional(nullable(Timestamp)),
    },
    { description: 'A reset that was started.' },
  ),
);

const TwoFactorResetStatus = named(
  'TwoFactorResetStatus',
  Type.Object(
    {
      status: oneOf(RESET_STATUSES, { description: 'How far the reset has come.' }),
      factor: ScaFactor,
      enrollmentStatus: Type.Optional(
        nullable(
          oneOf(['PENDING', 'COMPLETED'], {
            description: 'Whether the factor was enrolled again; null for codes by SMS.',
          }),
        ),
      ),
      expiresAt: Timestamp,
      completedAt: Type.Optional(nullable(Timestamp)),
    },
    { description: 'How far a reset has come.' },
  ),
);

const TwoFactorResetCompleteRequest = named(
  'TwoFactorResetCompleteRequest',
  Type.Object(
    {
      mobile: Type.Optional(
        Type.Object(
          {
            countryCode: Type.String({ description: 'A plus sign and the calling code: +49.' }),
            number: Type.String({
              description: 'Digits after the calling code, without a zero in front.',
            }),
          },
          { description: 'The new number. Needed for SMS_OTP, ignored otherwise.' },
        ),
      ),
    },
    { description: 'What the end of a reset needs.' },
  ),
);

const COMMON = {
  tag: SCA_TAG,
  query: ofCustomer,
} as const;

const ofReset = {
  ...COMMON,
  params: Type.Object({ resetId: Type.String({ description: 'Id of the reset.' }) }),
  notFound: 'NOT_FOUND',
} as const;

export const startTwoFactorReset = operation({
  ...COMMON,
  operationId: 'startTwoFactorReset',
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  method: 'POST',
  path: '/sca/factors/reset',
  summary: 'Start to reset a factor that was lost',
  description:
    'The customer is looked at, by a camera on the page of the link or, where no service does ' +
    'that, by a person. There is half an hour for it, or a day for a person. A newer reset of the ' +
    'same factor ends the one before; a customer may start five within 24 hours. Being locked ' +
    'stops none. In the sandbox it passes when the status is asked for the second time, or by the ' +
    'button of the page.',
  permission: 'MANAGE',
  body: TwoFactorResetStartRequest,
  replies: { 201: TwoFactorResetStart },
  sealed: true,
});

export const getTwoFactorResetStatus = operation({
  ...ofReset,
  operationId: 'getTwoFactorResetStatus',
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
  method: 'GET',
  path: '/sca/factors/reset/{resetId}',
  summary: 'Get how far a reset has come',
  permission: 'VIEW',
  replies: { 200: TwoFactorResetStatus },
});

export const completeTwoFactorReset = operation({
  ...ofReset,
  operationId: 'completeTwoFactorReset',
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED'],
  method: 'POST',
  path: '/sca/factors/reset/{resetId}/complete',
  summary: 'Clear the factor',
  description:
    'Once the reset is LIVENESS_PASSED, and once only. The factor is gone and the customer logged ' +
    'out. For SMS_OTP the new number takes the place of the one before, as verified; that is ' +
    'refused while one-time codes of a wallet go to the number, whose holder has to sign such a ' +
    'change.',
  permission: 'MANAGE',
  body: TwoFactorResetCompleteRequest,
  bodyOptional: true,
  replies: { 204: null },
});
