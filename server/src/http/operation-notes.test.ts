// Operations, tags and links in the notes of the reference.
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { publishedDocument } from '../document.ts';
import { projectRoot } from '../runtime/config/root.ts';
import { EMITTING } from './operation-events.ts';
import { NOTED } from './operation-notes.ts';
import { TAGS } from './tags.ts';

interface Operation {
  operationId: string;
  tags: string[];
}
const { paths } = publishedDocument() as { paths: Record<string, Record<string, Operation>> };
const operationIds = new Set(
  Object.values(paths).flatMap((path) => Object.values(path).map((each) => each.operationId)),
);
const docs = path.join(projectRoot(), 'docs');

describe('notes of the reference', () => {
  it('belong to existing operations and tags', () => {
    const notedOperations = [...NOTED.operations, ...EMITTING];
    expect(notedOperations.filter((operationId) => !operationIds.has(operationId))).toEqual([]);
    expect(NOTED.tags.filter((tag) => !(tag in TAGS))).toEqual([]);
  });

  it('link to guides and sections that exist', () => {
    const missingPages = NOTED.guides.filter((page) => !existsSync(path.join(docs, `${page}.md`)));
    expect(missingPages).toEqual([]);
    const page = readFileSync(path.join(docs, 'concepts', 'sandbox.md'), 'utf8');
    const sections = [...page.matchAll(/^## (.*)$/gm)].map(([, title = '']) =>
      title.toLowerCase().replaceAll(' ', '-'),
    );
    expect(NOTED.sections.filter((section) => !sections.includes(section))).toEqual([]);
  });
});
