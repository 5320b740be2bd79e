// The two passkey ceremonies in the format of the API: registration and sign-in.
import { type Bytes, fromBase64, toBase64Url, utf8 } from '../crypto/bytes.ts';

const TIMEOUT_MS = 60_000;
const [ES256, RS256] = [-7, -257] as const;
const CHALLENGE_BYTES = 32;
/** Transports that the API accepts. Browsers can report others. */
const TRANSPORTS = ['usb', 'nfc', 'ble', 'internal', 'hybrid'] as const;
type Transport = (typeof TRANSPORTS)[number];

const descriptorsOf = (credentialIds: readonly string[]): PublicKeyCredentialDescriptor[] =>
  credentialIds.map((id) => ({ type: 'public-key', id: fromBase64(id) }));

/** `challenge` and `attestation` of `createAuthCredential`. */
export interface CreatedPasskey {
  readonly challenge: string;
  readonly attestation: {
    credentialId: string;
    clientDataJson: string;
    attestationObject: string;
    transports: Transport[];
  };
}

/** Input of the creation of a passkey. */
export interface NewPasskey {
  /** Name of the app, shown by the browser. */
  readonly appName: string;
  /** A domain that the page belongs to. Default: its host. */
  readonly site?: string;
  /** ID and name of the owner. The name is shown when a passkey is chosen. */
  readonly user: { readonly id: string; readonly name: string };
  /**
   * `credentialId` of existing passkeys. An authenticator with one of them creates no second
   * passkey.
   */
  readonly existing?: readonly string[];
}

/** Creates a passkey with the authenticator that the user selects. */
export async function createPasskey(options: NewPasskey): Promise<CreatedPasskey> {
  const { appName, site = location.hostname, user, existing = [] } = options;
  const challenge: Bytes = crypto.getRandomValues(new Uint8Array(CHALLENGE_BYTES));
  const credential = (await navigator.credentials.create({
    publicKey: {
      challenge,
      rp: { id: site, name: appName },
      user: { id: utf8(user.id), name: user.name, displayName: user.name },
      pubKeyCredParams: [ES256, RS256].map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      excludeCredentials: descriptorsOf(existing),
      timeout: TIMEOUT_MS,
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAttestationResponse;
  return {
    challenge: toBase64Url(challenge),
    attestation: {
      credentialId: toBase64Url(credential.rawId),
      clientDataJson: toBase64Url(response.clientDataJSON),
      attestationObject: toBase64Url(response.attestationObject),
      transports: TRANSPORTS.filter((each) => response.getTransports().includes(each)),
    },
  };
}

/** `assertion` of `verifyAuthCredential`. */
export interface PasskeyAssertion {
  credentialId: string;
  clientDataJson: string;
  authenticatorData: string;
  signature: string;
  userHandle?: string;
}

/** Input of a sign-in with a passkey. */
export interface UsedPasskey {
  /** `challenge` of the reply to `challengeAuthCredential`, unchanged. */
  readonly challenge: string;
  /** `credentialId` of the passkey that signs. */
  readonly credentialId: string;
  /** A domain that the page belongs to. Default: its host. */
  readonly site?: string;
}

/** Signs the UTF-8 bytes of the hexadecimal challenge without decoding it. */
export async function signWithPasskey(options: UsedPasskey): Promise<PasskeyAssertion> {
  const { challenge, credentialId, site = location.hostname } = options;
  const credential = (await navigator.credentials.get({
    publicKey: {
      challenge: utf8(challenge),
      rpId: site,
      allowCredentials: descriptorsOf([credentialId]),
      userVerification: 'required',
      timeout: TIMEOUT_MS,
    },
  })) as PublicKeyCredential;
  const response = credential.response as AuthenticatorAssertionResponse;
  return {
    credentialId: toBase64Url(credential.rawId),
    clientDataJson: toBase64Url(response.clientDataJSON),
    authenticatorData: toBase64Url(response.authenticatorData),
    signature: toBase64Url(response.signature),
    ...(response.userHandle && { userHandle: toBase64Url(response.userHandle) }),
  };
}
