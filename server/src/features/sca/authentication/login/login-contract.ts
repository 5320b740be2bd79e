// Contracts for the login of a customer with a second factor, and for security events that the
// platform reports from its own login.
import { Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import type { FieldError } from '../../../../kernel/fault.ts';
import { named, nullable, oneOf, Timestamp } from '../../../../kernel/schema.ts';
import { type Proof, proofErrors } from '../challenges.ts';
import {
  addressErrors,
  customerParams,
  maybeNull,
  proofFields,
  SCA_FACTORS,
  SCA_TAG,
  ScaFactor,
  WebAuthnJson,
} from '../contract.ts';

const ScaLoginStartRequest = named(
  'ScaLoginStartRequest',
  Type.Object({ factor: ScaFactor }, { description: 'Factor for the login.' }),
);

const ScaLoginStart = named(
  'ScaLoginStart',
  Type.Object(
    {
      factor: ScaFactor,
      challengeId: maybeNull(
        Type.String({
          description: 'Challenge ID to send with the code. Present only for SMS_OTP.',
        }),
      ),
      expiresAt: maybeNull({
        ...Timestamp,
        description: 'Time at which the challenge expires. Present only for SMS_OTP.',
      }),
      passkeyOptions: maybeNull({
        ...WebAuthnJson,
        description:
          'WebAuthn request options (PublicKeyCredentialRequestOptionsJSON). Present ' +
          'only for PASSKEY.',
      }),
      allowedOrigins: maybeNull(
        Type.Array(Type.String(), {
          description: 'Origins at which the passkey can be used. Present only for PASSKEY.',
        }),
      ),
      relyingPartyId: maybeNull(
        Type.String({ description: 'WebAuthn relying party ID. Present only for PASSKEY.' }),
      ),
    },
    { description: 'Challenge of a login. TOTP has no challenge.' },
  ),
);

const ScaLoginCompleteRequest = named(
  'ScaLoginCompleteRequest',
  Type.Object(
    {
      factor: ScaFactor,
      endUserIpAddress: Type.String({
        maxLength: 45,
        description: 'IP address of the customer, IPv4 or IPv6.',
      }),
      challengeId: maybeNull(
        Type.String({
          description:
            'Challenge ID from `startScaLogin`. Required for SMS_OTP, absent for TOTP, ' +
            'optional for PASSKEY.',
        }),
      ),
      ...proofFields,
    },
    { description: 'Proof for the login: a code, or a passkey assertion with its origin.' },
  ),
);

const ScaLoginComplete = named(
  'ScaLoginComplete',
  Type.Object(
    {
      status: oneOf(['SUCCESS'], { description: 'Always SUCCESS.' }),
      sessionExpiresAt: maybeNull({
        ...Timestamp,
        description: 'Time at which the session expires.',
      }),
    },
    { description: 'Result of a successful login.' },
  ),
);

const SECURITY_EVENTS = ['RESET_PASSWORD_COMPLETED', 'FAILED_LOGIN_ATTEMPT'] as const;

const EVENT_TYPES =
  'FAILED_LOGIN_ATTEMPT: a failed login at the platform. ' +
  'RESET_PASSWORD_COMPLETED: the customer has reset the password.';

const RecordSecurityEventRequest = named(
  'RecordSecurityEventRequest',
  Type.Object(
    { eventType: oneOf(SECURITY_EVENTS, { description: EVENT_TYPES }) },
    { description: 'Security event at the login of the platform.' },
  ),
);

const RecordSecurityEventResponse = named(
  'RecordSecurityEventResponse',
  Type.Object(
    {
      eventType: oneOf(SECURITY_EVENTS, { description: EVENT_TYPES }),
      suspended: Type.Boolean({
        description:
          'Whether the customer is suspended until a password reset or an unlock by the operator.',
      }),
      lockedUntil: Type.Optional(
        nullable({
          ...Timestamp,
          description:
            'Time at which the lockout expires. Null if the customer is not locked or is suspended.',
        }),
      ),
      failedAttempts: Type.Integer({
        description:
          'Number of failed attempts since the last password reset or unlock by the operator.',
      }),
    },
    { description: 'Lockout state of the customer.' },
  ),
);

const COMMON_FIELDS = {
  method: 'POST',
  tag: SCA_TAG,
  permission: 'MANAGE',
  query: customerParams,
} as const;

export const startScaLogin = operation({
  ...COMMON_FIELDS,
  operationId: 'startScaLogin',
  path: '/sca/login/start',
  summary: 'Start an SCA login',
  description:
    'Starts a login with an enrolled factor. SMS_OTP sends a code that is valid ' +
    'for 5 minutes. In production, a customer receives at most ten SMS codes for ' +
    'authentication in 15 minutes. PASSKEY returns options that are valid for 10 minutes. ' +
    'TOTP requires no start. A new start replaces the previous one. Continue with ' +
    '`completeScaLogin`.',
  body: ScaLoginStartRequest,
  replies: { 200: ScaLoginStart },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  // Sealed, because the passkey options contain the credential ID of the customer. Replies with
  // quotes contain the ID as well and are not sealed, because of the cost for every payment. The ID
  // is useless without the device.
  sealed: true,
});

/** Validates the combination of factor, challenge and proof. */
function completeErrors(body: unknown): FieldError[] {
  const { factor, challengeId, ...proof } = (body ?? {}) as Record<string, unknown>;
  const errors = addressErrors(body);
  const factorType = SCA_FACTORS.find((each) => each === factor);
  if (!factorType) return errors;
  const hasChallenge = typeof challengeId === 'string' && challengeId !== '';
  if (factorType === 'SMS_OTP' && !hasChallenge) {
    errors.push({ field: 'challengeId', message: 'is required for SMS_OTP' });
  }
  if (factorType === 'TOTP' && hasChallenge) {
    errors.push({ field: 'challengeId', message: 'must be absent, because TOTP has no challenge' });
  }
  return [...errors, ...proofErrors(factorType, proof as Proof)];
}

export const completeScaLogin = operation({
  ...COMMON_FIELDS,
  operationId: 'completeScaLogin',
  path: '/sca/login/complete',
  summary: 'Complete an SCA login',
  description:
    'Submits the proof for a login and opens a session of 180 days, which ' +
    'replaces the previous session. Payments of the customer in EUR or USDC ' +
    'require a session. A wrong proof counts as a failed attempt. The fifth locks the ' +
    'customer for 15 minutes, the sixth for 30 minutes, the seventh for 1 hour, ' +
    'and the eighth for 1 day. The ninth suspends the customer until a password ' +
    'reset or an unlock by the operator. A success does not reduce the count. Five ' +
    'wrong proofs close a challenge.',
  body: ScaLoginCompleteRequest,
  bodyRules: completeErrors,
  replies: { 200: ScaLoginComplete },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
});

export const recordSecurityEvent = operation({
  ...COMMON_FIELDS,
  operationId: 'recordSecurityEvent',
  path: '/sca/record-event',
  summary: 'Record a security event',
  description:
    'Reports a failed login or a password reset at the platform. A failed login ' +
    'counts as a failed attempt. A failed login is rejected and not counted ' +
    'while the customer is locked. A password reset clears the failed attempts, the lockout ' +
    'and the suspension, and revokes the session. Continue with `startScaLogin`.',
  body: RecordSecurityEventRequest,
  replies: { 200: RecordSecurityEventResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'CUSTOMER_DELETED', 'ACCOUNT_LOCKED'],
});
