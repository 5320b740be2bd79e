// Verification of the registration and the assertions of a passkey, as pure functions. The relying party is
// identified by the hash that the device signs and by the origin of the first ceremony. Both are strings,
// because the origin of an app contains no site. The attestation statement about the device's model is not
// checked.
import { createHash, createPublicKey, type JsonWebKey, type KeyObject, verify } from 'node:crypto';
import {
  decodeAttestationObject,
  decodeCredentialPublicKey,
  parseAuthenticatorData,
} from '@simplewebauthn/server/helpers';
import type { FieldError } from '../fault.ts';
import { readUrl } from '../net/url.ts';

/** Stored result of a registration. */
export interface Passkey {
  /** base64url without padding. */
  credentialId: string;
  /** COSE, base64url. */
  publicKey: string;
  /** Lowercase hex. */
  rpIdHash: string;
  origin: string;
  /**
   * The embedding page, if registered in a frame of another site. Empty if the client omits its origin.
   */
  framedBy?: string;
}

/** Strings in base64url, as returned by `toJSON` of the device. */
export interface Attestation {
  credentialId: string;
  clientDataJson: string;
  attestationObject: string;
}

export interface Assertion {
  credentialId: string;
  clientDataJson: string;
  authenticatorData: string;
  signature: string;
}

/** Additional requirements of a relying party with a known site. */
interface Requirements {
  /** The device must have verified its user, by biometrics or a PIN. */
  userVerified: boolean;
  rpId: string;
  /** Origins of valid ceremonies, regardless of the origin of the registration. */
  origins: readonly string[];
}

interface ClientData {
  type: unknown;
  challenge: unknown;
  origin: string;
  framedBy: string | undefined;
}

type Bytes = Uint8Array<ArrayBuffer>;

const BASE64URL = /^[A-Za-z0-9_-]+={0,2}$/;

const bytesOf = (text: string): Bytes | undefined =>
  BASE64URL.test(text) ? new Uint8Array(Buffer.from(text, 'base64url')) : undefined;

const base64url = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url');

/** The result of `read`. Undefined without bytes, or if `read` throws. */
function attempt<T>(bytes: Bytes | undefined, read: (bytes: Bytes) => T): T | undefined {
  if (!bytes) return undefined;
  try {
    return read(bytes);
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true });

/** The members of client data without validation. Undefined if parsing fails. */
export function readClientFields(text: string): Record<string, unknown> | undefined {
  const value = attempt(bytesOf(text), (bytes) => JSON.parse(utf8.decode(bytes)) as unknown);
  if (typeof value !== 'object' || value === null) return undefined;
  return value as Record<string, unknown>;
}

function readClientData(text: string): ClientData | undefined {
  const fields = readClientFields(text);
  if (!fields || typeof fields.origin !== 'string') return undefined;
  const { type, challenge, crossOrigin, topOrigin } = fields;
  const isFramed = crossOrigin === true || topOrigin !== undefined;
  const frame = typeof topOrigin === 'string' ? topOrigin : '';
  return { type, challenge, origin: fields.origin, framedBy: isFramed ? frame : undefined };
}

const [KTY, ALG, CURVE, X, Y, N, E] = [1, 3, -1, -2, -3, -1, -2];
const [ES256, EDDSA, RS256] = [-7, -8, -257];
const RSA_BITS = { minimum: 2048, maximum: 8192 };

interface Key {
  key: KeyObject;
  hash: 'sha256' | null;
}

function importKey(jwk: Record<string, string>, hash: Key['hash']): Key | undefined {
  const key = createPublicKey({ format: 'jwk', key: jwk as JsonWebKey });
  const bits = key.asymmetricKeyDetails?.modulusLength;
  if (bits !== undefined && (bits < RSA_BITS.minimum || bits > RSA_BITS.maximum)) return undefined;
  return { key, hash };
}

/** The key in COSE. Undefined for an unsupported algorithm. Throws for other bytes. */
function readKey(cose: Bytes): Key | undefined {
  // The cast replaces the library's type, which has a `get` for each key type. The key type is read below.
  const map = decodeCredentialPublicKey(cose) as unknown as Map<number, unknown>;
  const [kty, alg, crv] = [KTY, ALG, CURVE].map((label) => map.get(label as number));
  const component = (label: number | undefined) => {
    const value = map.get(label as number);
    if (!(value instanceof Uint8Array)) throw new TypeError('a part of the key is missing');
    return base64url(value);
  };
  if (alg === ES256 && kty === 2 && crv === 1) {
    return importKey({ kty: 'EC', crv: 'P-256', x: component(X), y: component(Y) }, 'sha256');
  }
  if (alg === EDDSA && kty === 1 && crv === 6) {
    return importKey({ kty: 'OKP', crv: 'Ed25519', x: component(X) }, null);
  }
  if (alg === RS256 && kty === 3)
    return importKey({ kty: 'RSA', n: component(N), e: component(E) }, 'sha256');
  return undefined;
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();

const APP_ORIGIN = /^(?!https?:)[a-z][a-z0-9+.-]*:[\x21-\x7e]{1,500}$/;

/** Length of a scheme, the longest DNS name and a port, which bounds the number of parent domains. */
const MAX_ORIGIN = 'https://'.length + 253 + ':65535'.length;

/**
 * The possible relying party IDs of a page of this origin. Undefined if the page may use no passkeys.
 */
function domainsOf(origin: string): string[] | undefined {
  const url = origin.length <= MAX_ORIGIN ? readUrl(origin) : undefined;
  if (!url || url.origin !== origin) return undefined;
  const isLocal = /(^|\.)localhost$/.test(url.hostname);
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && isLocal)) return undefined;
  const labels = url.hostname.split('.');
  const parents = labels.map((_, index) => labels.slice(index)).filter(({ length }) => length > 1);
  return [url.hostname, ...parents.map((each) => each.join('.'))];
}

