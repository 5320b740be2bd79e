// WebAuthn JSON of passkeys as SCA factors. The shared WebAuthn module verifies them, with two
// additional requirements: user verification, and the passkey site of the platform. In the sandbox,
// only the challenge and the origin are verified, so an authenticator can be simulated.
import {
  type Assertion,
  type Attestation,
  checkAssertion,
  checkAttestation,
  type Passkey,
  readClientFields,
} from '../../../../kernel/crypto/webauthn.ts';
import { Fault, type FieldError, invalid } from '../../../../kernel/fault.ts';
import { constantTimeEqual } from '../../../../runtime/security/crypto.ts';
import type { PasskeySite, PlatformRow } from '../../../tenancy/platform/index.ts';

/** Stored data of a passkey. */
export interface PasskeyFacts extends Passkey {
  transports: string[];
  name: string;
}

/** Default site of sandbox platforms. */
const SANDBOX_SITE: PasskeySite = { rpId: 'localhost', origins: ['http://localhost:3000'] };

const TIMEOUT_MS = 10 * 60_000;
const DISPLAY_NAME = 'Passkey';

/** The passkey site of the platform. Throws NOT_IMPLEMENTED if a production platform has none. */
export function siteOf(platform: PlatformRow): PasskeySite {
  if (platform.passkey_site) return platform.passkey_site;
  if (platform.environment === 'sandbox') return SANDBOX_SITE;
  throw new Fault(
    'NOT_IMPLEMENTED',
    'No passkey site is configured for this platform. The operator can configure one.',
  );
}

/**
 * PublicKeyCredentialCreationOptionsJSON. `user.id` is opaque and not displayed by authenticators.
 */
export const creationOptions = (
  site: PasskeySite,
  challenge: string,
  { rpName, user }: { rpName: string; user: { id: string; name: string } },
) => ({
  rp: { id: site.rpId, name: rpName },
  user: {
    id: Buffer.from(user.id).toString('base64url'),
    name: user.name,
    displayName: user.name,
  },
  challenge,
  pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: 'public-key', alg })),
  timeout: TIMEOUT_MS,
  // A customer has at most one passkey, so none has to be excluded.
  excludeCredentials: [],
  authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
  attestation: 'none',
});

/** PublicKeyCredentialRequestOptionsJSON. */
export const requestOptions = (
  site: PasskeySite,
  challenge: string,
  passkey: PasskeyFacts | undefined,
) => ({
  challenge,
  timeout: TIMEOUT_MS,
  rpId: site.rpId,
  allowCredentials: passkey
    ? [
        {
          type: 'public-key',
          id: passkey.credentialId,
          ...(passkey.transports.length ? { transports: passkey.transports } : {}),
        },
      ]
    : [],
  userVerification: 'required',
});

/** A WebAuthn ceremony: site, challenge and response. */
interface Ceremony {
  site: PasskeySite;
  /** In base64url, as in the client data. */
  challenge: string;
  /** Origin as reported by the client. */
  origin: string;
  /** The credential JSON. */
  json: object;
  /** Request field of the credential JSON, for error messages. */
  field: string;
  isSimulationAllowed: boolean;
}

const MAX_TEXT_LENGTH = 65_536;

/** Reads strings of the JSON by path. Throws INVALID_INPUT with all invalid fields. */
function textsOf<K extends string>(
  { json, field }: Ceremony,
  paths: Readonly<Record<K, string>>,
): Record<K, string> {
  const errors: FieldError[] = [];
  const values = Object.entries<string>(paths).map(([name, path]) => {
    const value = path
      .split('.')
      .reduce<unknown>(
        (parent, part) => (parent as Record<string, unknown> | undefined)?.[part],
        json,
      );
    const isText = typeof value === 'string' && value !== '' && value.length <= MAX_TEXT_LENGTH;
    const message = `must be a base64url string of 1 to ${MAX_TEXT_LENGTH} characters`;
    if (!isText) errors.push({ field: `${field}.${path}`, message });
    return [name, value];
  });
  if (errors.length) throw invalid(errors);
  return Object.fromEntries(values) as Record<K, string>;
}

const ATTESTATION_PATHS = {
  credentialId: 'id',
  clientDataJson: 'response.clientDataJSON',
  attestationObject: 'response.attestationObject',
} as const satisfies Record<keyof Attestation, string>;

const ASSERTION_PATHS = {
  credentialId: 'id',
  clientDataJson: 'response.clientDataJSON',
  authenticatorData: 'response.authenticatorData',
  signature: 'response.signature',
} as const satisfies Record<keyof Assertion, string>;

