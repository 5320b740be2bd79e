// Suggestions for mistyped names.
import { expect, it } from 'vitest';
import { closest, distance } from './suggest.ts';

it.each([
  ['custmers', 'customers', 1],
  ['lsit', 'list', 1],
  ['', 'abc', 3],
  ['same', 'same', 0],
])('the distance from %j to %j is %i', (a, b, expectedDistance) => {
  expect(distance(a, b)).toBe(expectedDistance);
});

it.each([
  ['Custmers', 'customers'],
  ['quo', 'quotes'],
  ['xyz', undefined],
  ['q', undefined],
])('the suggestion for %j is %s', (text, name) => {
  expect(closest(text, ['cards', 'customers', 'quotes'])).toBe(name);
});
