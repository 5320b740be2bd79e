// Credentials in the header of HTTP Basic.
import { describe, expect, it } from 'vitest';
import { readBasic } from './authenticator.ts';

const basicHeader = (text: string) => `Basic ${Buffer.from(text).toString('base64')}`;

describe('readBasic', () => {
  it('splits at the first colon, and accepts the scheme in lower case', () => {
    expect(readBasic(basicHeader('id:se:cret'))).toEqual({ id: 'id', secret: 'se:cret' });
    expect(readBasic(basicHeader('id:secret').replace('Basic', 'basic'))).toEqual({
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
    [basicHeader('no colon')],
    [basicHeader(':no id')],
    [basicHeader('nul\0:x')],
    [`Basic ${'A'.repeat(3000)}`],
  ])('rejects %j', (header) => {
    expect(readBasic(header)).toBeNull();
  });
});
