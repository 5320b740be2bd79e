// Software authenticator for passkeys, which creates registrations and assertions in the format of
// browsers. It shares no code with the verification. Every verified field can be set to a wrong
// value.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

type Cbor = number | string | Uint8Array | Map<Cbor, Cbor>;

/** Head of a CBOR item. */
function head(major: number, value: number): Buffer {
  if (value < 24) return Buffer.of((major << 5) | value);
  if (value < 0x100) return Buffer.of((major << 5) | 24, value);
  if (value < 0x10000) return Buffer.of((major << 5) | 25, value >> 8, value & 0xff);
  throw new RangeError('a CBOR item has more than 65,535 bytes');
}

function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  if (value instanceof Map) {
    const members = [...value].map(([name, item]) => Buffer.concat([cbor(name), cbor(item)]));
    return Buffer.concat([head(5, value.size), ...members]);
  }
  return Buffer.concat([head(2, value.length), value]);
}

const sha256 = (data: Uint8Array | string) => createHash('sha256').update(data).digest();
export const base64url = (data: Uint8Array | string) => Buffer.from(data).toString('base64url');

const KEY_GENERATORS = {
  ES256: () => generateKeyPairSync('ec', { namedCurve: 'prime256v1' }),
  RS256: () => generateKeyPairSync('rsa', { modulusLength: 2048 }),
  EDDSA: () => generateKeyPairSync('ed25519'),
  /** An algorithm that is not accepted. */
  ES384: () => generateKeyPairSync('ec', { namedCurve: 'secp384r1' }),
};
export type Algorithm = keyof typeof KEY_GENERATORS;

function coseOf(algorithm: Algorithm, key: KeyObject): Buffer {
  const { x = '', y = '', n = '', e = '' } = key.export({ format: 'jwk' });
  const bytes = (text: string) => Buffer.from(text, 'base64url');
  const members: Record<Algorithm, [Cbor, Cbor][]> = {
    ES256: [
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    ES384: [
      [1, 2],
      [3, -35],
      [-1, 2],
      [-2, bytes(x)],
      [-3, bytes(y)],
    ],
    EDDSA: [
      [1, 1],
      [3, -8],
      [-1, 6],
      [-2, bytes(x)],
    ],
    RS256: [
      [1, 3],
      [3, -257],
      [-1, bytes(n)],
      [-2, bytes(e)],
    ],
  };
  return cbor(new Map(members[algorithm]));
}

/** Deviations from a correct authenticator and browser. */
export interface Ceremony {
  type?: string;
  origin?: string;
  rpId?: string;
  /** The origin of the embedding page, if there is one. */
  topOrigin?: string;
  /** Replaces the challenge in the client data. */
  challengeText?: string;
  userPresent?: boolean;
  userVerified?: boolean;
  backupEligible?: boolean;
  backedUp?: boolean;
  /** For registrations: whether the data contains a credential. */
  hasCredential?: boolean;
  counter?: number;
}

export type Authenticator = ReturnType<typeof authenticator>;

/** An authenticator with one passkey. The counter is zero unless the ceremony sets it. */
export function authenticator({
  algorithm = 'ES256',
  rpId = 'wallet.example.com',
  origin = `https://${rpId}`,
  credentialId = randomBytes(32),
}: {
  algorithm?: Algorithm;
  rpId?: string;
  origin?: string;
  credentialId?: Uint8Array;
} = {}) {
  const { publicKey, privateKey } = KEY_GENERATORS[algorithm]();
  const cose = coseOf(algorithm, publicKey);

  const clientDataOf = (type: string, challenge: string, ceremony: Ceremony) =>
    Buffer.from(
      JSON.stringify({
        type: ceremony.type ?? type,
        challenge: ceremony.challengeText ?? challenge,
        origin: ceremony.origin ?? origin,
        crossOrigin: ceremony.topOrigin !== undefined,
        ...(ceremony.topOrigin ? { topOrigin: ceremony.topOrigin } : {}),
      }),
    );

  function authDataOf(ceremony: Ceremony, isAttested: boolean, attestedData: Uint8Array): Buffer {
    const {
      userPresent: up = true,
      userVerified: uv = false,
      backupEligible: be = false,
      backedUp: bs = false,
      counter = 0,
    } = ceremony;
    const flags = [up, false, uv, be, bs, false, isAttested].reduce(
      (bits, isSet, bit) => bits | (Number(isSet) << bit),
      0,
    );
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(ceremony.rpId ?? rpId), Buffer.of(flags), count, attestedData]);
  }

  function create(
    challenge: string,
    {
      fmt = 'none',
      statement = new Map<Cbor, Cbor>(),
      cose: key = cose,
      ...ceremony
    }: Ceremony & { fmt?: string; statement?: Map<Cbor, Cbor>; cose?: Uint8Array } = {},
  ) {
    const { hasCredential: at = true } = ceremony;
    const size = Buffer.of(credentialId.length >> 8, credentialId.length & 0xff);
    const attestedData = at ? [Buffer.alloc(16), size, credentialId, key] : [];
    const authData = authDataOf(ceremony, at, Buffer.concat(attestedData));
    const object = new Map<Cbor, Cbor>([
      ['fmt', fmt],
      ['attStmt', statement],
      ['authData', authData],
    ]);
    return {
      credentialId: base64url(credentialId),
      clientDataJson: base64url(clientDataOf('webauthn.create', challenge, ceremony)),
      attestationObject: base64url(cbor(object)),
      transports: ['internal'],
    };
  }

  /** Signs the UTF-8 bytes of a challenge, as pages do with a challenge in hexadecimal. */
  function get(challenge: string, ceremony: Ceremony = {}) {
    const clientData = clientDataOf('webauthn.get', base64url(challenge), ceremony);
    const authData = authDataOf(ceremony, false, Buffer.alloc(0));
    const hash = algorithm === 'EDDSA' ? null : 'sha256';
    const signature = sign(hash, Buffer.concat([authData, sha256(clientData)]), privateKey);
    return {
      credentialId: base64url(credentialId),
      clientDataJson: base64url(clientData),
      authenticatorData: base64url(authData),
      signature: base64url(signature),
      userHandle: null,
    };
  }

  return { credentialId: base64url(credentialId), cose, create, get };
}
