// What all operations of strong customer authentication share: factors, the challenge that a customer is
// asked to answer, and the proof it answers with.
import { type TSchema, Type } from '@sinclair/typebox';
import type { FieldError } from '../../../kernel/fault.ts';
import { isIpAddress } from '../../../kernel/net/endpoint.ts';
import { named, nullable, oneOf, Timestamp } from '../../../kernel/schema.ts';

export const SCA_TAG = 'Strong Customer Authentication';

export const SCA_FACTORS = ['SMS_OTP', 'TOTP', 'PASSKEY'] as const;
export type ScaFactorName = (typeof SCA_FACTORS)[number];

/** What a step of a payment authorises. Clients are told that more may come. */
const PURPOSES = ['CURRENCY_CONVERSION', 'PAYOUT', 'TRANSFER'] as const;
export type Purpose = (typeof PURPOSES)[number];

export const ScaFactor = named('ScaFactor', oneOf(SCA_FACTORS));

/** What WebAuthn has as JSON: passed on to the browser, or back from it, as it is. */
export const WebAuthnJson = Type.Object({}, { additionalProperties: true });

export const ScaChallenge = named(
  'ScaChallenge',
  Type.Object(
    {
      id: Type.String({ description: 'ScaChallenge:<uuid>' }),
      expiresAt: Timestamp,
      factor: ScaFactor,
      availableFactors: Type.Array(ScaFactor),
      purpose: Type.Optional(nullable(Type.String())),
      passkeyAssertionOptions: Type.Optional(nullable(WebAuthnJson)),
      passkeyAllowedOrigins: Type.Optional(nullable(Type.Array(Type.String()))),
    },
    { description: "The customer's second factor that something waits for." },
  ),
);

/** A field that may be missing or null. */
export const maybeNull = <T extends TSchema>(schema: T) => Type.Optional(nullable(schema));

/** The fields of a proof, for bodies that carry one. */
export const proofFields = {
  code: maybeNull(
    Type.String({ maxLength: 64, description: 'The code as it was received or is shown.' }),
  ),
  passkeyAssertion: maybeNull(WebAuthnJson),
  origin: maybeNull(
    Type.String({ maxLength: 300, description: 'Where the passkey was asked; with an assertion.' }),
  ),
};

export const ScaAuthorization = named(
  'ScaAuthorization',
  Type.Object(
    {
      ...proofFields,
      endUserIpAddress: maybeNull(
        Type.String({ maxLength: 45, description: 'From where the customer authorised it.' }),
      ),
    },
    { description: 'A code, or what a passkey signed.' },
  ),
);

/** What is wrong with where the customer is said to be: it is kept as evidence, so it has to be a place. */
export const addressErrors = (body: unknown): FieldError[] => {
  const { endUserIpAddress: given } = (body ?? {}) as Record<string, unknown>;
  if (typeof given !== 'string' || isIpAddress(given)) return [];
  return [{ field: 'endUserIpAddress', message: 'is not an IPv4 or IPv6 address' }];
};

/** Whose factors: `/sca` operations are about one customer. */
export const ofCustomer = Type.Object({
  customerId: Type.String({ description: 'Id of the customer.' }),
});
