// Bans words without a meaning in the payments field from source, texts and docs, as whole words
// and as parts of identifiers. CONTRIBUTING.md describes the language.
import { describe, expect, it } from 'vitest';
import { read, trackedFiles } from './sources.ts';

const WORDS = new RegExp(
  `^(${[
    ...['tell', 'tells', 'telling', 'told', 'whoever', 'nobody', 'somebody', 'anybody'],
    ...['heed\\w*', 'parked', 'mend(s|ed|ing)?', 'lapse\\w*', 'stranger\\w*', 'papers', 'keyless'],
    ...['desks?', 'twins?', 'bounce\\w*', 'recoup\\w*'],
  ].join('|')})$`,
  'i',
);
const PHRASES = new RegExp(
  `\\b(${[
    ...[
      'put ?off',
      'slip ?in',
      'move ?and ?tell',
      'open ?way ?back',
      'refuse ?haste',
      'ways? back',
    ],
    ...['another \\w+ than', 'in any notation'],
  ].join('|')})\\b`,
  'i',
);

/** Earlier migrations contain earlier database names and cannot change. */
const FIRST_MIGRATION = 41;

const RENAMES = 'server/migrations/0041_standard_names.sql';

/** Names that cannot change, each with the reason. With `file`, only in that file. */
const EXCEPTIONS: readonly { text: string; reason: string; file?: string }[] = [
  { text: 'quotes.lapse', reason: 'a kind of jobs that an earlier release stored' },
  { text: 'invitations.tell-claimed', reason: 'a kind of jobs that an earlier release stored' },
  { text: "'nobody'", reason: 'stored with the requests of wallets' },
  { text: 'PgBouncer', reason: 'a product' },
  { text: '`nobody`', reason: 'a user of Unix systems' },
  { text: '`recoup.N`', reason: 'the earlier name of a step', file: 'docs/changelog.md' },
  { text: 'PARKED', reason: 'a state before migration 0041', file: RENAMES },
  { text: 'LAPSED', reason: 'a state before migration 0041', file: RENAMES },
  { text: 'parked', reason: 'a table and a kind before migration 0041', file: RENAMES },
  { text: '.lapse', reason: 'kinds of jobs before migration 0041', file: RENAMES },
];

const isChecked = (file: string): boolean => {
  const migration = /^server\/migrations\/(\d+)_/.exec(file)?.[1];
  if (migration) return Number(migration) >= FIRST_MIGRATION;
  return (
    /^(server|bench|scripts|examples|packages|docs|site)\/|^(README|CONTRIBUTING)\.md$/.test(
      file,
    ) &&
    /\.(ts|mts|cts|js|mjs|cjs|md|json|jsonc|sql|html|css|sh|vue|yml|yaml)$/.test(file) &&
    !file.endsWith('structure/words.test.ts')
  );
};

/** Splits identifiers into words: `moveAndTell` becomes `move And Tell`. */
const splitIdentifiers = (text: string): string =>
  text.replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll(/([A-Z])([A-Z][a-z])/g, '$1 $2');

function bannedIn(text: string, file?: string): string[] {
  const checkedText = EXCEPTIONS.filter(
    (exception) => !exception.file || exception.file === file,
  ).reduce((text, exception) => text.replaceAll(exception.text, ''), text);
  const bannedWords = splitIdentifiers(checkedText)
    .split(/[^A-Za-z]+/)
    .filter((word) => WORDS.test(word));
  const phrase = PHRASES.exec(splitIdentifiers(checkedText).replaceAll(/[^A-Za-z]+/g, ' '))?.[0];
  return phrase ? [...bannedWords, phrase] : bannedWords;
}

const problemsOf = (file: string): string[] =>
  [file, ...read(file).split('\n')].flatMap((line, index) =>
    bannedIn(line, file).map((word) => `${file}:${index} ${word}`),
  );

describe('banned words', () => {
  it.each([
    ['a client is told', ['told']],
    ['const postAndTell = 1', ['Tell']],
    ['NOBODY', ['NOBODY']],
    ['the way-back', ['way back']],
    ['another currency than the first', ['another currency than']],
    ['desktop, elapsed, amend, untold', []],
  ])('are found: %s', (text, words) => {
    expect(bannedIn(text)).toEqual(words);
  });

  it('occur in no tracked file', () => {
    const files = trackedFiles.filter(isChecked);
    expect(files.length).toBeGreaterThan(500);
    expect(files.flatMap(problemsOf)).toEqual([]);
  });

  it('have exceptions that are in use', () => {
    const texts = trackedFiles.filter(isChecked).map(read);
    const unusedExceptions = EXCEPTIONS.filter(
      (exception) => !texts.some((text) => text.includes(exception.text)),
    );
    expect(unusedExceptions).toEqual([]);
  });
});
