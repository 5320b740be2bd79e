// The operations on what a customer proves itself with: what it has, and enrolling and removing it.
import { type TSchema, Type } from '@sinclair/typebox';
import { operation } from '../../../../kernel/contract/operation.ts';
import { named, variant } from '../../../../kernel/schema.ts';
import { ofCustomer, SCA_TAG, ScaFactor, WebAuthnJson } from '../contract.ts';

const text = (description: string, more: object = {}) => Type.String({ description, ...more });
const object = <P extends Record<string, TSchema>>(name: string, description: string, of: P) =>
  named(name, Type.Object(of, { description }));

const ScaFactorView = object('ScaFactorView', 'Something a customer proves itself with.', {
  factor: ScaFactor,
  credentialId: Type.Optional(text('Of a passkey: its id here, by which it is removed.')),
  name: Type.Optional(text('What to call it.')),
});

const ScaFactorList = object('ScaFactorList', 'All that a customer proves itself with.', {
  factors: Type.Array(ScaFactorView),
});

const EnrollRequest = named(
  'ScaFactorEnrollRequestOneOf',
  variant('type', {
    TOTP: object('TotpFactorEnrollRequest', 'Codes that an app shows.', {}),
    PASSKEY: object('PasskeyFactorEnrollRequest', 'A passkey of a device.', {}),
  }),
);

const EnrollStart = named(
  'ScaFactorEnrollStartOneOf',
  variant('type', {
    TOTP: object('TotpEnrollmentStart', 'What the app of the customer takes.', {
      secret: text('20 bytes in hex. Goes back when the enrolment is confirmed.'),
      secretBase32Encoded: text('The same for typing it into an app.'),
      totpUri: text('The same for a QR code.'),
    }),
    PASSKEY: object('PasskeyEnrollmentStart', 'What the browser of the customer takes.', {
      options: WebAuthnJson,
      allowedOrigins: Type.Array(Type.String(), { description: 'Where a passkey may be made.' }),
      relyingPartyId: text('The site that it belongs to.'),
    }),
  }),
);

const ConfirmRequest = named(
  'ScaFactorConfirmRequestOneOf',
  variant('type', {
    TOTP: object('TotpEnrollmentConfirmRequest', 'That the app shows the right codes.', {
      secret: text('As it was given when the enrolment was started.', { maxLength: 64 }),
      code: text('What the app shows now.', { maxLength: 64 }),
    }),
    PASSKEY: object('PasskeyEnrollmentConfirmRequest', 'What the device registered.', {
      origin: text('Where the passkey was made.', { maxLength: 300 }),
      credential: WebAuthnJson,
    }),
  }),
);

const ConfirmResponse = named(
  'ScaFactorConfirmResponseOneOf',
  variant('type', {
    TOTP: object('TotpEnrollmentConfirmResponse', 'The codes for one who has lost the app.', {
      recoveryCodes: Type.Array(Type.String(), {
        description: 'Each logs the customer in once in place of a code of the app. Shown once.',
      }),
    }),
    PASSKEY: object('PasskeyEnrollmentConfirmResponse', 'The passkey, as it is listed.', {
      factor: ScaFactorView,
    }),
  }),
);

const COMMON = { tag: SCA_TAG, query: ofCustomer } as const;

export const listScaFactors = operation({
  ...COMMON,
  operationId: 'listScaFactors',
  method: 'GET',
  path: '/sca/factors',
  summary: 'List what a customer proves itself with',
  description: 'Codes by SMS are among them once the telephone number of the customer is verified.',
  permission: 'VIEW',
  replies: { 200: ScaFactorList },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
});

export const startScaFactorEnrollment = operation({
  ...COMMON,
  operationId: 'startScaFactorEnrollment',
  method: 'POST',
  path: '/sca/factors',
  summary: 'Start to enrol an app or a passkey',
  description:
    'Nothing is enrolled before it is confirmed, within ten minutes and with at most four wrong tries. ' +
    'Starting again takes the place of what was started before. A customer has one app and one ' +
    'passkey: another app takes the place of the first once it is confirmed, another passkey is refused.',
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
  ...COMMON,
  operationId: 'confirmScaFactorEnrollment',
  method: 'POST',
  path: '/sca/factors/confirm',
  summary: 'Show that the app or the passkey works',
  description:
    'The secret of an app goes back as it was given, with a code that the app shows. A passkey is checked ' +
    'as WebAuthn says, with its user verified. In the sandbox the code 123456 is right as well, and ' +
    'a credential needs no device: an `id`, and client data with the challenge.',
  permission: 'MANAGE',
  body: ConfirmRequest,
  replies: { 200: ConfirmResponse },
  errors: ['CUSTOMER_NOT_FOUND', 'PASSKEY_ALREADY_ENROLLED', 'CUSTOMER_DELETED', 'NOT_IMPLEMENTED'],
  sealed: true,
});

export const deleteScaFactor = operation({
  ...COMMON,
  operationId: 'deleteScaFactor',
  method: 'DELETE',
  path: '/sca/factors/{credentialId}',
  summary: 'Remove a passkey',
  description: 'Only passkeys are removed this way. Another can be enrolled at once.',
  permission: 'MANAGE',
  params: Type.Object({ credentialId: text('Id of the passkey, from the list of factors.') }),
  replies: { 204: null },
  errors: ['CUSTOMER_NOT_FOUND', 'CONFLICT', 'CUSTOMER_DELETED'],
  notFound: 'AUTH_METHOD_NOT_FOUND',
});
