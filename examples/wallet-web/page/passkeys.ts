// The two WebAuthn ceremonies in the format of the API: creating a passkey, and signing in with it.

type Bytes = Uint8Array<ArrayBuffer>;

const TIMEOUT_MS = 60_000;
const [ES256, RS256] = [-7, -257] as const;

const toText = (bytes: ArrayBuffer): string =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

const toBytes = (text: string): Bytes =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (each) =>
    each.charCodeAt(0),
  );

const utf8 = (text: string): Bytes => new Uint8Array(new TextEncoder().encode(text));

const known = (credentialIds: readonly string[]): PublicKeyCredentialDescriptor[] =>
  credentialIds.map((id) => ({ type: 'public-key', id: toBytes(id) }));

export interface NewPasskey {
  challenge: string;
  attestation: {
    credentialId: string;
    clientDataJson: string;
    attestationObject: string;
    transports: string[];
  };
}

/** Creates a passkey for this site; existing passkeys are excluded. */
export async function makePasskey(
  user: { accountId: string; email: string },
  existing: readonly string[],
): Promise<NewPasskey> {
  const challenge = crypto.getRandomValues(new Uint8Array(32));
  const made = (await navigator.credentials.create({
    publicKey: {
      challenge,
      rp: { id: location.hostname, name: 'Wallet' },
      user: { id: utf8(user.accountId), name: user.email, displayName: user.email },
      pubKeyCredParams: [ES256, RS256].map((alg) => ({ type: 'public-key', alg })),
      authenticatorSelection: { residentKey: 'preferred', userVerification: 'required' },
      excludeCredentials: known(existing),
      timeout: TIMEOUT_MS,
    },
  })) as PublicKeyCredential;
  const response = made.response as AuthenticatorAttestationResponse;
  return {
    challenge: toText(challenge.buffer),
    attestation: {
      credentialId: toText(made.rawId),
      clientDataJson: toText(response.clientDataJSON),
      attestationObject: toText(response.attestationObject),
      transports: response.getTransports(),
    },
  };
}

export interface Assertion {
  credentialId: string;
  clientDataJson: string;
  authenticatorData: string;
  signature: string;
  userHandle?: string;
}

/** Signs the challenge, which is a text: its UTF-8 bytes are signed, not the decoded hex. */
export async function usePasskey(challenge: string, credentialId: string): Promise<Assertion> {
  const shown = (await navigator.credentials.get({
    publicKey: {
      challenge: utf8(challenge),
      rpId: location.hostname,
      allowCredentials: known([credentialId]),
      userVerification: 'required',
      timeout: TIMEOUT_MS,
    },
  })) as PublicKeyCredential;
  const response = shown.response as AuthenticatorAssertionResponse;
  return {
    credentialId: toText(shown.rawId),
    clientDataJson: toText(response.clientDataJSON),
    authenticatorData: toText(response.authenticatorData),
    signature: toText(response.signature),
    ...(response.userHandle && { userHandle: toText(response.userHandle) }),
  };
}
