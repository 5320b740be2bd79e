// Schemas shared by the operations of strong customer authentication: factors, challenges and proofs.
import { type TSchema, Type } from '@sinclair/typebox';
import type { FieldError } from '../../../kernel/fault.ts';
import { isIpAddress } from '../../../kernel/net/endpoint.ts';
import { named, nullable, oneOf, Timestamp, withDescription } from '../../../kernel/schema.ts';

export const SCA_TAG = 'Strong Customer Authentication';

export const SCA_FACTORS = ['SMS_OTP', 'TOTP', 'PASSKEY'] as const;
export type ScaFactorName = (typeof SCA_FACTORS)[number];

/** Steps of a payment to authorize. The API documents that values can be added. */
const PURPOSES = ['CURRENCY_CONVERSION', 'PAYOUT', 'TRANSFER'] as const;
export type Purpose = (typeof PURPOSES)[number];

export const ScaFactor = named(
  'ScaFactor',
  oneOf(SCA_FACTORS, {
    description:
      'SMS_OTP: one-time code by SMS. TOTP: time-based code from an authenticator ' +
      'app. PASSKEY: WebAuthn passkey.',
  }),
);

/** WebAuthn JSON, passed unchanged to or from the browser. */
export const WebAuthnJson = Type.Object({}, { additionalProperties: true });

export const ScaChallenge = named(
  'ScaChallenge',
  Type.Object(
    {
      id: Type.String({ description: 'ID of the challenge, `ScaChallenge:<uuid>`.' }),
      expiresAt: withDescription(
        Timestamp,
        'Time at which the challenge expires: after 5 minutes for SMS_OTP, after 10 minutes ' +
          'for other factors. The challenge of a REALTIME_FUNDING quote expires with the quote ' +
          'at the latest.',
      ),
      factor: withDescription(ScaFactor, 'Factor that completes the challenge.'),
      availableFactors: Type.Array(ScaFactor, {
        description: 'Factors of the customer that are accepted for this action.',
      }),
      purpose: Type.Optional(
        nullable(
          Type.String({
            description:
              'Step of the payment to authorize: CURRENCY_CONVERSION, PAYOUT or TRANSFER. ' +
              'Further values can be added. Absent if the challenge is not for a payment.',
          }),
        ),
      ),
      passkeyAssertionOptions: Type.Optional(
        nullable({
          ...WebAuthnJson,
          description:
            'WebAuthn request options (PublicKeyCredentialRequestOptionsJSON) for the ' +
            'browser. Present only for PASSKEY.',
        }),
      ),
      passkeyAllowedOrigins: Type.Optional(
        nullable(
          Type.Array(Type.String(), {
            description:
              'Origins at which the passkey can be used. Absent for payments and for other ' +
              'factors.',
          }),
        ),
      ),
    },
    { description: 'Challenge for strong customer authentication.' },
  ),
);

/** An optional and nullable field. */
export const maybeNull = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));

/** Fields of a proof in request bodies. */
export const proofFields = {
  code: maybeNull(
    Type.String({
      maxLength: 64,
      description:
        'Code from the SMS or the authenticator app. Required for SMS_OTP and TOTP, ' +
        'absent for PASSKEY.',
    }),
  ),
  passkeyAssertion: maybeNull({
    ...WebAuthnJson,
    description:
      'WebAuthn assertion (AuthenticationResponseJSON) from the browser. Required ' +
      'for PASSKEY, absent for other factors.',
  }),
  origin: maybeNull(
    Type.String({
      maxLength: 300,
      description:
        'Origin of the page that requested the assertion. Required with `passkeyAssertion`.',
    }),
  ),
};

export const ScaAuthorization = named(
  'ScaAuthorization',
  Type.Object(
    {
      ...proofFields,
      endUserIpAddress: maybeNull(
        Type.String({ maxLength: 45, description: 'IP address of the customer, IPv4 or IPv6.' }),
      ),
    },
    { description: 'Proof for a challenge: a code or a passkey assertion.' },
  ),
);

/** Validates the IP address, which is stored as evidence. */
export const addressErrors = (body: unknown): FieldError[] => {
  const { endUserIpAddress: address } = (body ?? {}) as Record<string, unknown>;
  if (typeof address !== 'string' || isIpAddress(address)) return [];
  return [{ field: 'endUserIpAddress', message: 'must be an IPv4 or IPv6 address' }];
};

/** Query of the `/sca` operations, which concern one customer. */
export const customerParams = Type.Object({
  customerId: Type.String({ description: 'ID of the customer.' }),
});
