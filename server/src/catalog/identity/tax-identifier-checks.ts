// Check digits of tax identifiers of natural persons. Each function takes the compact form of a
// number (upper case, no separators) in the format of its country. Only algorithms published by the
// issuing authority are included. Other countries are validated by format.
import { isCpf } from '../accounts/checks.ts';

type Check = (compact: string) => boolean;

const digit = (text: string, index: number): number => text.charCodeAt(index) - 48;

/** Sum of digit × weight for all weights, starting with the digit at `from`. */
const sumOf = (text: string, weights: readonly number[], from = 0): number =>
  weights.reduce((sum, weight, index) => sum + weight * digit(text, from + index), 0);

/** Luhn (ISO/IEC 7812-1). */
function luhn(text: string): boolean {
  let sum = 0;
  for (let index = 0; index < text.length; index++) {
    const value = digit(text, text.length - 1 - index) * (index % 2 ? 2 : 1);
    sum += value > 9 ? value - 9 : value;
  }
  return sum % 10 === 0;
}

/** ISO/IEC 7064 MOD 11,10. */
function mod11And10(text: string): boolean {
  let product = 10;
  for (let index = 0; index < text.length - 1; index++) {
    const sum = (digit(text, index) + product) % 10 || 10;
    product = (sum * 2) % 11;
  }
  return (11 - product) % 10 === digit(text, text.length - 1);
}

/** The digit after the weighted digits is their sum, modulo 11 and then modulo 10. */
const mod11Then10 =
  (weights: readonly number[]): Check =>
  (text) =>
    (sumOf(text, weights) % 11) % 10 === digit(text, weights.length);

/** The last digit is 11 minus the weighted sum modulo 11. The results 10 and 11 become 0. */
const complementOf11 =
  (weights: readonly number[]): Check =>
  (text) => {
    const remainder = 11 - (sumOf(text, weights) % 11);
    return (remainder > 9 ? 0 : remainder) === digit(text, weights.length);
  };

/** The last digit completes the weighted sum to a multiple of 10. */
const complementOf10 =
  (weights: readonly number[]): Check =>
  (text) =>
    (10 - (sumOf(text, weights) % 10)) % 10 === digit(text, weights.length);

/** Estonia and Lithuania: a second set of weights applies if the first result is 10. */
function checkBaltic(text: string): boolean {
  const firstRemainder = sumOf(text, [1, 2, 3, 4, 5, 6, 7, 8, 9, 1]) % 11;
  const secondRemainder = sumOf(text, [3, 4, 5, 6, 7, 8, 9, 1, 2, 3]) % 11;
  return (firstRemainder < 10 ? firstRemainder : secondRemainder % 10) === digit(text, 10);
}

function checkBelgian(text: string): boolean {
  const [number, check] = [Number(text.slice(0, 9)), Number(text.slice(9))];
  // For persons born in 2000 or later, the number is prefixed with 2.
  return [number, 2_000_000_000 + number].some((each) => 97 - (each % 97) === check);
}

const SPANISH_CHECK_LETTERS = 'TRWAGMYFPDXBNJZSQVHLCKE';

/** DNI and NIE. Numbers with the letters K, L and M have no published check. */
function checkSpanish(text: string): boolean {
  if (/^[KLM]/.test(text)) return true;
  const number = text.slice(0, 8).replace(/^[XYZ]/, (letter) => String('XYZ'.indexOf(letter)));
  return SPANISH_CHECK_LETTERS[Number(number) % 23] === text[8];
}

const FINNISH_CHECK_CHARACTERS = '0123456789ABCDEFHJKLMNPRSTUVWXY';

/** With or without the century sign. */
const checkFinnish: Check = (text) =>
  FINNISH_CHECK_CHARACTERS[Number(text.slice(0, 6) + text.slice(-4, -1)) % 31] === text.at(-1);

const checkFrench: Check = (text) => Number(text.slice(0, 10)) % 511 === Number(text.slice(10));

function checkHungarian(text: string): boolean {
  return sumOf(text, [1, 2, 3, 4, 5, 6, 7, 8, 9]) % 11 === digit(text, 9);
}

function checkIrish(text: string): boolean {
  const secondLetter = text[8] === undefined || text[8] === 'W' ? 0 : text.charCodeAt(8) - 64;
  const remainder = (sumOf(text, [8, 7, 6, 5, 4, 3, 2]) + 9 * secondLetter) % 23;
  return 'WABCDEFGHIJKLMNOPQRSTUV'[remainder] === text[7];
}

const ITALIAN_ODD_VALUES = [
  1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16, 10, 22, 25, 24, 23,
];

function checkItalian(text: string): boolean {
  const valueOfChar = (char: string) =>
    /\d/.test(char) ? Number(char) : char.charCodeAt(0) - 'A'.charCodeAt(0);
  const sum = [...text.slice(0, 15)].reduce(
    (total, char, index) =>
      total + (index % 2 ? valueOfChar(char) : (ITALIAN_ODD_VALUES[valueOfChar(char)] as number)),
    0,
  );
  return String.fromCharCode(65 + (sum % 26)) === text[15];
}

