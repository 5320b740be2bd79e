// Documents name files that exist: each path in backticks, and in docs/walks.md the last part of one as well.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root, tracked } from './sources.ts';

/** A path may begin at one of these folders. */
const ROOTS = ['', 'server/', 'server/src/', 'server/src/features/', 'server/test/', 'docs/'];
const documents = tracked.filter(
  (file) =>
    /^(README|CONTRIBUTING|docs\/.*)\.md$/.test(file) && !file.startsWith('docs/decisions/'),
);

const isFile = /\.(ts|mjs|cjs|js|md|sql|json|jsonc)$/;
const FOLDERS = new Set([
  ...[
    'server',
    'docs',
    'bench',
    'packages',
    'scripts',
    'examples',
    'kernel',
    'ledger',
    'runtime',
    'catalog',
  ],
  ...['connectors', 'features', 'http', 'operator'],
]);
/** A file, or a folder that begins like one of ours; not an address of the API, a type or a command. */
const isPath = (text: string) =>
  /^[\w@.-]+(\/[\w@.-]+)*\/?$/.test(text) &&
  (isFile.test(text) || (text.includes('/') && FOLDERS.has(text.split('/')[0] as string)));

const exists = (named: string) => {
  const bare = named.replace(/\/$/, '');
  return (
    ROOTS.some((each) => existsSync(path.join(root, each, bare))) ||
    // The end of a path is enough where the beginning is clear from the text.
    tracked.some((file) => file.endsWith(`/${bare}`) || file.includes(`/${bare}/`))
  );
};

/** Named and not in the repository: what a server writes, and what a recipe asks its reader to write. */
const MADE = new Set([
  'credentials.json',
  '.railhead/credentials.json',
  'server/migrations/NNNN_words.sql',
  'connectors/acme/rail.ts',
  'connectors/acme/index.ts',
]);

const missingIn = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, named]) => named as string)
    .filter((named) => isPath(named) && !MADE.has(named) && !exists(named));

describe('a document', () => {
  it('that names a file which is not there is found', () => {
    const text = 'See `kernel/none.ts`, `kernel/fault.ts`, `features/none/` and `POST /quotes`.';
    expect(missingIn(text)).toEqual(['kernel/none.ts', 'features/none/']);
  });

  it.each(documents)('names files that exist: %s', (file) => {
    expect(missingIn(read(file))).toEqual([]);
  });

  it('leads through the code in docs/walks.md', () => {
    const text = read('docs/walks.md');
    expect([...text.matchAll(/`([\w/-]+\.ts)`/g)].length).toBeGreaterThan(50);
  });
});
