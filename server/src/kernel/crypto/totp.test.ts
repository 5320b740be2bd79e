// Test vectors of RFC 6238 (appendix B, SHA-1) and RFC 4226 (appendix D), and requirements beyond
// them.
import { describe, expect, it } from 'vitest';
import { testEffects } from '../../../test/kit/app/effects.ts';
import { generateSecret, stepOf, toBase32, totpUri } from './totp.ts';

/** The secret of both RFCs: the digits `12345678901234567890`. */
const SECRET = Buffer.from('12345678901234567890').toString('hex');
const STEP_S = 30;

const timeStepAt = (seconds: number) => ({ now: seconds * 1000, after: -1 });

describe('test vectors of RFC 6238', () => {
  it.each([
    [59, '94287082'],
    [1111111109, '07081804'],
    [1111111111, '14050471'],
    [1234567890, '89005924'],
    [2000000000, '69279037'],
    [20000000000, '65353130'],
  ])('match at %i seconds', (seconds, code) => {
    const step = Math.floor(seconds / STEP_S);
    expect(stepOf(SECRET, code, { ...timeStepAt(seconds), digits: 8 })).toBe(step);
    // The shorter code of the same time is its suffix.
    expect(stepOf(SECRET, code.slice(2), timeStepAt(seconds))).toBe(step);
    expect(stepOf(SECRET, code, timeStepAt(seconds))).toBeUndefined();
  });
});

describe('test vectors of RFC 4226', () => {
  const CODES = [
    ...['755224', '287082', '359152', '969429', '338314'],
    ...['254676', '287922', '162583', '399871', '520489'],
  ];
  it.each(CODES.map((code, counter) => [counter, code] as const))(
    'match for the counter %i',
    (counter, code) => {
      expect(stepOf(SECRET, code, timeStepAt(counter * STEP_S))).toBe(counter);
    },
  );
});

describe('a code', () => {
  const NOW = 1111111111;
  const STEP = Math.floor(NOW / STEP_S);
  const CODE = '050471';

  it('is accepted up to one step before and after its time', () => {
    const stepStart = STEP * STEP_S;
    const steps = [-2 * STEP_S, -STEP_S - 1, -STEP_S, 0, 2 * STEP_S - 1, 2 * STEP_S].map((offset) =>
      stepOf(SECRET, CODE, timeStepAt(stepStart + offset)),
    );
    expect(steps).toEqual([undefined, undefined, STEP, STEP, STEP, undefined]);
  });

  it('is rejected after the use of its step or of a later step', () => {
    const now = NOW * 1000;
    const steps = [STEP - 1, STEP, STEP + 1].map((after) => stepOf(SECRET, CODE, { now, after }));
    expect(steps).toEqual([STEP, undefined, undefined]);
  });

  it.each(['', '05047', '0504710', ' 050471', '050 471', '05047a', '٠٥٠٤٧١', '050472'])(
    'is not %j',
    (code) => {
      expect(stepOf(SECRET, code, timeStepAt(NOW))).toBeUndefined();
    },
  );

  it('is valid for one secret only', () => {
    expect(stepOf(SECRET.replace('31', '32'), CODE, timeStepAt(NOW))).toBeUndefined();
  });
});

describe('a secret', () => {
  it('has 160 random bits', () => {
    const generatedSecrets = Array.from({ length: 20 }, () => generateSecret(testEffects()));
    for (const each of generatedSecrets) expect(each).toMatch(/^[0-9a-f]{40}$/);
    expect(new Set(generatedSecrets).size).toBe(20);
  });

  it('can be converted to Base32', () => {
    expect(toBase32(SECRET)).toBe('GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  });
});

describe('the otpauth URI', () => {
  const uriOf = (issuer: string, account: string) => totpUri(SECRET, { issuer, account });

  it('has the format of authenticator apps', () => {
    const url = new URL(uriOf('Shop', 'ada@example.org'));
    expect([url.protocol, url.host, url.pathname]).toEqual([
      'otpauth:',
      'totp',
      '/Shop:ada%40example.org',
    ]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      secret: toBase32(SECRET),
      issuer: 'Shop',
      algorithm: 'SHA1',
      digits: '6',
      period: '30',
    });
  });

  it.each([
    ['Müller & Söhne?', 'person/1 #2'],
    ['50% off', 'a+b@example.org'],
    ['"<x>"', 'ключ'],
  ])('escapes %s and %s', (issuer, account) => {
    const url = new URL(uriOf(issuer, account));
    expect(decodeURIComponent(url.pathname)).toBe(`/${issuer}:${account}`);
    expect(url.searchParams.get('issuer')).toBe(issuer);
    expect(url.searchParams.get('secret')).toBe(toBase32(SECRET));
  });

  it('has one colon in its label, even for names with a colon', () => {
    const label = decodeURIComponent(new URL(uriOf('A:B', 'Customer:1')).pathname);
    expect(label).toBe('/A B:Customer 1');
  });
});
