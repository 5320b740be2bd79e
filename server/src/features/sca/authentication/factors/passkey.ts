// Passkeys as browsers speak of them: the JSON of WebAuthn, out and in. What makes one good is checked where
// passkeys of wallets are, with what a second factor demands beyond that: a device that knew its user, at
// the site of the platform. In the sandbox a page without a device can play one.
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

/** What is kept of a passkey. */
export interface PasskeyFacts extends Passkey {
  transports: string[];
  name: string;
}

/** The page of a developer, where a sandbox platform names no other. */
const SANDBOX_SITE: PasskeySite = { rpId: 'localhost', origins: ['http://localhost:3000'] };

const TIMEOUT_MS = 10 * 60_000;
const NAME = 'Passkey';

/** Where the platform's app uses passkeys; NOT_IMPLEMENTED until somebody has said so. */
export function siteOf(platform: PlatformRow): PasskeySite {
  if (platform.passkey_site) return platform.passkey_site;
  if (platform.environment === 'sandbox') return SANDBOX_SITE;
  throw new Fault('NOT_IMPLEMENTED', 'No passkey site is configured for this platform.');
}

/** PublicKeyCredentialCreationOptionsJSON. `user.id` is opaque, as devices show it to nobody. */
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
  // A customer has one passkey, so that there is none to leave out when another is made.
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

/** A ceremony: what was asked, where it may have been, and what came back. */
interface Ceremony {
  site: PasskeySite;
  /** base64url, as it stands in client data. */
  challenge: string;
  /** Where the client says that it was. */
  origin: string;
  /** The JSON of the credential, and the field of the request that it came in. */
  json: object;
  field: string;
  lenient: boolean;
}

const MAX_TEXT = 65_536;

/** Texts of the JSON by where they stand; throws 400 naming those that are missing. */
function textsOf<K extends string>(
  { json, field }: Ceremony,
  paths: Readonly<Record<K, string>>,
): Record<K, string> {
  const errors: FieldError[] = [];
  const found = Object.entries<string>(paths).map(([name, path]) => {
    const value = path
      .split('.')
      .reduce<unknown>((at, part) => (at as Record<string, unknown> | undefined)?.[part], json);
    const isText = typeof value === 'string' && value !== '' && value.length <= MAX_TEXT;
    if (!isText) errors.push({ field: `${field}.${path}`, message: 'must be a base64url string' });
    return [name, value];
  });
  if (errors.length) throw invalid(errors);
  return Object.fromEntries(found) as Record<K, string>;
}

const CREATED = {
  credentialId: 'id',
  clientDataJson: 'response.clientDataJSON',
  attestationObject: 'response.attestationObject',
} as const satisfies Record<keyof Attestation, string>;

const ASSERTED = {
  credentialId: 'id',
  clientDataJson: 'response.clientDataJSON',
  authenticatorData: 'response.authenticatorData',
  signature: 'response.signature',
} as const satisfies Record<keyof Assertion, string>;

const PLAYED = { credentialId: 'id', clientDataJson: 'response.clientDataJSON' } as const;

/** Complaints about what was read, at the fields that the client knows. */
const blamed = (
  { field }: Ceremony,
  paths: Readonly<Record<string, string>>,
  errors: readonly FieldError[],
): FieldError[] =>
  errors.map((error) => ({ ...error, field: `${field}.${paths[error.field] ?? error.field}` }));

const isAllowed = ({ site, origin }: Ceremony) => site.origins.includes(origin);

/** What a ceremony must have been beyond what holds of every passkey. */
const demandsOf = ({ site, origin }: Ceremony) => ({
  userVerified: true,
  rpId: site.rpId,
  origins: [origin],
});

/**
 * A ceremony that was only played: whether it echoes the challenge, and names no other origin. Throws 400
 * where it cannot be read.
 */
function played(ceremony: Ceremony): { credentialId: string; holds: boolean } {
  const { credentialId, clientDataJson } = textsOf(ceremony, PLAYED);
  const data = readClientFields(clientDataJson);
  if (!data) {
    const message = 'must be WebAuthn client data in base64url';
    throw invalid(blamed(ceremony, PLAYED, [{ field: 'clientDataJson', message }]));
  }
  const { challenge, origin = ceremony.origin } = data;
  const echoes = typeof challenge === 'string' && constantTimeEqual(challenge, ceremony.challenge);
  return { credentialId, holds: echoes && origin === ceremony.origin };
}

const transportsOf = (json: object): string[] => {
  const { response } = json as { response?: { transports?: unknown } };
  const given = Array.isArray(response?.transports) ? response.transports : [];
  return given
    .filter((each) => typeof each === 'string' && /^[a-z-]{1,20}$/.test(each))
    .slice(0, 9);
};

const NOT_ALLOWED: FieldError = {
  field: 'origin',
  message: 'must be an allowed passkey origin of this platform',
};

/** What was registered, or what stands against it. */
export function readRegistration(
  ceremony: Ceremony,
): { facts: PasskeyFacts; signCount: number } | { errors: FieldError[] } {
  if (!isAllowed(ceremony)) return { errors: [NOT_ALLOWED] };
  const kept = { transports: transportsOf(ceremony.json), name: NAME };
  if (ceremony.lenient) {
    const { credentialId, holds } = played(ceremony);
    const message = 'belongs to another challenge or origin';
    if (!holds) return { errors: blamed(ceremony, PLAYED, [{ field: 'clientDataJson', message }]) };
    const passkey = { credentialId, publicKey: '', rpIdHash: '', origin: ceremony.origin };
    return { facts: { ...passkey, ...kept }, signCount: 0 };
  }
  const attestation = textsOf(ceremony, CREATED);
  const checked = checkAttestation(attestation, ceremony.challenge, demandsOf(ceremony));
  if ('errors' in checked) return { errors: blamed(ceremony, CREATED, checked.errors) };
  return { facts: { ...checked.passkey, ...kept }, signCount: checked.signCount };
}

/**
 * The counter after an assertion, or undefined where the assertion does not hold. Throws 400 for what cannot
 * be read.
 */
export function readAssertion(
  ceremony: Ceremony,
  { facts, signCount }: { facts: PasskeyFacts; signCount: number },
): number | undefined {
  if (!isAllowed(ceremony)) throw invalid([NOT_ALLOWED]);
  if (ceremony.lenient) return played(ceremony).holds ? signCount : undefined;
  const assertion = textsOf(ceremony, ASSERTED);
  const { challenge } = ceremony;
  const asked = { passkey: facts, signCount, challenge, demands: demandsOf(ceremony) };
  const checked = checkAssertion(assertion, asked);
  if ('errors' in checked) throw invalid(blamed(ceremony, ASSERTED, checked.errors));
  return 'failed' in checked ? undefined : checked.signCount;
}