const checkDutch: Check = (text) => sumOf(text, [9, 8, 7, 6, 5, 4, 3, 2, -1]) % 11 === 0;

const checkPesel = complementOf10([1, 3, 7, 9, 1, 3, 7, 9, 1, 3]);
const checkPolish: Check = (text) =>
  text.length === 11
    ? checkPesel(text)
    : sumOf(text, [6, 5, 7, 2, 3, 4, 5, 6, 7]) % 11 === digit(text, 9);

function checkRomanian(text: string): boolean {
  const remainder = sumOf(text, [2, 7, 9, 1, 4, 6, 3, 5, 8, 2, 7, 9]) % 11;
  return (remainder === 10 ? 1 : remainder) === digit(text, 12);
}

/** Ten digits, or twelve with the century. */
const checkSwedish: Check = (text) => luhn(text.slice(-10));

function checkRussian(text: string): boolean {
  const weights = [3, 7, 2, 4, 10, 3, 5, 9, 4, 6, 8];
  return mod11Then10(weights.slice(1))(text) && mod11Then10(weights)(text);
}

/** Number of a citizen, 11 digits. Other tax numbers have 10 digits and no check. */
function checkTurkish(text: string): boolean {
  if (text.length === 10) return true;
  const oddSum = sumOf(text, [1, 0, 1, 0, 1, 0, 1, 0, 1]);
  const evenSum = sumOf(text, [0, 1, 0, 1, 0, 1, 0, 1]);
  const tenth = (((oddSum * 7 - evenSum) % 10) + 10) % 10;
  return tenth === digit(text, 9) && (oddSum + evenSum + tenth) % 10 === digit(text, 10);
}

function checkArgentine(text: string): boolean {
  const remainder = 11 - (sumOf(text, [5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return remainder % 11 === digit(text, 10) && remainder !== 10;
}

function checkChilean(text: string): boolean {
  const number = text.slice(0, -1).padStart(8, '0');
  const remainder = 11 - (sumOf(number, [3, 2, 7, 6, 5, 4, 3, 2]) % 11);
  return '0123456789K0'[remainder === 11 ? 11 : remainder] === text.at(-1);
}

function checkHongKong(text: string): boolean {
  const letters = text.slice(0, -7).padStart(2, ' ');
  const valueOfChar = (char: string) => (char === ' ' ? 36 : char.charCodeAt(0) - 55);
  const letterSum = 9 * valueOfChar(letters[0] as string) + 8 * valueOfChar(letters[1] as string);
  const remainder =
    (11 - ((letterSum + sumOf(text, [7, 6, 5, 4, 3, 2], text.length - 7)) % 11)) % 11;
  return (remainder === 10 ? 'A' : String(remainder)) === text.at(-1);
}

function checkJapanese(text: string): boolean {
  const remainder = sumOf(text, [6, 5, 4, 3, 2, 7, 6, 5, 4, 3, 2]) % 11;
  return (remainder <= 1 ? 0 : 11 - remainder) === digit(text, 11);
}

/** Nine digits. Older numbers have eight digits and no check. */
const checkAustralian: Check = (text) =>
  text.length === 8 || sumOf(text, [1, 4, 3, 7, 5, 8, 6, 9, 10]) % 11 === 0;

function checkNewZealand(text: string): boolean {
  const number = text.padStart(9, '0');
  const firstDigit = (11 - (sumOf(number, [3, 2, 7, 6, 5, 4, 3, 2]) % 11)) % 11;
  const remainder =
    firstDigit < 10 ? firstDigit : (11 - (sumOf(number, [7, 4, 3, 2, 5, 2, 7, 6]) % 11)) % 11;
  return remainder === digit(number, 8);
}

function checkThai(text: string): boolean {
  if (text.length !== 13) return true;
  return (
    (11 - (sumOf(text, [13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2]) % 11)) % 10 === digit(text, 12)
  );
}

export const TAX_IDENTIFIER_CHECKS: Readonly<Record<string, Check>> = {
  AR: checkArgentine,
  AU: checkAustralian,
  BE: checkBelgian,
  BR: isCpf,
  CA: luhn,
  CH: complementOf10([1, 3, 1, 3, 1, 3, 1, 3, 1, 3, 1, 3]),
  CL: checkChilean,
  DE: mod11And10,
  EE: checkBaltic,
  ES: checkSpanish,
  FI: checkFinnish,
  FR: checkFrench,
  GR: mod11Then10([256, 128, 64, 32, 16, 8, 4, 2]),
  HK: checkHongKong,
  HR: mod11And10,
  HU: checkHungarian,
  IE: checkIrish,
  IL: luhn,
  IT: checkItalian,
  JP: checkJapanese,
  LT: checkBaltic,
  NL: checkDutch,
  NZ: checkNewZealand,
  PL: checkPolish,
  PT: complementOf11([9, 8, 7, 6, 5, 4, 3, 2]),
  RO: checkRomanian,
  RU: checkRussian,
  SE: checkSwedish,
  TH: checkThai,
  TR: checkTurkish,
};
