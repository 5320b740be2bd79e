// Documents that lead through the code name files that exist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');
const source = path.join(root, 'server/src');
const files = readdirSync(source, { recursive: true, encoding: 'utf8' });

it('docs/walks.md names only files that exist', () => {
  const text = readFileSync(path.join(root, 'docs/walks.md'), 'utf8');
  const named = [...text.matchAll(/`([\w/-]+\.ts)`/g)].map(([, name]) => name as string);
  expect(named.length).toBeGreaterThan(50);
  const isThere = (name: string) =>
    existsSync(path.join(source, name)) || files.some((file) => file.endsWith(`/${name}`));
  expect(named.filter((name) => !isThere(name))).toEqual([]);
});
