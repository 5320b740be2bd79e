// Suggestions for mistyped names.
import { expect, it } from 'vitest';
import { closest, distance } from './suggest.ts';

it.each([
  ['custmers', 'customers', 1],
  ['lsit', 'list', 1],
  ['', 'abc', 3],
  ['same', 'same', 0],
])('%s is a distance from %s: %i', (one, other, expectedDistance) => {
  expect(distance(one, other)).toBe(expectedDistance);
});

it.each([
  ['Custmers', 'customers'],
  ['quo', 'quotes'],
  ['xyz', undefined],
  ['q', undefined],
])('%s was meant to be %s', (text, name) => {
  expect(closest(text, ['cards', 'customers', 'quotes'])).toBe(name);
});
