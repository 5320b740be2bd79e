// Verbs of the operator's command only read flags, call a function of a feature and print, so that
// other interfaces can call the same function. Tables, SQL and change sets belong to features.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const server = path.resolve(import.meta.dirname, '../..');
const sourcesIn = (folder: string) =>
  readdirSync(path.join(server, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/')))
    .map((file) => ({ file, text: readFileSync(path.join(server, file), 'utf8') }));

/** Files that open the installation for all verbs, migrate its database, and check it. */
const SYSTEM_FILES = [
  'src/operator/cli/system.ts',
  'src/operator/cli/migrations.ts',
  'src/operator/doctor/doctor.ts',
];

const sources = sourcesIn('src');
const verbs = sources
  .filter(({ file }) => /^src\/operator(\/|\.ts$)/.test(file) && !SYSTEM_FILES.includes(file))
  .map(({ file, text }) => ({
    file,
    code: text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, ''),
  }));

const tables = new Set(
  sources.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?const (\w+) = (?:table|stateTable)\b/gm)].map(
      ([, name]) => name,
    ),
  ),
);

/** Import statements: path and imported values, without types. */
const importsOf = (code: string) =>
  [...code.matchAll(/^import (type )?\{([^}]*)\} from '([^']+)'/gm)].map(
    ([, types, names = '', from = '']) => ({
      from,
      values: names
        .split(',')
        .map((name) => name.trim().replace(/ as .*/, ''))
        .filter((name) => name !== '' && !types && !name.startsWith('type ')),
    }),
  );

const SQL =
  /\b(select\b[\s\S]{1,400}?\bfrom|insert\s+into|update\s+\w+\s+(\w+\s+)?set|delete\s+from)\s/i;
const ROW_ACCESS =
  /\boperate\(|\b(ctx|db)\s*\.\s*(query|find|page|read|insert|update|remove|later|emit)\(/;

/** Matches of a search in the files of the verbs. */
const findMatches = (search: (code: string) => readonly string[]) =>
  verbs.flatMap(({ file, code }) => search(code).map((match) => `${file}: ${match}`));

it('the search finds the verbs and the tables', () => {
  expect(verbs.length).toBeGreaterThan(30);
  expect(tables.size).toBeGreaterThan(50);
});

it('a verb has no SQL', () => {
  expect(findMatches((code) => SQL.exec(code)?.slice(0, 1) ?? [])).toEqual([]);
});

it('a verb defines and imports no table and no state table', () => {
  const importedTables = findMatches((code) =>
    importsOf(code).flatMap(({ from, values }) =>
      /\/runtime\/db\/table\.ts$|\/kernel\/states\.ts$/.test(from)
        ? values
        : values.filter((name) => tables.has(name)),
    ),
  );
  expect(importedTables).toEqual([]);
});

it('a verb reads no rows and stages no change set', () => {
  expect(findMatches((code) => ROW_ACCESS.exec(code)?.slice(0, 1) ?? [])).toEqual([]);
  const runtimeImports = findMatches((code) =>
    importsOf(code)
      .filter(({ from, values }) => values.length && /\/runtime\/(db|operation)\//.test(from))
      .map(({ from }) => from),
  );
  expect(runtimeImports).toEqual([]);
});

it('a verb imports features by their index', () => {
  const internalImports = findMatches((code) =>
    importsOf(code)
      .map(({ from }) => from)
      .filter((from) => from.includes('/features/') && !from.endsWith('/index.ts')),
  );
  expect(internalImports).toEqual([]);
});
