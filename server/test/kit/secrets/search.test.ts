// The search for secrets finds them in every encoding, and short secrets only as separate words.
import { randomBytes } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { secretList } from './search.ts';

describe('the search', () => {
  const SECRET = randomBytes(72).toString('base64');
  const bytes = Buffer.from(SECRET);
  const KEY = randomBytes(32);
  it.each([
    ['unchanged', `<${SECRET}>`],
    ['in upper case', SECRET.toUpperCase()],
    ['in part', SECRET.slice(3, -3)],
    ['in a URL', `?a=${encodeURIComponent(SECRET)}&b`],
    ['in hexadecimal', `\\x00${bytes.toString('hex')}`],
    ['in base64', `Basic ${Buffer.concat([Buffer.from('a:'), bytes]).toString('base64')}`],
    ['in base64url', Buffer.concat([Buffer.from('{'), bytes]).toString('base64url')],
    ['that is a key, in upper case', KEY.toString('hex').toUpperCase()],
    ['that is a key, in base64', Buffer.concat([KEY, KEY]).toString('base64')],
  ])('finds a secret %s', (_description, text) => {
    const list = secretList();
    list.note('one', SECRET);
    list.note('one', KEY.toString('hex'));
    list.note('another', randomBytes(32).toString('hex'));
    expect(list.find([{ name: 'a place', text: `before ${text} after` }]).leaks).toEqual([
      'one in a place',
    ]);
  });
});

describe('the search for short secrets', () => {
  it.each([
    ['your code is 402913.', true],
    ['{"code":"402913"}', true],
    ['402913', true],
    ['/codes/402913?a', true],
    ['1402913', false],
    ['a402913-0000', false],
    ['09:00:00.402913+00', false],
  ])('in %j finds the code: %s', (text, isFound) => {
    const list = secretList();
    list.recordShortSecret('a code', '402913');
    const { leaks } = list.find([{ name: 'a place', text }]);
    expect(leaks).toEqual(isFound ? ['a code in a place'] : []);
  });
});
