// Valid and invalid stamps. The cases are the published vector, each runtime of the client library,
// OpenSSL with low and high S, all Wycheproof cases, and malformed encodings.
import { createPrivateKey, createPublicKey, sign, webcrypto } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it, vi } from 'vitest';
import { ApiKeyStamper } from '../../../../test/kit/wallets/client-libraries.ts';
import { generateKeys } from '../../../../test/kit/wallets/embedded-wallets.ts';
import {
  compressedPoint,
  p256Jwk,
  p256Pair,
  uncompressedPoint,
} from '../../../kernel/crypto/p256.ts';
import { parseStamp, type Stamp, verifyStamp } from './stamp.ts';

const SCHEME = 'SIGNATURE_SCHEME_TK_API_P256';
const ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551');

const VECTOR = {
  publicKey: '0351a7580833898ea1b183cbd7350a4099078c6ef1c1e18e970cd7683035f25e7d',
  scheme: SCHEME,
  signature:
    '30440220411d28575db3ae8db325976135205a0976ec00dbbd59d9cfdd52f4bbe34d4959' +
    '02201346c0f7f7d7b934372e3183c1e867b5fcf933794fcd5eec057ce24c44b7be41',
};
const SIGNED_TEXT = '{"a":1}';

const encodeBase64url = (text: string | Uint8Array) => Buffer.from(text).toString('base64url');
const stampHeader = (stamp: unknown) => encodeBase64url(JSON.stringify(stamp));
const readStamp = (stamp: unknown) => parseStamp(stampHeader(stamp)) as Stamp;

describe('the published test vector', () => {
  it('is valid for its text, and invalid for another', () => {
    const stamp = readStamp(VECTOR);
    expect(stamp.publicKey).toBe(VECTOR.publicKey);
    expect(verifyStamp(stamp, SIGNED_TEXT)).toBe(true);
    expect(verifyStamp(stamp, Buffer.from(SIGNED_TEXT))).toBe(true);
    for (const otherText of ['{"a":2}', '{"a": 1}', ' {"a":1}', '{"a":1}\n', '']) {
      expect(verifyStamp(stamp, otherText)).toBe(false);
    }
  });

  it('is valid with a high S as well', () => {
    const s = BigInt(`0x${VECTOR.signature.slice(-64)}`);
    const highS = (ORDER - s).toString(16).padStart(64, '0');
    expect(highS > '8').toBe(true);
    const signature = `3045${VECTOR.signature.slice(4, 72)}022100${highS}`;
    expect(verifyStamp(readStamp({ ...VECTOR, signature }), SIGNED_TEXT)).toBe(true);
  });

  const { publicKey, scheme, signature } = VECTOR;
  const text = JSON.stringify(VECTOR);
  it.each([
    ['with its members in another order', stampHeader({ signature, publicKey, scheme })],
    [
      'with padding',
      Buffer.from(text).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    ],
    ['with spaces', encodeBase64url(JSON.stringify(VECTOR, null, 2))],
    ['with a key in upper case', stampHeader({ ...VECTOR, publicKey: publicKey.toUpperCase() })],
    [
      'with a signature in upper case',
      stampHeader({ ...VECTOR, signature: signature.toUpperCase() }),
    ],
    ['of 1,024 characters', encodeBase64url(text.padEnd(768))],
  ])('is valid %s', (_, value) => {
    const stamp = parseStamp(value);
    expect(stamp?.publicKey).toBe(publicKey);
    expect(verifyStamp(stamp as Stamp, SIGNED_TEXT)).toBe(true);
  });
});

