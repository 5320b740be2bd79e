// WebAuthn verification with the test vectors of the specification and with a simulated device.
// Each rejected case has one deviation.
import { describe, expect, it } from 'vitest';
import {
  type Algorithm,
  authenticator,
  base64url,
  type Ceremony,
} from '../../../test/kit/wallets/authenticator.ts';
import official from '../../../test/vectors/webauthn.json' with { type: 'json' };
import { checkAssertion, checkAttestation, matchesCredential, type Passkey } from './webauthn.ts';

const CHALLENGE = base64url('challenge of a platform');
const base64urlOfHex = (hex: string) => base64url(Buffer.from(hex, 'hex'));

/** Registers a passkey. Returns the device and the stored part of the registration. */
function register(
  options: Parameters<typeof authenticator>[0] = {},
  ceremony: Ceremony & { fmt?: string } = {},
) {
  const device = authenticator(options);
  const registration = checkAttestation(device.create(CHALLENGE, ceremony), CHALLENGE);
  if ('errors' in registration) throw new Error(JSON.stringify(registration.errors));
  return { device, ...registration };
}

const errorsOf = (outcome: object) =>
  'errors' in outcome ? (outcome.errors as { field: string; message: string }[]) : [];

const ASSERTION_CHALLENGE = '0'.repeat(64);

/** Bytes as a CBOR list of numbers. */
const cborList = (data: Buffer) =>
  Buffer.concat([
    Buffer.of(0x99, data.length >> 8, data.length & 0xff),
    ...[...data].map((byte) => (byte < 24 ? Buffer.of(byte) : Buffer.of(24, byte))),
  ]);

/** Verifies an assertion of the device, with the deviations of `ceremony` and `change`. */
function verify(
  { device, passkey, signCount }: ReturnType<typeof register>,
  ceremony: Ceremony = {},
  change: object = {},
) {
  const assertion = { ...device.get(ASSERTION_CHALLENGE, ceremony), ...change };
  return checkAssertion(assertion, {
    passkey,
    signCount,
    challenge: base64url(ASSERTION_CHALLENGE),
  });
}

describe('test vectors of the specification', () => {
  it.each(official.vectors)('$name', ({ challenge, credentialId, assertion, ...vector }) => {
    const attestation = {
      credentialId: base64urlOfHex(credentialId),
      clientDataJson: base64urlOfHex(vector.clientData),
      attestationObject: base64urlOfHex(vector.attestationObject),
    };
    const registration = checkAttestation(attestation, base64urlOfHex(challenge));
    expect(errorsOf(registration)).toEqual([]);
    const { passkey, signCount } = registration as { passkey: Passkey; signCount: number };
    expect(passkey).toMatchObject({
      credentialId: base64urlOfHex(credentialId),
      origin: 'https://example.org',
      rpIdHash: 'bfabc37432958b063360d3ad6461c9c4735ae7f8edd46592a5e0f01452b2e4b5',
    });

    const encodedAssertion = {
      credentialId: base64urlOfHex(credentialId),
      clientDataJson: base64urlOfHex(assertion.clientData),
      authenticatorData: base64urlOfHex(assertion.authenticatorData),
      signature: base64urlOfHex(assertion.signature),
    };
    const expectation = { passkey, signCount, challenge: base64urlOfHex(assertion.challenge) };
    expect(checkAssertion(encodedAssertion, expectation)).toEqual({ signCount: 0 });
    const invalidSignature = Buffer.from(assertion.signature, 'hex');
    invalidSignature[20] = (invalidSignature[20] as number) ^ 1;
    expect(
      checkAssertion({ ...encodedAssertion, signature: base64url(invalidSignature) }, expectation),
    ).toEqual({
      failed: 'The signature of the assertion is invalid.',
    });
  });
});

