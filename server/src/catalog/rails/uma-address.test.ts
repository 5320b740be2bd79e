import { describe, expect, it } from 'vitest';
import { readUma, umaAddresses } from './uma-address.ts';

describe('readUma', () => {
  it.each([
    ['$Ada@Pay.Example', { address: '$ada@pay.example', host: 'pay.example' }],
    ['$a.b-c_d+1@localhost:3000', { address: '$a.b-c_d+1@localhost:3000', host: 'localhost:3000' }],
  ])('reads %s', (text, parts) => {
    expect(readUma(text)).toEqual(parts);
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
  ])('finds no address in "%s"', (text) => {
    expect(readUma(text)).toBeUndefined();
  });
});

describe('umaAddresses', () => {
  it('reads what is given and names every one that is none', () => {
    expect(umaAddresses({ a: '$a@b.example', b: undefined })).toEqual({
      a: { address: '$a@b.example', host: 'b.example' },
    });
    const read = () => umaAddresses({ a: 'x', b: '$b@c.example', c: 'y' });
    expect(read).toThrow(expect.objectContaining({ code: 'INVALID_UMA_ADDRESS' }));
    expect(read).toThrow('Invalid request: a, c');
  });
});
