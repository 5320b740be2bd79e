// Conversion of entered durations to ISO 8601.
import { expect, it } from 'vitest';
import { isoDuration } from './duration.ts';

it.each([
  ['2d', 'P2D'],
  ['1w 1d', 'P8D'],
  ['1h30m', 'PT1H30M'],
  ['90S', 'PT90S'],
  ['0s', 'PT0S'],
  ['P2D', 'P2D'],
  ['pt6m', 'PT6M'],
])('%s is converted to %s', (text, iso) => {
  expect(isoDuration(text)).toBe(iso);
});

it.each(['', 'soon', '2', 'P', 'PT', '2d2d', '-1d'])('%j is rejected', (text) => {
  expect(() => isoDuration(text)).toThrow('is not a duration');
});
