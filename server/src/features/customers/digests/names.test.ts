// Notations of a name that search treats as equal.
import { expect, it } from 'vitest';
import { normalizeName, wordsOf } from './names.ts';

it.each([
  ['José  María', 'JOSE MARIA'],
  ['  o’Brien-Smith ', 'OBRIEN SMITH'],
  ['Straße & Söhne GmbH', 'STRASSE SOHNE GMBH'],
  ['Łukasz Ørsted', 'LUKASZ ORSTED'],
  ['ΟΔΥΣΣΕΥΣ', 'ΟΔΥΣΣΕΥΣ'],
  ['Οδυσσεύς', 'ΟΔΥΣΣΕΥΣ'],
  ['Ｙａｍａｄａ', 'YAMADA'],
  ['İpek', 'IPEK'],
  ['王小明', '王小明'],
  ['---', ''],
])('normalizeName normalizes %s', (name, expectedName) => {
  expect(normalizeName(name)).toBe(expectedName);
  expect(normalizeName(expectedName)).toBe(expectedName);
});

it('wordsOf lists each word once', () => {
  expect(wordsOf('ADA ADA LOVELACE')).toEqual(['ADA', 'LOVELACE']);
  expect(wordsOf('')).toEqual([]);
});
