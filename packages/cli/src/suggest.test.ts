import { expect, it } from 'vitest';
import { closest, distance } from './suggest.ts';

it.each([
  ['custmers', 'customers', 1],
  ['lsit', 'list', 1],
  ['', 'abc', 3],
  ['same', 'same', 0],
])('%s is a distance from %s: %i', (one, other, away) => {
  expect(distance(one, other)).toBe(away);
});

it.each([
  ['Custmers', 'customers'],
  ['quo', 'quotes'],
  ['xyz', undefined],
  ['q', undefined],
])('%s was meant to be %s', (text, name) => {
  expect(closest(text, ['cards', 'customers', 'quotes'])).toBe(name);
});
