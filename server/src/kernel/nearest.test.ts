// Suggested names by edit distance.
import { describe, expect, it } from 'vitest';
import { nearest } from './nearest.ts';

describe('nearest', () => {
  it.each([
    ['verison', 'version'],
    ['TOKNE', 'token'],
    ['webhoks', 'webhooks'],
    ['remoke', 'revoke'],
    ['lst', 'list'],
  ])('of %s is %s', (text, name) => {
    expect(nearest(text, ['list', 'token', 'revoke', 'version', 'webhooks'])).toBe(name);
  });

  it('is the first of several names with the same distance', () => {
    expect(nearest('cards', ['carda', 'cardb'])).toBe('carda');
  });

  it.each(['xyzzy', 'purse', 'ls', 'versatile', '', 'x'.repeat(90)])(
    'has no match for %j',
    (text) => {
      expect(nearest(text, ['list', 'suspense', 'start', 'version'])).toBeUndefined();
    },
  );
});
