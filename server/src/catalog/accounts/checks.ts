// Validity of bank identifiers: form and check digits. Pure and independent of the mode; callers
// skip these checks in the sandbox, where magic suffixes break almost every check digit.
import { ibanLength } from '../identity/countries.ts';

/** Sum of digit × weight, the weights repeating. Letters count as their ASCII code minus 48. */
const weighted = (text: string, weights: readonly number[]): number =>
  [...text].reduce(
    (sum, char, at) => sum + (char.charCodeAt(0) - 48) * (weights[at % weights.length] as number),
    0,
  );

/** The remainder modulo 97 of a text as one number; A is 10. */
function mod97(text: string): number {
  let rest = 0;
  for (const char of text.toUpperCase()) {
    const value = Number.parseInt(char, 36);
    rest = (rest * (value > 9 ? 100 : 10) + value) % 97;
  }
  return rest;
}

/**
 * IBAN (ISO 13616): a country that issues IBANs, that country's length, and remainder 1 modulo 97
 * after the first four characters move to the end and letters become numbers (A is 10). Blanks are
 * not allowed.
 */
export function isIban(text: string): boolean {
  if (!/^[A-Z]{2}[0-9]{2}[A-Za-z0-9]+$/.test(text)) return false;
  if (text.length !== ibanLength(text.slice(0, 2))) return false;
  return mod97(text.slice(4) + text.slice(0, 4)) === 1;
}

/** Legal entity identifier (ISO 17442): twenty characters, remainder 1 modulo 97 as in an IBAN. */
export const isLei = (text: string): boolean =>
  /^[0-9A-Z]{18}[0-9]{2}$/.test(text) && mod97(text) === 1;

/**
 * US routing number (ABA): nine digits with weights 3 7 1 and a sum divisible by ten; not
 * 000000000.
 */
export const isAbaRouting = (text: string): boolean =>
  /^[0-9]{9}$/.test(text) && text !== '000000000' && weighted(text, [3, 7, 1]) % 10 === 0;

/**
 * Mexican CLABE: eighteen digits; each of the first seventeen is multiplied by 3 7 1 modulo ten.
 */
export function isClabe(text: string): boolean {
  if (!/^[0-9]{18}$/.test(text)) return false;
  const weights = [3, 7, 1];
  let sum = 0;
  for (let at = 0; at < 17; at++) sum += (Number(text[at]) * (weights[at % 3] as number)) % 10;
  return Number(text[17]) === (10 - (sum % 10)) % 10;
}

const brazilianDigit = (sum: number): number => (sum % 11 < 2 ? 0 : 11 - (sum % 11));

/**
 * Brazilian individual tax number (CPF): eleven digits, the last two are check digits; a number of
 * eleven equal digits is invalid.
 */
export function isCpf(text: string): boolean {
  if (!/^[0-9]{11}$/.test(text) || /^(.)\1+$/.test(text)) return false;
  const first = brazilianDigit(weighted(text.slice(0, 9), [10, 9, 8, 7, 6, 5, 4, 3, 2]));
  const second = brazilianDigit(weighted(text.slice(0, 10), [11, 10, 9, 8, 7, 6, 5, 4, 3, 2]));
  return text.endsWith(`${first}${second}`);
}

/**
 * Brazilian company tax number (CNPJ): twelve digits (since July 2026 also capital letters) and two
 * check digits.
 */
export function isCnpj(text: string): boolean {
  if (!/^[0-9A-Z]{12}[0-9]{2}$/.test(text) || /^(.)\1+$/.test(text)) return false;
  const weights = [6, 5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2];
  const first = brazilianDigit(weighted(text.slice(0, 12), weights.slice(1)));
  const second = brazilianDigit(weighted(text.slice(0, 13), weights));
  return text.endsWith(`${first}${second}`);
}

/** CPF or CNPJ, distinguished by length. */
export const isBrazilianTaxId = (text: string): boolean =>
  text.length === 11 ? isCpf(text) : isCnpj(text);

/** Argentine CVU or CBU: twenty-two digits in two blocks, each with its own check digit. */
export function isCbu(text: string): boolean {
  if (!/^[0-9]{22}$/.test(text)) return false;
  const bank = weighted(text.slice(0, 7), [7, 1, 3, 9, 7, 1, 3]);
  const account = weighted(text.slice(8, 21), [3, 9, 7, 1, 3, 9, 7, 1, 3, 9, 7, 1, 3]);
  return (
    Number(text[7]) === (10 - (bank % 10)) % 10 && Number(text[21]) === (10 - (account % 10)) % 10
  );
}

const PIX_SHAPES: Record<string, (key: string) => boolean> = {
  CPF: (key) => /^[0-9]{11}$/.test(key),
  CNPJ: (key) => /^[0-9A-Z]{12}[0-9]{2}$/.test(key),
  EMAIL: (key) => /^[^\s@]+@[^\s@]+$/.test(key),
  PHONE: (key) => /^\+55[0-9]{10,11}$/.test(key),
  RANDOM: (key) =>
    /^[0-9A-Za-z]{32}$/.test(key) ||
    /^[0-9A-Za-z]{8}(-[0-9A-Za-z]{4}){3}-[0-9A-Za-z]{12}$/.test(key),
};

/** Whether a PIX key has the form of its type, without check digits. */
export const isPixShape = (key: string, type: string): boolean => PIX_SHAPES[type]?.(key) ?? false;

/** Whether a PIX key that is a CPF or CNPJ has valid check digits. */
export const isPixKey = (key: string, type: string): boolean =>
  isPixShape(key, type) && (type === 'CPF' ? isCpf(key) : type === 'CNPJ' ? isCnpj(key) : true);
