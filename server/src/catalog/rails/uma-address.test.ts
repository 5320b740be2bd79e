// Valid and invalid UMA addresses.
import { describe, expect, it } from 'vitest';
import { parseUmaAddress, parseUmaAddresses } from './uma-address.ts';

describe('parseUmaAddress', () => {
  it.each([
    ['$Ada@Pay.Example', { address: '$ada@pay.example', host: 'pay.example' }],
    ['$a.b-c_d+1@localhost:3000', { address: '$a.b-c_d+1@localhost:3000', host: 'localhost:3000' }],
  ])('parses %s', (text, address) => {
    expect(parseUmaAddress(text)).toEqual(address);
  });

  it.each([
    '',
    'ada@pay.example',
    '$@pay.example',
    '$ada',
    '$ada@',
    '$ada@-pay.example',
    '$ada@pay..example',
    '$a da@pay.example',
    `$${'a'.repeat(64)}@pay.example`,
    `$ada@${'a.'.repeat(130)}example`,
  ])('rejects "%s"', (text) => {
    expect(parseUmaAddress(text)).toBeUndefined();
  });
});

describe('parseUmaAddresses', () => {
  it('parses the addresses that are present, and reports every invalid one', () => {
    expect(parseUmaAddresses({ a: '$a@b.example', b: undefined })).toEqual({
      a: { address: '$a@b.example', host: 'b.example' },
    });
    const parse = () => parseUmaAddresses({ a: 'x', b: '$b@c.example', c: 'y' });
    expect(parse).toThrow(expect.objectContaining({ code: 'INVALID_UMA_ADDRESS' }));
    expect(parse).toThrow('Invalid request: a, c');
  });
});
