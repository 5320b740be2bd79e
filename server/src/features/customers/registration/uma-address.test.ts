import { describe, expect, it } from 'vitest';
import { drawUmaAddress, umaAddressOf, umaProblem } from './uma.ts';

describe('umaProblem', () => {
  it.each(['$ada@pay.example', '$a.b-c_d+1@pay.example', `$${'a'.repeat(63)}@pay.example`])(
    'admits %s',
    (address) => {
      expect(umaProblem(address, 'pay.example')).toBeNull();
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
  ])('refuses %s', (address) => {
    expect(umaProblem(address, 'pay.example')).toBeTypeOf('string');
  });

  it('draws addresses that it admits', () => {
    const world = {
      now: () => 0,
      random: (n: number) => Buffer.alloc(n, 255),
      http: () => never(),
      stream: () => never(),
      call: () => never(),
    };
    const address = drawUmaAddress(world, 'pay.example');
    expect(umaProblem(address, 'pay.example')).toBeNull();
    expect(umaAddressOf('$ADA@Pay.Example')).toBe('$ada@pay.example');
  });
});

const never = () => Promise.reject(new Error('no network here'));