/**
 * The error of the origin of a registration and of the hash of its site. An app is accepted with every hash,
 * because its origin contains no site.
 */
function siteProblem(origin: string, rpIdHash?: Uint8Array): string | undefined {
  if (APP_ORIGIN.test(origin)) return undefined;
  const domains = domainsOf(origin);
  if (!domains) return 'has an origin that does not support passkeys';
  if (rpIdHash && !domains.some((domain) => sha256(domain).equals(rpIdHash))) {
    return 'has a relying party ID that does not match its origin';
  }
  return undefined;
}

/**
 * Reason why pages or apps of this origin cannot use passkeys of the site `rpId`. Undefined if they
 * can.
 */
export const originProblem = (origin: string, rpId: string): string | undefined =>
  siteProblem(origin, sha256(rpId));

type Flags = ReturnType<typeof parseAuthenticatorData>['flags'];

function flagProblem({ up, uv, be, bs }: Flags, requirements?: Requirements): string | undefined {
  if (!up) return 'does not confirm user presence';
  if (requirements?.userVerified && !uv) return 'does not confirm user verification';
  return bs && !be ? 'has the backup state flag without backup eligibility' : undefined;
}

function clientDataProblem(
  data: ClientData | undefined,
  challenge: string,
  requirements: Requirements | undefined,
): string | undefined {
  if (!data) return 'must be WebAuthn client data in base64url';
  if (data.type !== 'webauthn.create') return 'must be of the type webauthn.create';
  if (data.challenge !== challenge) return 'must contain the challenge that was issued';
  if (requirements && !requirements.origins.includes(data.origin))
    return 'must come from an allowed origin';
  return siteProblem(data.origin);
}

const MAX_ID_BYTES = 1023;

interface RegisteredCredential {
  rpIdHash: Uint8Array;
  credentialId: Uint8Array;
  publicKey: Bytes;
  counter: number;
}

/** Whether a hash that a device signed is the hash of a site other than the required site. */
const isOtherRelyingParty = (
  rpIdHash: Uint8Array,
  requirements: Requirements | undefined,
): boolean => requirements !== undefined && !sha256(requirements.rpId).equals(rpIdHash);

/** The registered credential, or the error. */
function readCredential(
  text: string,
  requirements: Requirements | undefined,
): RegisteredCredential | string {
  const data = attempt(bytesOf(text), (bytes) => {
    const authData: unknown = decodeAttestationObject(bytes).get('authData');
    // `Buffer.from` reads a list as bytes and a number as a length.
    if (!(authData instanceof Uint8Array)) throw new TypeError('authData is not a Uint8Array');
    return parseAuthenticatorData(new Uint8Array(authData));
  });
  if (!data) return 'must be a WebAuthn attestation object in base64url';
  const { credentialID: credentialId, credentialPublicKey: publicKey, flags } = data;
  if (!credentialId?.length || !publicKey || credentialId.length > MAX_ID_BYTES) {
    return 'must contain a credential';
  }
  const problem = flagProblem(flags, requirements);
  if (problem) return problem;
  if (isOtherRelyingParty(data.rpIdHash, requirements)) return 'belongs to another relying party';
  if (!attempt(publicKey, readKey)) return 'must contain a key for ES256, RS256 or EdDSA';
  return { rpIdHash: data.rpIdHash, credentialId, publicKey, counter: data.counter };
}

/**
 * Validates the response of a device to `challenge`, which is compared as a string. Returns one error
 * for each invalid member of the attestation.
 */