describe('registration', () => {
  it.each<Algorithm>(['ES256', 'RS256', 'EDDSA'])('is accepted with a key for %s', (algorithm) => {
    const registration = register(
      { algorithm },
      { userVerified: true, backupEligible: true, backedUp: true, counter: 7 },
    );
    expect(registration.signCount).toBe(7);
    expect(registration.passkey).toMatchObject({
      credentialId: registration.device.credentialId,
      origin: 'https://wallet.example.com',
    });
    expect(registration.passkey).not.toHaveProperty('framedBy');
    expect(verify(registration, { userVerified: true, counter: 8 })).toEqual({ signCount: 8 });
  });

  it.each([
    'packed',
    'fido-u2f',
    'android-key',
    'android-safetynet',
    'tpm',
    'apple',
    'future-format',
  ])('is accepted with any attestation statement: %s', (fmt) => {
    expect(register({}, { fmt }).passkey.credentialId).toMatch(/^[\w-]{43}$/);
  });

  it.each([
    ['https://wallet.example.com', 'wallet.example.com'],
    ['https://wallet.example.com:8443', 'example.com'],
    ['http://localhost:5173', 'localhost'],
    ['http://app.localhost:5173', 'app.localhost'],
    ['android:apk-key-hash:pNiP5iKyQ8JwgGOaKA1zGPUPJIS-0H1xKCQcfIoGLck', 'example.com'],
    ['ios:bundle-id:com.example.wallet', 'example.com'],
  ])('from %s is accepted for the site %s', (origin, site) => {
    const registration = register({ origin, rpId: site });
    expect(registration.passkey.origin).toBe(origin);
    expect(verify(registration)).toEqual({ signCount: 0 });
  });

  it.each([
    ['https://wallet.example.com', 'evil.com'],
    ['https://wallet.example.com', 'com'],
    ['https://wallet.example.com', 'other.example.com'],
    ['https://example.com', 'wallet.example.com'],
    ['http://localhost:5173', 'example.com'],
  ])('from %s is rejected for the site %s', (origin, rpId) => {
    const device = authenticator({ origin });
    expect(errorsOf(checkAttestation(device.create(CHALLENGE, { rpId }), CHALLENGE))).toEqual([
      {
        field: 'attestationObject',
        message: 'has a relying party ID that does not match its origin',
      },
    ]);
  });

  it.each([
    'http://wallet.example.com',
    'https://wallet.example.com/',
    'https://WALLET.example.com',
    'null',
    '',
    'https://',
    `android:${'x'.repeat(501)}`,
    // A check of all parent domains of this origin would need minutes and all available memory.
    `https://${'a.'.repeat(24_000)}com`,
  ])('from the origin %j is rejected', (origin) => {
    const device = authenticator();
    expect(errorsOf(checkAttestation(device.create(CHALLENGE, { origin }), CHALLENGE))).toEqual([
      { field: 'clientDataJson', message: 'has an origin that does not support passkeys' },
    ]);
  });

  it.each<[string, Ceremony, string]>([
    ['type', { type: 'webauthn.get' }, 'clientDataJson'],
    ['challenge', { challengeText: base64url('another') }, 'clientDataJson'],
    ['padded challenge', { challengeText: `${CHALLENGE}=` }, 'clientDataJson'],
    ['presence', { userPresent: false }, 'attestationObject'],
    ['credential', { hasCredential: false }, 'attestationObject'],
    ['backup', { backedUp: true }, 'attestationObject'],
  ])('is rejected for its %s', (_description, ceremony, field) => {
    const credential = authenticator().create(CHALLENGE, ceremony);
    expect(errorsOf(checkAttestation(credential, CHALLENGE))).toEqual([
      { field, message: expect.any(String) },
    ]);
  });

  it('is rejected with an unusable key', () => {
    const credentialOfOtherCurve = authenticator({ algorithm: 'ES384' }).create(CHALLENGE);
    const device = authenticator();
    // The last byte of y is changed, so the point is not on the curve.
    const cose = Buffer.from(device.cose);
    cose[cose.length - 1] = (cose[cose.length - 1] as number) ^ 1;
    for (const credential of [credentialOfOtherCurve, device.create(CHALLENGE, { cose })]) {
      expect(errorsOf(checkAttestation(credential, CHALLENGE))).toEqual([
        {
          field: 'attestationObject',
          message: 'must contain a key for ES256, RS256 or EdDSA',
        },
      ]);
    }
  });

  it('is rejected with an ID of invalid length', () => {
    const longIdDevice = authenticator({ credentialId: Buffer.alloc(1023, 1) });
    expect(errorsOf(checkAttestation(longIdDevice.create(CHALLENGE), CHALLENGE))).toEqual([]);
    for (const length of [0, 1024]) {
      const device = authenticator({ credentialId: Buffer.alloc(length, 1) });
      const errors = errorsOf(checkAttestation(device.create(CHALLENGE), CHALLENGE));
      expect(errors).toContainEqual({
        field: 'attestationObject',
        message: 'must contain a credential',
      });
    }
  });

  it('is rejected with errors of all unreadable fields and with the ID of another credential', () => {
    const unreadableCredential = {
      credentialId: '*',
      clientDataJson: base64url('[]'),
      attestationObject: 'oA',
    };
    expect(
      errorsOf(checkAttestation(unreadableCredential, CHALLENGE)).map(({ field }) => field),
    ).toEqual(['credentialId', 'clientDataJson', 'attestationObject']);
    const credential = { ...authenticator().create(CHALLENGE), credentialId: base64url('another') };
    expect(errorsOf(checkAttestation(credential, CHALLENGE))).toEqual([
      { field: 'credentialId', message: 'must equal the credential ID in the attestation object' },
    ]);
  });

  it.each([
    ['a list of bytes', (data: Buffer) => cborList(data)],
    ['a length without content', () => Buffer.of(0x1a, 0xf0, 0, 0, 0)],
  ])('is rejected if its data is %s', (_description, encode) => {
    const credential = authenticator().create(CHALLENGE);
    const bytes = Buffer.from(credential.attestationObject, 'base64url');
    // The name is followed by the head of a byte string: 0x58 and its length.
    const offset = bytes.indexOf('authData') + 'authData'.length;
    const attestationObject = base64url(
      Buffer.concat([bytes.subarray(0, offset), encode(bytes.subarray(offset + 2))]),
    );
    expect(errorsOf(checkAttestation({ ...credential, attestationObject }, CHALLENGE))).toEqual([
      {
        field: 'attestationObject',
        message: 'must be a WebAuthn attestation object in base64url',
      },
    ]);
  });

  it('is accepted with an invalid origin of the embedding page', () => {
    const device = authenticator();
    const credential = device.create(CHALLENGE);
    const clientData = JSON.parse(Buffer.from(credential.clientDataJson, 'base64url').toString());
    const invalidClientData = { ...clientData, topOrigin: { toString: 1, valueOf: 1 } };
    const clientDataJson = base64url(JSON.stringify(invalidClientData));
    expect(checkAttestation({ ...credential, clientDataJson }, CHALLENGE)).toMatchObject({
      passkey: { framedBy: '' },
    });
  });

  it('is rejected if its CBOR is nested too deeply', () => {
    const nestedCbor = base64url(Buffer.alloc(48_000, 0x81));
    const credential = { ...authenticator().create(CHALLENGE), attestationObject: nestedCbor };
    expect(errorsOf(checkAttestation(credential, CHALLENGE))).toHaveLength(1);
  });
});

