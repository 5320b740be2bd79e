// Verbs of the operator's command are thin: they read flags, call a function of a feature and print, so that
// other surfaces can do the same work. A verb that names a table, holds SQL or stages a change set does work
// that belongs to a feature.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const server = path.resolve(import.meta.dirname, '../..');
const sourcesIn = (folder: string) =>
  readdirSync(path.join(server, folder), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => path.posix.join(folder, file.replaceAll(path.sep, '/')))
    .map((file) => ({ file, text: readFileSync(path.join(server, file), 'utf8') }));

/** Opens the installation that the verbs work on. */
const OPENS = 'src/operator/cli/system.ts';

const everything = sourcesIn('src');
const verbs = everything
  .filter(({ file }) => /^src\/operator(\/|\.ts$)/.test(file) && file !== OPENS)
  .map(({ file, text }) => ({
    file,
    code: text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, ''),
  }));

const tables = new Set(
  everything.flatMap(({ text }) =>
    [...text.matchAll(/^(?:export )?const (\w+) = (?:table|stateTable)\b/gm)].map(
      ([, name]) => name,
    ),
  ),
);

/** Import statements: what each names, whether it names types alone, and the path. */
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
const CHANGES =
  /\boperate\(|\b(ctx|db)\s*\.\s*(query|find|page|read|insert|update|remove|later|emit)\(/;

/** Files in which something is found, with what it is. */
const found = (search: (code: string) => readonly string[]) =>
  verbs.flatMap(({ file, code }) => search(code).map((what) => `${file}: ${what}`));

it('finds the verbs and the tables', () => {
  expect(verbs.length).toBeGreaterThan(30);
  expect(tables.size).toBeGreaterThan(50);
});

it('has no SQL in a verb', () => {
  expect(found((code) => SQL.exec(code)?.slice(0, 1) ?? [])).toEqual([]);
});

it('has no verb that defines or imports a table or a state table', () => {
  const shown = found((code) =>
    importsOf(code).flatMap(({ from, values }) =>
      /\/runtime\/db\/table\.ts$|\/kernel\/states\.ts$/.test(from)
        ? values
        : values.filter((name) => tables.has(name)),
    ),
  );
  expect(shown).toEqual([]);
});

it('has no verb that reads rows or stages a change set', () => {
  expect(found((code) => CHANGES.exec(code)?.slice(0, 1) ?? [])).toEqual([]);
  const direct = found((code) =>
    importsOf(code)
      .filter(({ from, values }) => values.length && /\/runtime\/(db|operation)\//.test(from))
      .map(({ from }) => from),
  );
  expect(direct).toEqual([]);
});

it('reaches features by their index', () => {
  const inner = found((code) =>
    importsOf(code)
      .map(({ from }) => from)
      .filter((from) => from.includes('/features/') && !from.endsWith('/index.ts')),
  );
  expect(inner).toEqual([]);
});
