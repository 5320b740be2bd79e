import { describe, expect, it } from 'vitest';
import { readBasic } from './authenticator.ts';

const basic = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('readBasic', () => {
  it('splits at the first colon', () => {
    expect(readBasic(basic('id:se:cret'))).toEqual({ id: 'id', secret: 'se:cret' });
    expect(readBasic(basic('id:secret').replace('Basic', 'basic'))).toEqual({
      id: 'id',
      secret: 'secret',
    });
  });

  it.each([
    [undefined],
    [''],
    ['Basic'],
    ['Basic '],
    ['Basic !!!'],
    ['Bearer abc'],
    [basic('no colon')],
    [basic(':no id')],
    [basic('nul\0:x')],
    [`Basic ${'A'.repeat(3000)}`],
  ])('rejects %j', (header) => {
    expect(readBasic(header)).toBeNull();
  });
});
