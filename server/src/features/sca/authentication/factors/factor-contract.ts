// Contracts for listing, enrolling and removing authentication factors.
import { type TSchema, Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, text, variant } from '../../../../kernel/schema.ts';
import { customerParams, SCA_TAG, ScaFactor, WebAuthnJson } from '../contract.ts';

const object = <P extends Record<string, TSchema>>(
  name: string,
  description: string,
  properties: P,
) => named(name, Type.Object(properties, { description }));

const ScaFactorView = object('ScaFactorView', 'Authentication factor of a customer.', {
  factor: ScaFactor,
  credentialId: Type.Optional(
    text('ID of the passkey for `deleteScaFactor`. Absent for other factors.'),
  ),
  name: Type.Optional(text('Display name of the passkey. Absent for other factors.')),
});

const ScaFactorList = object('ScaFactorList', 'Authentication factors of a customer.', {
  factors: Type.Array(ScaFactorView, { description: 'Enrolled factors.' }),
});

const TYPE_OF_FACTOR = { tagDescription: 'Type of the factor.' };

const EnrollRequest = named(
  'ScaFactorEnrollRequestOneOf',
  variant(
    'type',
    {
      TOTP: object('TotpFactorEnrollRequest', 'Enrollment of an authenticator app.', {}),
      PASSKEY: object('PasskeyFactorEnrollRequest', 'Enrollment of a passkey.', {}),
    },
    TYPE_OF_FACTOR,
  ),
);

const EnrollStart = named(
  'ScaFactorEnrollStartOneOf',
  variant(
    'type',
    {
      TOTP: object('TotpEnrollmentStart', 'Secret for the authenticator app of the customer.', {
        secret: text('Secret, 20 bytes in hexadecimal. Send it with `confirmScaFactorEnrollment`.'),
        secretBase32Encoded: text('Secret in Base32, for manual entry.'),
        totpUri: text('`otpauth` address with the secret, for a QR code.'),
      }),
      PASSKEY: object('PasskeyEnrollmentStart', 'Options for the browser of the customer.', {
        options: {
          ...WebAuthnJson,
          description: 'WebAuthn creation options (PublicKeyCredentialCreationOptionsJSON).',
        },
        allowedOrigins: Type.Array(Type.String(), {
          description: 'Origins at which the passkey can be created.',
        }),
        relyingPartyId: text('WebAuthn relying party ID.'),
      }),
    },
    TYPE_OF_FACTOR,
  ),
);

const ConfirmRequest = named(
  'ScaFactorConfirmRequestOneOf',
  variant(
    'type',
    {
      TOTP: object('TotpEnrollmentConfirmRequest', 'Confirmation of an authenticator app.', {
        secret: text('Secret that `startScaFactorEnrollment` returned.', { maxLength: 64 }),
        code: text('Current code of the authenticator app.', { maxLength: 64 }),
      }),
      PASSKEY: object('PasskeyEnrollmentConfirmRequest', 'Confirmation of a passkey.', {
        origin: text('Origin at which the passkey was created.', { maxLength: 300 }),
        credential: {
          ...WebAuthnJson,
          description: 'WebAuthn registration (RegistrationResponseJSON) from the browser.',
        },
      }),
    },
    TYPE_OF_FACTOR,
  ),
);

const ConfirmResponse = named(
  'ScaFactorConfirmResponseOneOf',
  variant(
    'type',
    {
      TOTP: object('TotpEnrollmentConfirmResponse', 'Recovery codes of the authenticator app.', {
        recoveryCodes: Type.Array(Type.String(), {
          description:
            'Ten recovery codes, returned only in this reply. Each code replaces a TOTP code ' +
            'once, at login.',
        }),
      }),
      PASSKEY: object('PasskeyEnrollmentConfirmResponse', 'The enrolled passkey.', {
        factor: ScaFactorView,
      }),
    },
    TYPE_OF_FACTOR,
  ),
);

const COMMON_FIELDS = { tag: SCA_TAG, query: customerParams } as const;

export const listScaFactors = operation({
  ...COMMON_FIELDS,
  operationId: 'listScaFactors',
  method: 'GET',
  path: '/sca/factors',
  summary: 'List authentication factors',
  description:
    'Returns the authentication factors of a customer. SMS_OTP is included when ' +
    'the phone number of the customer is verified. Add factors with ' +
    '`startScaFactorEnrollment`.',
  permission: 'VIEW',
  replies: { 200: ScaFactorList },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
});

export const startScaFactorEnrollment = operation({
  ...COMMON_FIELDS,
  operationId: 'startScaFactorEnrollment',
  method: 'POST',
  path: '/sca/factors',
  summary: 'Start a factor enrollment',
  description:
    'Starts the enrollment of an authenticator app or a passkey. Confirm the ' +
    'enrollment with `confirmScaFactorEnrollment` within 10 minutes and with at ' +
    'most four incorrect attempts. A new start replaces the pending enrollment. A ' +
    'customer has at most one app and one passkey. A confirmed app replaces the ' +
    'previous app. A second passkey is rejected.',
  permission: 'MANAGE',
  body: EnrollRequest,
  replies: { 200: EnrollStart },
  errors: [
    'CUSTOMER_NOT_FOUND',
    'PASSKEY_ALREADY_ENROLLED',
    'CONFLICT',
    'CUSTOMER_DELETED',
    'NOT_IMPLEMENTED',
  ],
  idempotency: 'none',
});

export const confirmScaFactorEnrollment = operation({
  ...COMMON_FIELDS,
  operationId: 'confirmScaFactorEnrollment',
  method: 'POST',
  path: '/sca/factors/confirm',
  summary: 'Confirm a factor enrollment',
  description:
    'Completes an enrollment from `startScaFactorEnrollment`. For an ' +
    'authenticator app, send the secret and a current code. The recovery codes ' +
    'are returned once. For a passkey, send the WebAuthn registration, which ' +
    'requires user verification. The customer can then log in with ' +
    '`startScaLogin`.',
  permission: 'MANAGE',
  body: ConfirmRequest,
  replies: { 200: ConfirmResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'PASSKEY_ALREADY_ENROLLED', 'CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  sealed: true,
});

export const deleteScaFactor = operation({
  ...COMMON_FIELDS,
  operationId: 'deleteScaFactor',
  method: 'DELETE',
  path: '/sca/factors/{credentialId}',
  summary: 'Remove a passkey',
  description:
    'Removes the passkey of a customer. Another passkey can then be enrolled with ' +
    '`startScaFactorEnrollment`. That operation also replaces an authenticator app. A lost ' +
    'factor is replaced with `startTwoFactorReset`.',
  permission: 'MANAGE',
  params: Type.Object({ credentialId: text('`credentialId` from `listScaFactors`.') }),
  replies: { 204: null },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});
