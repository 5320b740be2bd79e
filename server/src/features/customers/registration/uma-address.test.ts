// Rules, generation and normalization of the UMA addresses of customers.
import { describe, expect, it } from 'vitest';
import { generateUmaAddress, normalizeUmaAddress, umaAddressError } from './uma.ts';

describe('umaAddressError', () => {
  it.each(['$ada@pay.example', '$a.b-c_d+1@pay.example', `$${'a'.repeat(63)}@pay.example`])(
    'accepts %s',
    (address) => {
      expect(umaAddressError(address, 'pay.example')).toBeNull();
    },
  );

  it.each([
    'ada@pay.example',
    '$@pay.example',
    '$ada',
    '$ada lovelace@pay.example',
    '$ada@elsewhere.example',
    '$ada@b@pay.example',
    '$Ada@pay.example',
    `$${'a'.repeat(64)}@pay.example`,
  ])('rejects %s', (address) => {
    expect(umaAddressError(address, 'pay.example')).toBeTypeOf('string');
  });

  it('accepts generated addresses', () => {
    const effects = {
      now: () => 0,
      random: (n: number) => Buffer.alloc(n, 255),
      http: () => rejectRequest(),
      stream: () => rejectRequest(),
      call: () => rejectRequest(),
    };
    const address = generateUmaAddress(effects, 'pay.example');
    expect(umaAddressError(address, 'pay.example')).toBeNull();
  });
});

describe('normalizeUmaAddress', () => {
  it('converts an address to lower case', () => {
    expect(normalizeUmaAddress('$ADA@Pay.Example')).toBe('$ada@pay.example');
  });
});

const rejectRequest = () => Promise.reject(new Error('This test permits no request.'));