describe('assertion', () => {
  it.each<[string, Ceremony, string]>([
    ['type', { type: 'webauthn.create' }, 'The assertion does not have the type webauthn.get.'],
    [
      'challenge',
      { challengeText: base64url('x') },
      'The assertion contains another challenge. Request a new one.',
    ],
    [
      'origin',
      { origin: 'https://example.com' },
      'The assertion comes from an origin that is not allowed.',
    ],
    ['site', { rpId: 'example.com' }, 'The assertion belongs to another relying party.'],
    ['presence', { userPresent: false }, 'The assertion does not confirm user presence.'],
    [
      'frame',
      { topOrigin: 'https://evil.com' },
      'The assertion was made in a frame of another site.',
    ],
    ['counter', { counter: 6 }, 'The signature counter of the assertion did not increase.'],
    ['same counter', { counter: 7 }, 'The signature counter of the assertion did not increase.'],
    ['reset counter', { counter: 0 }, 'The signature counter of the assertion did not increase.'],
  ])('is rejected for its %s', (_description, ceremony, error) => {
    const registration = register({}, { counter: 7 });
    expect(verify(registration, { counter: 8, ...ceremony })).toEqual({ failed: error });
  });

  it('is rejected with the signature of another key and with an invalid signature', () => {
    const error = 'The signature of the assertion is invalid.';
    const registration = register();
    const otherAssertion = authenticator().get(ASSERTION_CHALLENGE);
    expect(verify(registration, {}, { signature: otherAssertion.signature })).toEqual({
      failed: error,
    });
    expect(verify(registration, {}, { signature: base64url('no DER') })).toEqual({ failed: error });
    expect(verify(registration, {}, { credentialId: otherAssertion.credentialId })).toEqual({
      failed: 'The assertion was made with another passkey.',
    });
  });

  it('is rejected if signed data was changed', () => {
    const registration = register();
    const { authenticatorData } = registration.device.get(ASSERTION_CHALLENGE, { counter: 9 });
    expect(verify(registration, { counter: 1 }, { authenticatorData })).toEqual({
      failed: 'The signature of the assertion is invalid.',
    });
  });

  it('is rejected with errors of all unreadable fields', () => {
    const unreadableCredential = {
      credentialId: '*',
      clientDataJson: 'e30',
      authenticatorData: 'AAAA',
      signature: '',
    };
    expect(
      errorsOf(verify(register(), {}, unreadableCredential)).map(({ field }) => field),
    ).toEqual(['credentialId', 'clientDataJson', 'authenticatorData', 'signature']);
  });

  it('of a passkey from a frame is accepted in the same frame and on the page of its site', () => {
    const registration = register({}, { topOrigin: 'https://shop.example.com' });
    expect(registration.passkey.framedBy).toBe('https://shop.example.com');
    expect(verify(registration, { topOrigin: 'https://shop.example.com' })).toEqual({
      signCount: 0,
    });
    expect(verify(registration)).toEqual({ signCount: 0 });
    expect(verify(registration, { topOrigin: 'https://evil.com' })).toEqual({
      failed: 'The assertion was made in a frame of another site.',
    });
  });

  it('can contain the credential ID with padding', () => {
    const { passkey } = register();
    expect(matchesCredential(passkey, `${passkey.credentialId}=`)).toBe(true);
    expect(matchesCredential(passkey, base64url('another'))).toBe(false);
    expect(matchesCredential(passkey, '')).toBe(false);
  });
});
