// Valid and invalid stamps: the published vector, the client library in each of its runtimes,
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
const SIGNED = '{"a":1}';

const encoded = (text: string | Uint8Array) => Buffer.from(text).toString('base64url');
const header = (stamp: unknown) => encoded(JSON.stringify(stamp));
const read = (stamp: unknown) => parseStamp(header(stamp)) as Stamp;

describe('the published test vector', () => {
  it('does not verify for another text', () => {
    const stamp = read(VECTOR);
    expect(stamp.publicKey).toBe(VECTOR.publicKey);
    expect(verifyStamp(stamp, SIGNED)).toBe(true);
    expect(verifyStamp(stamp, Buffer.from(SIGNED))).toBe(true);
    for (const other of ['{"a":2}', '{"a": 1}', ' {"a":1}', '{"a":1}\n', '']) {
      expect(verifyStamp(stamp, other)).toBe(false);
    }
  });

  it('is valid with a high S as well', () => {
    const s = BigInt(`0x${VECTOR.signature.slice(-64)}`);
    const high = (ORDER - s).toString(16).padStart(64, '0');
    expect(high > '8').toBe(true);
    const signature = `3045${VECTOR.signature.slice(4, 72)}022100${high}`;
    expect(verifyStamp(read({ ...VECTOR, signature }), SIGNED)).toBe(true);
  });

  const { publicKey, scheme, signature } = VECTOR;
  const text = JSON.stringify(VECTOR);
  it.each([
    ['in another order', header({ signature, publicKey, scheme })],
    [
      'with padding',
      Buffer.from(text).toString('base64').replaceAll('+', '-').replaceAll('/', '_'),
    ],
    ['with spaces', encoded(JSON.stringify(VECTOR, null, 2))],
    ['in capitals', header({ ...VECTOR, publicKey: publicKey.toUpperCase() })],
    ['with a signature in capitals', header({ ...VECTOR, signature: signature.toUpperCase() })],
    ['of 1,024 characters', encoded(text.padEnd(768))],
  ])('reads %s', (_, value) => {
    const stamp = parseStamp(value);
    expect(stamp?.publicKey).toBe(publicKey);
    expect(verifyStamp(stamp as Stamp, SIGNED)).toBe(true);
  });
});

