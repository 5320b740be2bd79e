// Names in a normalized form for search. Pure functions remove accents of Latin, Greek and Cyrillic
// letters, vowel points of Arabic and Hebrew, differences of case, and punctuation.

/** Letters that have no decomposition into a base letter and an accent. */
const BASE_LETTERS: Readonly<Record<string, string>> = {
  Ø: 'O',
  Ł: 'L',
  Đ: 'D',
  Ð: 'D',
  Æ: 'AE',
  Œ: 'OE',
  Þ: 'TH',
};

const ACCENTS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g;
/** Marks within a word: `O'Brien` is one word. */
const APOSTROPHES = /['’‘`´ʼ]/g;
const NON_LETTERS = /[^\p{L}\p{M}\p{N}]+/gu;

/** A normalized name for search. Empty without letters and digits. */
export const normalizeName = (name: string): string =>
  name
    .replace(APOSTROPHES, '')
    .normalize('NFKD')
    .replace(ACCENTS, '')
    // Upper case folds more than lower case: ß and SS, both forms of sigma.
    .toUpperCase()
    .replace(/[ØŁĐÐÆŒÞ]/g, (letter) => BASE_LETTERS[letter] ?? letter)
    .replace(NON_LETTERS, ' ')
    .trim();

/** Longer names are found by their first words. */
const MAX_WORDS = 16;

/** The first `MAX_WORDS` words of a normalized name, each once. */
export const wordsOf = (normalizedName: string): string[] => [
  ...new Set(normalizedName.split(' ').filter(Boolean).slice(0, MAX_WORDS)),
];
