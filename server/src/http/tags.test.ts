// Every tag that an operation names is described, and no other.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../runtime/config/root.ts';
import { TAGS } from './tags.ts';

interface Described {
  paths: Record<string, Record<string, { tags: string[] }>>;
}

describe('TAGS', () => {
  it('describes the tags of the document in its order', () => {
    const file = path.join(projectRoot(), 'openapi.json');
    const { paths } = JSON.parse(fs.readFileSync(file, 'utf8')) as Described;
    const used = Object.values(paths).flatMap((path) =>
      Object.values(path).flatMap(({ tags }) => tags),
    );
    expect(Object.keys(TAGS)).toEqual([...new Set(used)]);
  });
});