describe('malformed stamps', () => {
  const { publicKey, scheme, signature } = VECTOR;
  const text = JSON.stringify(VECTOR);
  const fullUncompressedPoint = uncompressedPoint(publicKey);
  const [r, s] = [signature.slice(8, 72), signature.slice(76)];
  const integer = (hex: string) => `02${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`;
  const sequence = (hex: string) => `30${(hex.length / 2).toString(16).padStart(2, '0')}${hex}`;
  const der = (name: string, hex: string): [string, string] => [
    name,
    header({ ...VECTOR, signature: hex }),
  ];
  it.each([
    ['nothing', ''],
    ['a scripted signature', 'sandbox-valid-signature'],
    ['1,025 characters', encoded(text.padEnd(769))],
    ['plain base64', `${Buffer.from(`${text}   `).toString('base64').slice(0, -4)}+/==`],
    ['too much padding', `${encoded(text)}===`],
    ['padding in the middle', encoded(text).replace('I', '=')],
    ['a length that base64 never has', `${encoded(text.padEnd(336))}A`],
    ['the JSON itself', text],
    ['no JSON', encoded('{publicKey}')],
    ['JSON that goes on', encoded(`${text}x`)],
    ['two values', encoded(text + text)],
    ['a byte order mark', encoded(`\ufeff${text}`)],
    ['null', header(null)],
    ['a number', header(7)],
    ['a text', header(text)],
    ['a list', header([publicKey, scheme, signature])],
    ['no key', header({ scheme, signature })],
    ['no scheme', header({ publicKey, signature })],
    ['no signature', header({ publicKey, scheme })],
    ['a fourth member', header({ ...VECTOR, more: 1 })],
    ['members of a prototype', encoded(`{"__proto__":${text}}`)],
    ['another scheme', header({ ...VECTOR, scheme: 'SIGNATURE_SCHEME_TK_API_SECP256K1' })],
    ['a scheme that is not a string', header({ ...VECTOR, scheme: [scheme] })],
    ['a key that is not a string', header({ ...VECTOR, publicKey: [publicKey] })],
    ['a signature that is not a string', header({ ...VECTOR, signature: [signature] })],
    ['a member twice', encoded(text.replace('{', `{"publicKey":"${publicKey}",`))],
    ['a member twice, spelled otherwise', encoded(text.replace('{', `{"publicKe\\u0079":"02",`))],
    ['a scheme twice', encoded(text.replace('}', `,"scheme":"${scheme}"}`))],
    ['an escape', encoded(text.replace('publicKey', 'publicKe\\u0079'))],
    ['a whole key', header({ ...VECTOR, publicKey: fullUncompressedPoint })],
    ['a key without its first byte', header({ ...VECTOR, publicKey: publicKey.slice(2) })],
    ['a key of another form', header({ ...VECTOR, publicKey: `05${publicKey.slice(2)}` })],
    ['a key that is not hexadecimal', header({ ...VECTOR, publicKey: `03${'g'.repeat(64)}` })],
    ['a point off the curve', header({ ...VECTOR, publicKey: `02${'0'.repeat(63)}1` })],
    ['a point beyond the field', header({ ...VECTOR, publicKey: `02${'f'.repeat(64)}` })],
    der('an empty signature', ''),
    der('half a byte', signature.slice(1)),
    der('no hex', signature.replace('4', 'g')),
    der('r and s without DER', r + s),
    der('a byte behind', `${signature}00`),
    der('a byte behind, counted', sequence(`${integer(r)}${integer(s)}00`)),
    der('a third integer', sequence(integer(r) + integer(s) + integer('01'))),
    der('one integer', sequence(integer(r))),
    der('a long length', `3081${signature.slice(2)}`),
    der('no definite length', `3080${signature.slice(4)}0000`),
    der('an integer with a long length', sequence(`0281${integer(r).slice(2)}${integer(s)}`)),
    der('an integer without need padded', sequence(integer(`00${r}`) + integer(s))),
    der('a negative integer', sequence(integer(`ff${r.slice(2)}`) + integer(s))),
    der('an empty integer', sequence(integer('') + integer(s))),
    der('an integer of 34 bytes', sequence(integer(`0080${r}`) + integer(s))),
    der('another type', sequence(`03${integer(r).slice(2)}${integer(s)}`)),
    der('a set', signature.replace(/^30/, '31')),
    der('a sequence cut short', signature.slice(0, -2)),
  ])('is %s', (_, value) => {
    expect(parseStamp(value)).toBeUndefined();
  });

  it('do not include signatures with numbers out of range, which fail the verification', () => {
    const order = `00${ORDER.toString(16)}`;
    for (const wrong of ['00', order, `00${'f'.repeat(64)}`]) {
      for (const signature of [integer(wrong) + integer(s), integer(r) + integer(wrong)]) {
        expect(verifyStamp(read({ ...VECTOR, signature: sequence(signature) }), SIGNED)).toBe(
          false,
        );
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
const bytes = (hex: string) => Buffer.from(hex === '-' ? '' : hex, 'hex');

describe('Wycheproof', () => {
  const cases = groups.flatMap(({ publicKey, tests }) =>
    tests.map((line) => ({ publicKey, parts: line.split(' ') })),
  );

  it.each(['valid', 'invalid', 'acceptable'])(
    'gives the expected result for %s vectors',
    (result) => {
      const chosen = cases.filter(({ parts }) => parts[1] === result);
      expect(chosen.length).toBeGreaterThan(0);
      const otherwise = chosen.filter(({ publicKey, parts: [, , message = '', signature] }) => {
        const point = compressedPoint(publicKey);
        expect(point).toBeDefined();
        const hex = signature === '-' ? '' : signature;
        const stamp = parseStamp(header({ publicKey: point, scheme: SCHEME, signature: hex }));
        const holds = stamp !== undefined && verifyStamp(stamp, bytes(message));
        // Encodings that other implementations accept but that are not DER are rejected.
        return holds !== (result === 'valid');
      });
      expect(otherwise.map(({ parts }) => parts.join(' '))).toEqual([]);
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

  it('created by Node.js are valid, half of them with a high S', () => {
    const high = { yes: 0, no: 0 };
    for (let round = 0; round < 40; round++) {
      const { publicKey, privateKey } = generateKeys();
      const pair = p256Pair(Buffer.from(privateKey, 'hex')) as NonNullable<
        ReturnType<typeof p256Pair>
      >;
      const key = createPrivateKey({ format: 'jwk', key: p256Jwk(pair) });
      const signature = sign('sha256', Buffer.from(payload), key);
      const raw = sign('sha256', Buffer.from(payload), { key, dsaEncoding: 'ieee-p1363' });
      high[raw[32]! >= 0x80 ? 'yes' : 'no']++;
      const stamp = read({ publicKey, scheme: SCHEME, signature: signature.toString('hex') });
      expect(verifyStamp(stamp, payload)).toBe(true);
      expect(stamp.key.equals(createPublicKey(key))).toBe(true);
    }
    expect(Math.min(high.yes, high.no)).toBeGreaterThan(0);
  });

  it('with more keys than are cached are valid', () => {
    const all = Array.from({ length: 1_100 }, () => generateKeys().publicKey);
    const stamped = (publicKey: string) => read({ ...VECTOR, publicKey });
    const firstStamp = stamped(all[0] as string);
    for (const publicKey of all) expect(stamped(publicKey).publicKey).toBe(publicKey);
    const secondStamp = stamped(all[0] as string);
    expect(secondStamp.key).not.toBe(firstStamp.key);
    expect(secondStamp.key.equals(firstStamp.key)).toBe(true);
    expect(stamped(all[0] as string).key).toBe(secondStamp.key);
  });
});
