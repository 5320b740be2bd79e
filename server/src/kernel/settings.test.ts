// Settings with a whole number: their help and their validation have the same range.

import { Type } from '@sinclair/typebox';
import { expect, it } from 'vitest';
import { numberSetting, secondsSetting, settingsIn } from './settings.ts';

it('a number is validated in the range that its help states', () => {
  const range = { min: 8, max: 999, unit: ' of days' };
  const { help, validate } = numberSetting(range, 'days until deletion, {range}. Then gone');
  expect(help).toBe('days until deletion, 8 to 999. Then gone');
  for (const text of ['8', '999', '030']) expect(validate(text)).toBeUndefined();
  for (const text of ['7', '1000', '-9', '9.5', '1e2', ' 9', '', 'x', '0030'])
    expect(validate(text)).toBe('must be a whole number of days from 8 to 999');
});

it('seconds of a connector have a range in their help', () => {
  const setting = { env: 'MAX_AGE', fallback: '60', help: 'maximum age in seconds, {range}' };
  const [leaf] = settingsIn(Type.Object({ maxAgeMs: secondsSetting(setting) }));
  expect(leaf?.help).toBe('maximum age in seconds, 1 to 99999999');
  expect(leaf?.read('99999999', '/')).toBe(99_999_999_000);
  expect(leaf?.validate('99999999')).toBeUndefined();
  expect(leaf?.validate('0')).toBe('must be a whole number of seconds from 1 to 99999999');
});
