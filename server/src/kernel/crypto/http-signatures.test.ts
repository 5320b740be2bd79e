// The examples of RFC 9421 and RFC 9530, and signatures of changed requests.
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  contentDigest,
  SIGNATURE_WINDOW_MS,
  signRequest,
  verifyRequest,
} from './http-signatures.ts';

/** test-key-ed25519 of RFC 9421, appendix B.1.4. */
const privateKey = createPrivateKey(
  '-----BEGIN PRIVATE KEY-----\n' +
    'MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n' +
    '-----END PRIVATE KEY-----\n',
);
const publicKey = createPublicKey(
  '-----BEGIN PUBLIC KEY-----\n' +
    'MCowBQYDK2VwAyEAJrQLj5P/89iXES9+vFgrIy29clF9CC/oPPsw3c5D0bs=\n' +
    '-----END PUBLIC KEY-----\n',
);
const keyId = 'test-key-ed25519';
const keys = new Map([[keyId, publicKey]]);

const CREATED = 1_618_884_473_000;
const COMPONENTS = ['date', '@method', '@path', '@authority', 'content-type', 'content-length'];
/** The request of RFC 9421, appendix B.2, signed in B.2.6. */
const vector = {
  method: 'POST',
  url: 'https://example.com/foo?param=Value&Pet=dog',
  headers: {
    host: 'example.com',
    date: 'Tue, 20 Apr 2021 02:07:55 GMT',
    'content-type': 'application/json',
    'content-length': '18',
    'signature-input':
      'sig-b26=("date" "@method" "@path" "@authority" "content-type" "content-length")' +
      ';created=1618884473;keyid="test-key-ed25519"',
    signature:
      'sig-b26=:wqcAqbmYJ2ji2glfAMaRy4gruYYnx2nEFN2HN6jrnDnQCK1u02Gb04v9EDgwUPiu' +
      '4A0w6vuQv5lIp5WPpBKRCw==:',
  },
  body: '{"hello": "world"}',
};

describe('contentDigest', () => {
  it('is the digest of RFC 9530 for its example', () => {
    expect(contentDigest('{"hello": "world"}')).toBe(
      'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
    );
  });
});

describe('verifyRequest', () => {
  it('accepts the Ed25519 signature of RFC 9421, appendix B.2.6', async () => {
    const result = await verifyRequest(vector, keys, CREATED, COMPONENTS);
    expect(result).toEqual({ keyId, created: CREATED });
  });

  it.each([
    ['another method', { method: 'PUT' }],
    ['another path', { url: 'https://example.com/bar?param=Value&Pet=dog' }],
    ['another host', { url: 'https://example.org/foo?param=Value&Pet=dog' }],
    ['another header', { headers: { ...vector.headers, 'content-length': '19' } }],
  ])('rejects the published signature for %s', async (_, override) => {
    const changedRequest = { ...vector, ...override };
    await expect(verifyRequest(changedRequest, keys, CREATED, COMPONENTS)).rejects.toThrow(
      'does not match',
    );
  });

  const request = {
    method: 'POST',
    url: 'http://localhost:9000/transfers/send',
    headers: { 'content-type': 'application/json' },
    body: '{"amount":100}',
  };
  const signedMessage = async (now = CREATED) => ({
    ...request,
    headers: await signRequest({ keyId, privateKey }, request, now),
  });

  it('accepts the signature of signRequest', async () => {
    const { headers, ...rest } = await signedMessage();
    expect(headers['signature-input']).toBe(
      'railhead=("@method" "@authority" "@path" "content-digest")' +
        ';created=1618884473;keyid="test-key-ed25519";alg="ed25519"',
    );
    expect(await verifyRequest({ headers, ...rest }, keys, CREATED)).toEqual({
      keyId,
      created: CREATED,
    });
  });

  it('rejects another body, with a new digest or with the digest of the signed body', async () => {
    const message = await signedMessage();
    const body = '{"amount":900}';
    await expect(verifyRequest({ ...message, body }, keys, CREATED)).rejects.toThrow(
      'Content-Digest is not the SHA-256 digest of the body.',
    );
    const headers = { ...message.headers, 'content-digest': contentDigest(body) };
    await expect(verifyRequest({ ...message, body, headers }, keys, CREATED)).rejects.toThrow(
      'does not match',
    );
  });

  it('rejects a missing digest, signature, component or key', async () => {
    const message = await signedMessage();
    const removeHeader = ({ headers, ...rest }: typeof message, name: string) => ({
      ...rest,
      headers: Object.fromEntries(Object.entries(headers).filter(([each]) => each !== name)),
    });
    const expectRejection = (changedRequest: typeof message, reason: string) =>
      expect(verifyRequest(changedRequest, keys, CREATED)).rejects.toThrow(reason);
    await expectRejection(removeHeader(message, 'content-digest'), 'Content-Digest is missing');
    await expectRejection(removeHeader(message, 'signature'), 'Incomplete signature headers');
    await expectRejection(
      removeHeader(removeHeader(message, 'signature'), 'signature-input'),
      'The request has no signature.',
    );
    const components = ['@method', '@authority', '@path'];
    const headersWithoutPath = await signRequest(
      { keyId, privateKey },
      request,
      CREATED,
      components,
    );
    await expectRejection(
      { ...request, headers: headersWithoutPath },
      'Missing required signed fields',
    );
    await expect(verifyRequest(message, new Map(), CREATED)).rejects.toThrow(
      'The key test-key-ed25519 is not known.',
    );
  });

  it('rejects a signature outside of the window, and two signatures', async () => {
    const message = await signedMessage();
    const lastValidTime = CREATED + SIGNATURE_WINDOW_MS;
    expect(await verifyRequest(message, keys, lastValidTime)).toMatchObject({ keyId });
    await expect(verifyRequest(message, keys, lastValidTime + 1_000)).rejects.toThrow('too old');
    await expect(verifyRequest(message, keys, CREATED - 301_000)).rejects.toThrow('too old');
    const duplicate = (name: string) => {
      const value = message.headers[name] ?? '';
      return `${value}, ${value.replace('railhead=', 'second=')}`;
    };
    const duplicateHeaders = {
      signature: duplicate('signature'),
      'signature-input': duplicate('signature-input'),
    };
    const headers = { ...message.headers, ...duplicateHeaders };
    await expect(verifyRequest({ ...message, headers }, keys, CREATED)).rejects.toThrow(
      'more than one signature',
    );
  });

  it('rejects another algorithm', async () => {
    const message = await signedMessage();
    const input = message.headers['signature-input']?.replace('ed25519"', 'hmac-sha256"') ?? '';
    const headers = { ...message.headers, 'signature-input': input.replace('"test-key-hmac', '"') };
    await expect(verifyRequest({ ...message, headers }, keys, CREATED)).rejects.toThrow();
  });
});