const SIMULATION_PATHS = { credentialId: 'id', clientDataJson: 'response.clientDataJSON' } as const;

/** Maps errors to the field names of the request. */
const mapErrors = (
  { field }: Ceremony,
  paths: Readonly<Record<string, string>>,
  errors: readonly FieldError[],
): FieldError[] =>
  errors.map((error) => ({ ...error, field: `${field}.${paths[error.field] ?? error.field}` }));

const hasAllowedOrigin = ({ site, origin }: Ceremony) => site.origins.includes(origin);

/** Requirements in addition to the requirements of every passkey. */
const requirementsOf = ({ site, origin }: Ceremony) => ({
  userVerified: true,
  rpId: site.rpId,
  origins: [origin],
});

/**
 * Reads a simulated ceremony, which is valid with the challenge and the origin of the ceremony.
 * Throws INVALID_INPUT for an invalid form.
 */
function readSimulation(ceremony: Ceremony): { credentialId: string; isValid: boolean } {
  const { credentialId, clientDataJson } = textsOf(ceremony, SIMULATION_PATHS);
  const data = readClientFields(clientDataJson);
  if (!data) {
    const message = 'must be WebAuthn client data in base64url';
    throw invalid(mapErrors(ceremony, SIMULATION_PATHS, [{ field: 'clientDataJson', message }]));
  }
  const { challenge, origin = ceremony.origin } = data;
  const isSameChallenge =
    typeof challenge === 'string' && constantTimeEqual(challenge, ceremony.challenge);
  return { credentialId, isValid: isSameChallenge && origin === ceremony.origin };
}

const transportsOf = (json: object): string[] => {
  const { response } = json as { response?: { transports?: unknown } };
  const transports = Array.isArray(response?.transports) ? response.transports : [];
  return transports
    .filter((each) => typeof each === 'string' && /^[a-z-]{1,20}$/.test(each))
    .slice(0, 9);
};

const ORIGIN_NOT_ALLOWED: FieldError = {
  field: 'origin',
  message: 'must be an allowed passkey origin of this platform',
};

/**
 * The registered passkey, or the errors of the registration. Throws INVALID_INPUT for an invalid
 * form.
 */
export function readRegistration(
  ceremony: Ceremony,
): { facts: PasskeyFacts; signCount: number } | { errors: FieldError[] } {
  if (!hasAllowedOrigin(ceremony)) return { errors: [ORIGIN_NOT_ALLOWED] };
  const registeredFields = { transports: transportsOf(ceremony.json), name: DISPLAY_NAME };
  if (ceremony.isSimulationAllowed) {
    const { credentialId, isValid } = readSimulation(ceremony);
    const message = 'belongs to another challenge or origin';
    if (!isValid)
      return {
        errors: mapErrors(ceremony, SIMULATION_PATHS, [{ field: 'clientDataJson', message }]),
      };
    const passkey = { credentialId, publicKey: '', rpIdHash: '', origin: ceremony.origin };
    return { facts: { ...passkey, ...registeredFields }, signCount: 0 };
  }
  const attestation = textsOf(ceremony, ATTESTATION_PATHS);
  const checkedAttestation = checkAttestation(
    attestation,
    ceremony.challenge,
    requirementsOf(ceremony),
  );
  if ('errors' in checkedAttestation)
    return { errors: mapErrors(ceremony, ATTESTATION_PATHS, checkedAttestation.errors) };
  return {
    facts: { ...checkedAttestation.passkey, ...registeredFields },
    signCount: checkedAttestation.signCount,
  };
}

/**
 * The counter after a valid assertion, or undefined if the assertion is not valid. Throws
 * INVALID_INPUT for an invalid form and for an origin that is not allowed.
 */
export function readAssertion(
  ceremony: Ceremony,
  { facts, signCount }: { facts: PasskeyFacts; signCount: number },
): number | undefined {
  if (!hasAllowedOrigin(ceremony)) throw invalid([ORIGIN_NOT_ALLOWED]);
  if (ceremony.isSimulationAllowed) return readSimulation(ceremony).isValid ? signCount : undefined;
  const assertion = textsOf(ceremony, ASSERTION_PATHS);
  const { challenge } = ceremony;
  const expectation = {
    passkey: facts,
    signCount,
    challenge,
    requirements: requirementsOf(ceremony),
  };
  const checkedAssertion = checkAssertion(assertion, expectation);
  if ('errors' in checkedAssertion)
    throw invalid(mapErrors(ceremony, ASSERTION_PATHS, checkedAssertion.errors));
  return 'failed' in checkedAssertion ? undefined : checkedAssertion.signCount;
}
