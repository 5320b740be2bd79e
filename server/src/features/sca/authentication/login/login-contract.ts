// The operations by which a customer logs in with a second factor, and by which its platform tells of what
// happened where the customer signs in with its password.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../../kernel/fault.ts';
import { named, nullable, oneOf, Timestamp } from '../../../../kernel/schema.ts';
import { type Proof, proofErrors } from '../challenges.ts';
import {
  addressErrors,
  maybeNull,
  ofCustomer,
  proofFields,
  SCA_FACTORS,
  SCA_TAG,
  ScaFactor,
  WebAuthnJson,
} from '../contract.ts';

const ScaLoginStartRequest = named(
  'ScaLoginStartRequest',
  Type.Object({ factor: ScaFactor }, { description: 'What the customer wants to log in with.' }),
);

const ScaLoginStart = named(
  'ScaLoginStart',
  Type.Object(
    {
      factor: ScaFactor,
      challengeId: maybeNull(Type.String({ description: 'Goes back with the code from the SMS.' })),
      expiresAt: maybeNull(Timestamp),
      passkeyOptions: maybeNull(WebAuthnJson),
      allowedOrigins: maybeNull(Type.Array(Type.String())),
      relyingPartyId: maybeNull(Type.String()),
    },
    { description: 'What the customer answers. A code of an app needs nothing to answer.' },
  ),
);

const ScaLoginCompleteRequest = named(
  'ScaLoginCompleteRequest',
  Type.Object(
    {
      factor: ScaFactor,
      endUserIpAddress: Type.String({
        maxLength: 45,
        description: 'From where the customer logs in, IPv4 or IPv6.',
      }),
      challengeId: maybeNull(Type.String({ description: 'Of the code that was sent by SMS.' })),
      ...proofFields,
    },
    { description: 'A code, or what a passkey signed together with its origin.' },
  ),
);

const ScaLoginComplete = named(
  'ScaLoginComplete',
  Type.Object(
    {
      status: oneOf(['SUCCESS']),
      sessionExpiresAt: maybeNull(Timestamp),
    },
    { description: 'Until when the customer may move money that is regulated.' },
  ),
);

const SECURITY_EVENTS = ['RESET_PASSWORD_COMPLETED', 'FAILED_LOGIN_ATTEMPT'] as const;

const RecordSecurityEventRequest = named(
  'RecordSecurityEventRequest',
  Type.Object(
    { eventType: oneOf(SECURITY_EVENTS) },
    { description: 'What happened where the customer signs in.' },
  ),
);

const RecordSecurityEventResponse = named(
  'RecordSecurityEventResponse',
  Type.Object(
    {
      eventType: oneOf(SECURITY_EVENTS),
      suspended: Type.Boolean({ description: 'Shut out until its password was reset.' }),
      lockedUntil: Type.Optional(nullable(Timestamp)),
      failedAttempts: Type.Integer({ description: 'Since the password was last reset.' }),
    },
    { description: 'Where the customer stands after it.' },
  ),
);

const COMMON = {
  method: 'POST',
  tag: SCA_TAG,
  permission: 'MANAGE',
  query: ofCustomer,
} as const;

export const startScaLogin = operation({
  ...COMMON,
  operationId: 'startScaLogin',
  path: '/sca/login/start',
  summary: 'Start a login with a second factor',
  description:
    'A code by SMS works for five minutes, a passkey may sign for ten; a new start takes the ' +
    'place of the one before. A code of an app can be handed in at any time. In the sandbox ' +
    'every code is 123456.',
  body: ScaLoginStartRequest,
  replies: { 200: ScaLoginStart },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  // What a passkey is asked with names the one that the customer has. Replies about quotes may name it as
  // well and are not sealed: that would cost every payment, and without the device the name opens nothing.
  sealed: true,
});

/** What the schema of a login does not say: which proof goes with which factor. */
function completeErrors(body: unknown): FieldError[] {
  const { factor, challengeId, ...proof } = (body ?? {}) as Record<string, unknown>;
  const errors = addressErrors(body);
  const known = SCA_FACTORS.find((each) => each === factor);
  if (!known) return errors;
  const hasChallenge = typeof challengeId === 'string' && challengeId !== '';
  if (known === 'SMS_OTP' && !hasChallenge) {
    errors.push({ field: 'challengeId', message: 'is required: the one that the code came with' });
  }
  if (known === 'TOTP' && hasChallenge) {
    errors.push({ field: 'challengeId', message: 'must not be given: TOTP has no challenge' });
  }
  return [...errors, ...proofErrors(known, proof as Proof)];
}

export const completeScaLogin = operation({
  ...COMMON,
  operationId: 'completeScaLogin',
  path: '/sca/login/complete',
  summary: 'Log a customer in',
  description:
    'The session lasts 180 days; a new login takes the place of the one before. A wrong proof ' +
    'counts as a failed attempt: the fifth shuts the customer out for 15 minutes, the sixth ' +
    'for 30, the seventh for an hour, the eighth for a day, and the ninth until its password ' +
    'was reset. Success takes none away. Five wrong answers end a challenge.',
  body: ScaLoginCompleteRequest,
  bodyRules: completeErrors,
  replies: { 200: ScaLoginComplete },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
});

export const recordSecurityEvent = operation({
  ...COMMON,
  operationId: 'recordSecurityEvent',
  path: '/sca/record-event',
  summary: 'Tell of a failed login or a reset password',
  description:
    'A failed login counts like a wrong second factor; while the customer is shut out it is ' +
    '423 and not counted. A password that was reset takes all failures, lock and suspension ' +
    'away and ends the session.',
  body: RecordSecurityEventRequest,
  replies: { 200: RecordSecurityEventResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
});
