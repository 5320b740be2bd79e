// HTTP Message Signatures (RFC 9421) with Ed25519 over a digest of the body (RFC 9530). In the profile of
// the protocol for providers, a signature always covers method, authority, path and body.

import { hash, type KeyObject, sign, verify } from 'node:crypto';
import { httpbis } from 'http-message-signatures';
import type { Time } from '../../kernel/effects.ts';

export interface SignableRequest {
  method: string;
  url: string;
  headers: Readonly<Record<string, string>>;
  body: string;
}

export interface SignatureKey {
  keyId: string;
  /** Ed25519 key. */
  privateKey: KeyObject;
}

/** Key and time of a valid signature. */
export interface VerifiedSignature {
  keyId: string;
  created: Time;
}

/** Maximum difference between `created` and the clock of the receiver. */
export const SIGNATURE_WINDOW_MS = 300_000;

const ALGORITHM = 'ed25519';
const LABEL = 'railhead';
const COMPONENTS = ['@method', '@authority', '@path', 'content-digest'];
const PARAMETERS = ['created', 'keyid', 'alg'];

/** Value of the Content-Digest header. */
export const contentDigest = (body: string): string =>
  `sha-256=:${hash('sha256', body, 'base64')}:`;

/** The headers of a request, with digest and signature. */
export async function signRequest(
  { keyId, privateKey }: SignatureKey,
  request: SignableRequest,
  now: Time,
  components: readonly string[] = COMPONENTS,
): Promise<Record<string, string>> {
  const headers = { ...request.headers, 'content-digest': contentDigest(request.body) };
  const signedMessage = await httpbis.signMessage(
    {
      key: { id: keyId, alg: ALGORITHM, sign: async (data) => sign(null, data, privateKey) },
      name: LABEL,
      fields: [...components],
      params: PARAMETERS,
      paramValues: { created: new Date(now) },
    },
    { ...request, headers },
  );
  const { Signature: signature, 'Signature-Input': input } = signedMessage.headers as Record<
    string,
    string
  >;
  return { ...headers, signature: String(signature), 'signature-input': String(input) };
}

const problem = (text: string) => new Error(text);

/**
 * Verifies a received request. `publicKeys` are the keys of its sender, by key ID. The message of a
 * thrown error is returned to the sender.
 */
export async function verifyRequest(
  request: SignableRequest,
  publicKeys: ReadonlyMap<string, KeyObject>,
  now: Time,
  components: readonly string[] = COMPONENTS,
): Promise<VerifiedSignature> {
  if (components.includes('content-digest')) checkDigest(request);
  const signatures: { keyId: string; created: Time; isValid: boolean }[] = [];
  await httpbis.verifyMessage(
    {
      requiredFields: [...components],
      requiredParams: ['created', 'keyid'],
      // The time is checked below, because the library reads the clock of the machine.
      notAfter: Number.POSITIVE_INFINITY,
      keyLookup: async ({ keyid }) => {
        const publicKey = publicKeys.get(String(keyid));
        if (!publicKey) throw problem(`The key ${keyid} is not known. Sign with a registered key.`);
        return {
          id: String(keyid),
          algs: [ALGORITHM],
          async verify(data, signature, parameters) {
            const created = Number(parameters?.created);
            const isValid = verify(null, data, publicKey, signature);
            signatures.push({ keyId: String(keyid), created, isValid });
            return isValid;
          },
        };
      },
    },
    request,
  );
  const [signature, otherSignature] = signatures;
  if (!signature) throw problem('The request has no signature.');
  if (otherSignature) throw problem('The request has more than one signature.');
  if (!signature.isValid) throw problem('The signature does not match the request.');
  const { keyId, created } = signature;
  if (Math.abs(now - created) > SIGNATURE_WINDOW_MS) {
    throw problem('The signature is too old, or the clocks differ by more than 5 minutes.');
  }
  return { keyId, created };
}

function checkDigest({ headers, body }: SignableRequest): void {
  const digest = headers['content-digest'];
  if (digest === undefined) throw problem('The header Content-Digest is missing.');
  if (digest.trim() !== contentDigest(body)) {
    throw problem('Content-Digest is not the SHA-256 digest of the body.');
  }
}
