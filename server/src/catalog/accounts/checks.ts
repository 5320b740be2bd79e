// Format and check digits of bank identifiers, Brazilian tax numbers and legal entity identifiers.
// The functions are pure and independent of the mode. Check digits of account details are validated
// in production only, because test suffixes invalidate most of them.
import { ibanLength } from '../identity/countries.ts';

/**
 * Sum of digit × weight with repeating weights. The value of a letter is its ASCII code minus 48.
 */
const weightedSum = (text: string, weights: readonly number[]): number =>
  [...text].reduce(
    (sum, char, index) =>
      sum + (char.charCodeAt(0) - 48) * (weights[index % weights.length] as number),
    0,
  );

/** Remainder modulo 97 of a string as one number. Letters have the values 10 (A) to 35 (Z). */
function mod97(text: string): number {
  let remainder = 0;
  for (const char of text.toUpperCase()) {
    const value = Number.parseInt(char, 36);
    remainder = (remainder * (value > 9 ? 100 : 10) + value) % 97;
  }
  return remainder;
}

/**
 * IBAN (ISO 13616): the length of its country, and remainder 1 modulo 97 with the first four
 * characters at the end. Spaces are not allowed.
 */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Za-z0-9]+$/.test(text)) return false;
  if (text.length !== ibanLength(text.slice(0, 2))) return false;
  return mod97(text.slice(4) + text.slice(0, 4)) === 1;
}

/** Legal entity identifier (ISO 17442): 20 characters with remainder 1 modulo 97. */
export const isLei = (text: string): boolean =>
  /^[0-9A-Z]{18}[0-9]{2}$/.test(text) && mod97(text) === 1;

/** US routing number (ABA): 9 digits, weights 3 7 1, sum divisible by 10. 000000000 is invalid. */
export const isAbaRouting = (text: string): boolean =>
  /^[0-9]{9}$/.test(text) && text !== '000000000' && weightedSum(text, [3, 7, 1]) % 10 === 0;

/** Mexican CLABE: 18 digits, weights 3 7 1, each product modulo 10. */
export function isClabe(text: string): boolean {
  if (!/^[0-9]{18}$/.test(text)) return false;
  const weights = [3, 7, 1];
  let sum = 0;
  for (let index = 0; index < 17; index++)
    sum += (Number(text[index]) * (weights[index % 3] as number)) % 10;
  return Number(text[17]) === (10 - (sum % 10)) % 10;
}

const brazilianDigit = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));

/**
 * Brazilian tax number of an individual (CPF): 11 digits, of which the last two are check digits. A
 * number of one repeated digit is invalid.
 */
export function isCpf(text: string): boolean {
  if (!/^[0-9]{11}$/.test(text) || /^(.)\1+$/.test(text)) return false;
  const firstDigit = brazilianDigit(weightedSum(text.slice(0, 9), [10, 9, 8, 7, 6, 5, 4, 3, 2]));
  const secondDigit = brazilianDigit(
    weightedSum(text.slice(0, 10), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]),
  );
  return text.endsWith(`${firstDigit}${secondDigit}`);
}

/**
 * Brazilian tax number of a business (CNPJ): 12 characters and two check digits. Letters have been
 * in use since July 2026.
 */
export function isCnpj(text: string): boolean {
  if (!/^[0-9A-Z]{12}[0-9]{2}$/.test(text) || /^(.)\1+$/.test(text)) return false;
  const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const firstDigit = brazilianDigit(weightedSum(text.slice(0, 12), weights.slice(1)));
  const secondDigit = brazilianDigit(weightedSum(text.slice(0, 13), weights));
  return text.endsWith(`${firstDigit}${secondDigit}`);
}

/** CPF or CNPJ, by length. */
export const isBrazilianTaxId = (text: string): boolean =>
  text.length === 11 ? isCpf(text) : isCnpj(text);

/** Argentine CVU or CBU: 22 digits in two blocks, each with a check digit. */
export function isCbu(text: string): boolean {
  if (!/^[0-9]{22}$/.test(text)) return false;
  const bankSum = weightedSum(text.slice(0, 7), [7, 1, 3, 9, 7, 1, 3]);
  const accountSum = weightedSum(text.slice(8, 21), [3, 9, 7, 1, 3, 9, 7, 1, 3, 9, 7, 1, 3]);
  return (
    Number(text[7]) === (10 - (bankSum % 10)) % 10 &&
    Number(text[21]) === (10 - (accountSum % 10)) % 10
  );
}

const PIX_FORMATS: Record<string, (key: string) => boolean> = {
  CPF: (key) => /^[0-9]{11}$/.test(key),
  CNPJ: (key) => /^[0-9A-Z]{12}[0-9]{2}$/.test(key),
  EMAIL: (key) => /^[^\s@]+@[^\s@]+$/.test(key),
  PHONE: (key) => /^\+55[0-9]{10,11}$/.test(key),
  RANDOM: (key) =>
    /^[0-9A-Za-z]{32}$/.test(key) ||
    /^[0-9A-Za-z]{8}(-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}$/.test(key),
};

/** Whether a PIX key has the format of its type. Check digits are not validated. */
export const hasPixKeyFormat = (key: string, type: string): boolean =>
  PIX_FORMATS[type]?.(key) ?? false;

/** Whether a PIX key has the format of its type and, for CPF and CNPJ, valid check digits. */
export const isPixKey = (key: string, type: string): boolean =>
  hasPixKeyFormat(key, type) &&
  (type === 'CPF' ? isCpf(key) : type === 'CNPJ' ? isCnpj(key) : true);
