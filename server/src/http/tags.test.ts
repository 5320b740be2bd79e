// Descriptions exist for exactly the tags and schemas of the document.
import fs from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../runtime/config/root.ts';
import { describedSchemas, TAGS, withSchemaDescription } from './tags.ts';

interface Schema {
  description?: string;
  title?: string;
}

interface DescribedDocument {
  paths: Record<string, Record<string, { tags: string[] }>>;
  components: { schemas: Record<string, Schema> };
}

const tagsOf = (name: string): string[] => {
  const text = fs.readFileSync(path.join(projectRoot(), name), 'utf8');
  return (JSON.parse(text) as { tags: { name: string }[] }).tags.map((tag) => tag.name);
};

const file = path.join(projectRoot(), 'openapi.json');
const { paths, components } = JSON.parse(fs.readFileSync(file, 'utf8')) as DescribedDocument;

describe('TAGS', () => {
  it('describes the tags of the document in its order', () => {
    const usedTags = Object.values(paths).flatMap((path) =>
      Object.values(path).flatMap(({ tags }) => tags),
    );
    expect(Object.keys(TAGS)).toEqual([...new Set(usedTags)]);
  });
});

describe.each(['openapi.json', 'operator-openapi.json'])('the tags of %s', (name) => {
  it('are in title case, as in the specification', () => {
    const words = tagsOf(name).flatMap((tag) => tag.split(/[ /-]/));
    expect(words.filter((word) => !/^[A-Z]/.test(word))).toEqual([]);
  });
});

describe('schemas of the document', () => {
  it('exist for every note', () => {
    for (const name of describedSchemas) {
      const { description } = withSchemaDescription(name, {}) as Schema;
      expect(components.schemas[name]?.description, name).toBe(description);
    }
  });

  it('keep the descriptions of their contracts', () => {
    expect(withSchemaDescription('AgentPolicy', { description: 'Own.' })).toEqual({
      description: 'Own.',
    });
  });
});
