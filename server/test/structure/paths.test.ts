// Documents name existing files. The test checks each path and each file name in backticks, except
// in decision records.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { read, root, trackedFiles } from './sources.ts';

/** Folders to which paths can be relative. */
const ROOTS = ['', 'server/', 'server/src/', 'server/src/features/', 'server/test/', 'docs/'];
const documents = trackedFiles.filter(
  (file) =>
    /^(README|CONTRIBUTING|docs\/.*)\.md$/.test(file) && !file.startsWith('docs/decisions/'),
);

const FILE_PATTERN = /\.(ts|mjs|cjs|js|md|sql|json|jsonc)$/;
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
/** A file or folder of the repository, as opposed to an API path, a type or a command. */
const isPath = (text: string) =>
  /^[\w@.-]+(\/[\w@.-]+)*\/?$/.test(text) &&
  (FILE_PATTERN.test(text) || (text.includes('/') && FOLDERS.has(text.split('/')[0] as string)));

const exists = (name: string) => {
  const target = name.replace(/\/$/, '');
  return (
    ROOTS.some((folder) => existsSync(path.join(root, folder, target))) ||
    // The last part of a path suffices if the folder is clear from the text.
    trackedFiles.some((file) => file.endsWith(`/${target}`) || file.includes(`/${target}/`))
  );
};

/**
 * Files that a server, a build or the user of a recipe writes. Documents name them, and the
 * repository does not contain them.
 */
const FILES_NOT_IN_REPOSITORY = new Set([
  'credentials.json',
  '.railhead/credentials.json',
  'railhead-0.2.0-linux-x64.cdx.json',
  'server/migrations/NNNN_description.sql',
  'connectors/acme/rail.ts',
  'connectors/acme/index.ts',
]);

const findMissingPaths = (text: string): string[] =>
  [...text.matchAll(/`([^`\n]+)`/g)]
    .map(([, name]) => name as string)
    .filter((name) => isPath(name) && !FILES_NOT_IN_REPOSITORY.has(name) && !exists(name));

describe('a document', () => {
  it('that names a missing file is found', () => {
    const text = 'See `kernel/none.ts`, `kernel/fault.ts`, `features/none/` and `POST /quotes`.';
    expect(findMissingPaths(text)).toEqual(['kernel/none.ts', 'features/none/']);
  });

  it.each(documents)('names files that exist: %s', (file) => {
    expect(findMissingPaths(read(file))).toEqual([]);
  });
});

describe('docs/walkthroughs.md', () => {
  it('names more than fifty source files', () => {
    const text = read('docs/walkthroughs.md');
    expect([...text.matchAll(/`([\w/-]+\.ts)`/g)].length).toBeGreaterThan(50);
  });
});