export function checkAttestation(
  { credentialId, clientDataJson, attestationObject }: Attestation,
  challenge: string,
  requirements?: Requirements,
): { passkey: Passkey; signCount: number } | { errors: FieldError[] } {
  const errors: FieldError[] = [];
  const reject = (field: keyof Attestation, message: string | undefined) => {
    if (message) errors.push({ field, message });
  };
  const id = bytesOf(credentialId);
  if (!id) reject('credentialId', 'must be base64url');
  const data = readClientData(clientDataJson);
  reject('clientDataJson', clientDataProblem(data, challenge, requirements));
  const registration = readCredential(attestationObject, requirements);
  if (typeof registration === 'string') {
    reject('attestationObject', registration);
    return { errors };
  }
  if (id && !Buffer.from(id).equals(registration.credentialId)) {
    reject('credentialId', 'must equal the credential ID in the attestation object');
  }
  if (data && !siteProblem(data.origin)) {
    reject('attestationObject', siteProblem(data.origin, registration.rpIdHash));
  }
  if (errors.length || !data) return { errors };
  const passkey = {
    credentialId: base64url(registration.credentialId),
    publicKey: base64url(registration.publicKey),
    rpIdHash: Buffer.from(registration.rpIdHash).toString('hex'),
    origin: data.origin,
    ...(data.framedBy === undefined ? {} : { framedBy: data.framedBy }),
  };
  return { passkey, signCount: registration.counter };
}

/** Whether an assertion names this passkey, in any form of base64url. */
export const matchesCredential = (passkey: Passkey, credentialId: string): boolean =>
  base64url(bytesOf(credentialId) ?? new Uint8Array()) === passkey.credentialId;

export const OTHER_PASSKEY = 'The assertion was made with another passkey.';

function ceremonyProblem(
  data: ClientData,
  passkey: Passkey,
  challenge: string,
  origins: readonly string[],
): string | undefined {
  if (data.type !== 'webauthn.get') return 'The assertion does not have the type webauthn.get.';
  if (data.challenge !== challenge)
    return 'The assertion contains another challenge. Request a new one.';
  if (!origins.includes(data.origin))
    return 'The assertion comes from an origin that is not allowed.';
  // A passkey may be used on the page itself, and in a frame of the site where it was registered.
  if (data.framedBy !== undefined && data.framedBy !== passkey.framedBy) {
    return 'The assertion was made in a frame of another site.';
  }
  return undefined;
}

function verifySignature(passkey: Passkey, signedData: Uint8Array, signature: Uint8Array): boolean {
  const storedKey = attempt(bytesOf(passkey.publicKey), readKey);
  if (!storedKey) throw new Error('a registered key cannot be read');
  const { key, hash } = storedKey;
  return verify(hash, signedData, { key, dsaEncoding: 'der' }, signature);
}

/**
 * Verifies an assertion over `challenge`, in base64url without padding. `failed` is an error message
 * for the failed check, and `errors` name unreadable fields. The counter may remain unchanged only at
 * zero.
 */
export function checkAssertion(
  assertion: Assertion,
  expectation: {
    passkey: Passkey;
    signCount: number;
    challenge: string;
    requirements?: Requirements;
  },
): { signCount: number } | { failed: string } | { errors: FieldError[] } {
  const { passkey, signCount, challenge, requirements } = expectation;
  const clientData = readClientData(assertion.clientDataJson);
  const authenticatorBytes = bytesOf(assertion.authenticatorData);
  const data = attempt(authenticatorBytes, (bytes) => parseAuthenticatorData(bytes));
  const signature = bytesOf(assertion.signature);
  const errors: FieldError[] = [];
  const reject = (field: keyof Assertion, message: string) => errors.push({ field, message });
  if (!bytesOf(assertion.credentialId)) reject('credentialId', 'must be base64url');
  if (!clientData) reject('clientDataJson', 'must be WebAuthn client data in base64url');
  if (!data) reject('authenticatorData', 'must be WebAuthn authenticator data in base64url');
  if (!signature) reject('signature', 'must be base64url');
  if (!clientData || !data || !authenticatorBytes || !signature || errors.length) return { errors };

  if (!matchesCredential(passkey, assertion.credentialId)) return { failed: OTHER_PASSKEY };
  const origins = requirements?.origins ?? [passkey.origin];
  const problem = ceremonyProblem(clientData, passkey, challenge, origins);
  if (problem) return { failed: problem };
  const isOtherSite = Buffer.from(data.rpIdHash).toString('hex') !== passkey.rpIdHash;
  if (isOtherSite || isOtherRelyingParty(data.rpIdHash, requirements)) {
    return { failed: 'The assertion belongs to another relying party.' };
  }
  const flagError = flagProblem(data.flags, requirements);
  if (flagError) return { failed: `The assertion ${flagError}.` };
  const clientHash = sha256(bytesOf(assertion.clientDataJson) as Uint8Array);
  if (!verifySignature(passkey, Buffer.concat([authenticatorBytes, clientHash]), signature)) {
    return { failed: 'The signature of the assertion is invalid.' };
  }
  const { counter } = data;
  if ((counter > 0 || signCount > 0) && counter <= signCount) {
    return { failed: 'The signature counter of the assertion did not increase.' };
  }
  return { signCount: counter };
}
