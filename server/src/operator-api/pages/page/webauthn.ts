// Passkeys of the browser, in the JSON of the API. Results are converted here, because
// older browsers and some password managers lack their `toJSON`.
import { TEXTS } from './texts.ts';

export interface PasskeyOptions<T> {
  state: string;
  publicKey: T;
}

export type Creation = PublicKeyCredentialCreationOptionsJSON;
export type Request = PublicKeyCredentialRequestOptionsJSON;

export const supportsPasskeys = (): boolean => 'PublicKeyCredential' in window;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
    each.charCodeAt(0),
  );

const textOf = (bytes: ArrayBuffer): string =>
  btoa(Array.from(new Uint8Array(bytes), (each) => String.fromCharCode(each)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const descriptorsOf = (
  descriptorList: readonly PublicKeyCredentialDescriptorJSON[] = [],
): PublicKeyCredentialDescriptor[] =>
  descriptorList.map(({ id, transports = [] }) => ({
    type: 'public-key',
    id: bytesOf(id),
    transports: transports as AuthenticatorTransport[],
  }));

function creationOptions(json: Creation): PublicKeyCredentialCreationOptions {
  if (typeof PublicKeyCredential.parseCreationOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseCreationOptionsFromJSON(json);
  }
  const { rp, user, challenge, pubKeyCredParams, timeout, authenticatorSelection } = json;
  return {
    ...{ rp, pubKeyCredParams, attestation: 'none' },
    ...(timeout === undefined ? {} : { timeout }),
    ...(authenticatorSelection === undefined ? {} : { authenticatorSelection }),
    challenge: bytesOf(challenge),
    user: { ...user, id: bytesOf(user.id) },
    excludeCredentials: descriptorsOf(json.excludeCredentials),
  };
}

function requestOptions(json: Request): PublicKeyCredentialRequestOptions {
  if (typeof PublicKeyCredential.parseRequestOptionsFromJSON === 'function') {
    return PublicKeyCredential.parseRequestOptionsFromJSON(json);
  }
  const { rpId, challenge, timeout } = json;
  return {
    ...(rpId === undefined ? {} : { rpId }),
    ...(timeout === undefined ? {} : { timeout }),
    challenge: bytesOf(challenge),
    allowCredentials: descriptorsOf(json.allowCredentials),
    userVerification: 'required',
  };
}

export async function createPasskey(options: Creation): Promise<object> {
  const publicKey = creationOptions(options);
  const { id, response } = (await navigator.credentials.create({
    publicKey,
  })) as PublicKeyCredential;
  const { clientDataJSON, attestationObject, getTransports } =
    response as AuthenticatorAttestationResponse;
  const transports =
    typeof getTransports === 'function' ? { transports: getTransports.call(response) } : {};
  return {
    id,
    response: {
      clientDataJSON: textOf(clientDataJSON),
      attestationObject: textOf(attestationObject),
      ...transports,
    },
  };
}

/** Signs a challenge with a passkey that the user selects. */
export async function usePasskey(options: Request): Promise<object> {
  const publicKey = requestOptions(options);
  const { id, response } = (await navigator.credentials.get({ publicKey })) as PublicKeyCredential;
  const { clientDataJSON, authenticatorData, signature } =
    response as AuthenticatorAssertionResponse;
  return {
    id,
    response: {
      clientDataJSON: textOf(clientDataJSON),
      authenticatorData: textOf(authenticatorData),
      signature: textOf(signature),
    },
  };
}

/** The reason why the browser returned no passkey. */
export function passkeyProblem(error: unknown): string {
  const name = error instanceof DOMException ? error.name : '';
  if (name === 'InvalidStateError') return TEXTS.passkey.exists;
  return name === 'NotAllowedError' || name === 'AbortError'
    ? TEXTS.passkey.canceled
    : TEXTS.passkey.notRegistered;
}

const SYSTEMS = ['iPhone', 'iPad', 'Android', 'Windows', 'CrOS', 'Mac', 'Linux'];
const BROWSERS: readonly (readonly [token: string, name: string])[] = [
  ['Edg', 'Edge'],
  ['Firefox', 'Firefox'],
  ['FxiOS', 'Firefox'],
  ['Chrome', 'Chrome'],
  ['CriOS', 'Chrome'],
  ['Safari', 'Safari'],
];

/** A name for the passkey of this browser, such as `Chrome on Mac`. */
export function deviceName(): string {
  const { userAgent } = navigator;
  const system = SYSTEMS.find((each) => userAgent.includes(each));
  const [, browser] = BROWSERS.find(([token]) => userAgent.includes(token)) ?? [];
  return [browser, system?.replace('CrOS', 'ChromeOS')].filter(Boolean).join(' on ');
}