describe('malformed stamps', () => {
  const { publicKey, scheme, signature } = VECTOR;
  const text = JSON.stringify(VECTOR);
  const fullUncompressedPoint = uncompressedPoint(publicKey);
  const [r, s] = [signature.slice(8, 72), signature.slice(76)];
  const derInteger = (hex: string) => `02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`;
  const derSequence = (hex: string) => `30${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`;
  const derCase = (name: string, hex: string): [string, string] => [
    name,
    stampHeader({ ...VECTOR, signature: hex }),
  ];
  it.each([
    ['an empty text', ''],
    ['the fixed signature of the sandbox', 'sandbox-valid-signature'],
    ['1,025 characters', encodeBase64url(text.padEnd(769))],
    ['plain base64', `${Buffer.from(`${text}   `).toString('base64').slice(0, -4)}+/==`],
    ['too much padding', `${encodeBase64url(text)}===`],
    ['padding in the middle', encodeBase64url(text).replace('I', '=')],
    ['an impossible length of base64', `${encodeBase64url(text.padEnd(336))}A`],
    ['the JSON itself', text],
    ['invalid JSON', encodeBase64url('{publicKey}')],
    ['JSON followed by text', encodeBase64url(`${text}x`)],
    ['two values', encodeBase64url(text + text)],
    ['a byte order mark', encodeBase64url(`\ufeff${text}`)],
    ['null', stampHeader(null)],
    ['a number', stampHeader(7)],
    ['a string', stampHeader(text)],
    ['a list', stampHeader([publicKey, scheme, signature])],
    ['no key', stampHeader({ scheme, signature })],
    ['no scheme', stampHeader({ publicKey, signature })],
    ['no signature', stampHeader({ publicKey, scheme })],
    ['a fourth member', stampHeader({ ...VECTOR, more: 1 })],
    ['members of a prototype', encodeBase64url(`{"__proto__":${text}}`)],
    ['another scheme', stampHeader({ ...VECTOR, scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1' })],
    ['a scheme that is not a string', stampHeader({ ...VECTOR, scheme: [scheme] })],
    ['a key that is not a string', stampHeader({ ...VECTOR, publicKey: [publicKey] })],
    ['a signature that is not a string', stampHeader({ ...VECTOR, signature: [signature] })],
    ['a member twice', encodeBase64url(text.replace('{', `{"publicKey":"${publicKey}",`))],
    [
      'a duplicate member with an escaped name',
      encodeBase64url(text.replace('{', `{"publicKe\\u0079":"02",`)),
    ],
    ['a scheme twice', encodeBase64url(text.replace('}', `,"scheme":"${scheme}"}`))],
    ['an escaped member name', encodeBase64url(text.replace('publicKey', 'publicKe\\u0079'))],
    ['an uncompressed key', stampHeader({ ...VECTOR, publicKey: fullUncompressedPoint })],
    ['a key without its first byte', stampHeader({ ...VECTOR, publicKey: publicKey.slice(2) })],
    ['a key of another form', stampHeader({ ...VECTOR, publicKey: `05${publicKey.slice(2)}` })],
    ['a key that is not hexadecimal', stampHeader({ ...VECTOR, publicKey: `03${'g'.repeat(64)}` })],
    ['a point off the curve', stampHeader({ ...VECTOR, publicKey: `02${'0'.repeat(63)}1` })],
    [
      'a coordinate outside the field',
      stampHeader({ ...VECTOR, publicKey: `02${'f'.repeat(64)}` }),
    ],
    derCase('an empty signature', ''),
    derCase('an odd number of hex digits', signature.slice(1)),
    derCase('a character outside hex', signature.replace('4', 'g')),
    derCase('r and s without DER', r + s),
    derCase('a trailing byte', `${signature}00`),
    derCase('a trailing byte within the length', derSequence(`${derInteger(r)}${derInteger(s)}00`)),
    derCase('a third integer', derSequence(derInteger(r) + derInteger(s) + derInteger('01'))),
    derCase('one integer', derSequence(derInteger(r))),
    derCase('a long length', `3081${signature.slice(2)}`),
    derCase('an indefinite length', `3080${signature.slice(4)}0000`),
    derCase(
      'an integer with a long length',
      derSequence(`0281${derInteger(r).slice(2)}${derInteger(s)}`),
    ),
    derCase(
      'an integer with unnecessary padding',
      derSequence(derInteger(`00${r}`) + derInteger(s)),
    ),
    derCase('a negative integer', derSequence(derInteger(`ff${r.slice(2)}`) + derInteger(s))),
    derCase('an empty integer', derSequence(derInteger('') + derInteger(s))),
    derCase('an integer of 34 bytes', derSequence(derInteger(`0080${r}`) + derInteger(s))),
    derCase('another type', derSequence(`03${derInteger(r).slice(2)}${derInteger(s)}`)),
    derCase('a set', signature.replace(/^30/, '31')),
    derCase('a truncated sequence', signature.slice(0, -2)),
  ])('are rejected: %s', (_, value) => {
    expect(parseStamp(value)).toBeUndefined();
  });

  it('do not include signatures with numbers out of range, which fail the verification', () => {
    const order = `00${ORDER.toString(16)}`;
    for (const invalidInteger of ['00', order, `00${'f'.repeat(64)}`]) {
      for (const signature of [
        derInteger(invalidInteger) + derInteger(s),
        derInteger(r) + derInteger(invalidInteger),
      ]) {
        expect(
          verifyStamp(readStamp({ ...VECTOR, signature: derSequence(signature) }), SIGNED_TEXT),
        ).toBe(false);
      }
    }
  });
});

interface Vectors {
  groups: { publicKey: string; tests: string[] }[];
}

const { groups } = JSON.parse(
  readFileSync(
    new URL('../../../../test/vectors/wycheproof-p256-sha256.json', import.meta.url),
    'utf8',
  ),
) as Vectors;
const bytesOf = (hex: string) => Buffer.from(hex === '-' ? '' : hex, 'hex');

describe('Wycheproof', () => {
  const cases = groups.flatMap(({ publicKey, tests }) =>
    tests.map((line) => ({ publicKey, parts: line.split(' ') })),
  );

  it.each(['valid', 'invalid', 'acceptable'])(
    'returns the expected result for %s vectors',
    (result) => {
      const matchingCases = cases.filter(({ parts }) => parts[1] === result);
      expect(matchingCases.length).toBeGreaterThan(0);
      const unexpectedResults = matchingCases.filter(
        ({ publicKey, parts: [, , message = '', signature] }) => {
          const point = compressedPoint(publicKey);
          expect(point).toBeDefined();
          const hex = signature === '-' ? '' : signature;
          const stamp = parseStamp(
            stampHeader({ publicKey: point, scheme: SCHEME, signature: hex }),
          );
          const isVerified = stamp !== undefined && verifyStamp(stamp, bytesOf(message));
          // Encodings that other implementations accept but that are not DER are rejected.
          return isVerified !== (result === 'valid');
        },
      );
      expect(unexpectedResults.map(({ parts }) => parts.join(' '))).toEqual([]);
    },
  );

  it('has all its vectors tested', () => {
    expect(cases.map(({ parts: [number] }) => Number(number)).toSorted((a, b) => a - b)).toEqual(
      Array.from({ length: 387 }, (_, index) => index + 1),
    );
  });
});

describe('stamps of clients', () => {
  const payload = '{"organizationId":"é","parameters":{}}';

  it.each(['node', 'purejs', 'browser'] as const)(
    'created by the library in %s are valid',
    async (runtime) => {
      vi.stubGlobal('crypto', webcrypto);
      for (let round = 0; round < 20; round++) {
        const { publicKey, privateKey } = generateKeys();
        const options = { apiPublicKey: publicKey, apiPrivateKey: privateKey };
        const stamper = new ApiKeyStamper({ ...options, runtimeOverride: runtime });
        const stamp = parseStamp((await stamper.stamp(payload)).stampHeaderValue) as Stamp;
        expect(stamp.publicKey).toBe(publicKey);
        expect(verifyStamp(stamp, payload)).toBe(true);
        expect(verifyStamp(stamp, payload.replace('é', 'e'))).toBe(false);
      }
      vi.unstubAllGlobals();
    },
  );

  it('created by Node.js are valid, with a low or a high S', () => {
    const counts = { highS: 0, lowS: 0 };
    for (let round = 0; round < 40; round++) {
      const { publicKey, privateKey } = generateKeys();
      const pair = p256Pair(Buffer.from(privateKey, 'hex')) as NonNullable<
        ReturnType<typeof p256Pair>
      >;
      const key = createPrivateKey({ format: 'jwk', key: p256Jwk(pair) });
      const signature = sign('sha256', Buffer.from(payload), key);
      const rawSignature = sign('sha256', Buffer.from(payload), { key, dsaEncoding: 'ieee-p1363' });
      counts[rawSignature[32]! >= 0x80 ? 'highS' : 'lowS']++;
      const stamp = readStamp({ publicKey, scheme: SCHEME, signature: signature.toString('hex') });
      expect(verifyStamp(stamp, payload)).toBe(true);
      expect(stamp.key.equals(createPublicKey(key))).toBe(true);
    }
    expect(Math.min(counts.highS, counts.lowS)).toBeGreaterThan(0);
  });

  it('are parsed with more keys than the cache holds', () => {
    const publicKeys = Array.from({ length: 1_100 }, () => generateKeys().publicKey);
    const readStampOf = (publicKey: string) => readStamp({ ...VECTOR, publicKey });
    const firstStamp = readStampOf(publicKeys[0] as string);
    for (const publicKey of publicKeys) expect(readStampOf(publicKey).publicKey).toBe(publicKey);
    const secondStamp = readStampOf(publicKeys[0] as string);
    expect(secondStamp.key).not.toBe(firstStamp.key);
    expect(secondStamp.key.equals(firstStamp.key)).toBe(true);
    expect(readStampOf(publicKeys[0] as string).key).toBe(secondStamp.key);
  });
});
