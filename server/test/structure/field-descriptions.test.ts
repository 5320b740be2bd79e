// Every schema, field and parameter of the three API documents has a description.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';

const root = path.resolve(import.meta.dirname, '../../..');

interface Schema {
  description?: string;
  $ref?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  allOf?: Schema[];
  anyOf?: Schema[];
  oneOf?: Schema[];
}

interface Content {
  content?: Record<string, { schema: Schema }>;
}

interface Operation {
  operationId?: string;
  parameters?: { name?: string; description?: string; $ref?: string }[];
  requestBody?: Content;
  responses?: Record<string, Content>;
}

interface Document {
  components?: { schemas?: Record<string, Schema> };
  paths?: Record<string, Record<string, Operation>>;
  webhooks?: Record<string, Record<string, Operation>>;
}

const partsOf = ({ allOf = [], anyOf = [], oneOf = [] }: Schema) => [...allOf, ...anyOf, ...oneOf];

/** Names of the schemas, fields and parameters without a description. */
function findUndescribedNames({ components, paths, webhooks }: Document): string[] {
  const schemas = components?.schemas ?? {};
  const names = new Set<string>();
  const isDescribed = (schema: Schema | undefined): boolean => {
    if (!schema) return false;
    if (schema.description) return true;
    if (schema.$ref) return isDescribed(schemas[schema.$ref.split('/').at(-1) ?? '']);
    // The description of an alternative does not describe the field.
    return (schema.allOf ?? []).some(isDescribed);
  };
  const visit = (schema: Schema | undefined, name: string) => {
    if (!schema || schema.$ref) return;
    for (const [field, fieldSchema] of Object.entries(schema.properties ?? {})) {
      if (!isDescribed(fieldSchema)) names.add(`${name}.${field}`);
      visit(fieldSchema, `${name}.${field}`);
    }
    visit(schema.items, `${name}[]`);
    for (const part of partsOf(schema)) visit(part, name);
  };
  const visitContent = (content: Content | undefined, name: string) => {
    for (const { schema } of Object.values(content?.content ?? {})) visit(schema, name);
  };
  for (const [name, schema] of Object.entries(schemas)) {
    if (!schema.description) names.add(name);
    visit(schema, name);
  }
  const items = [...Object.values(paths ?? {}), ...Object.values(webhooks ?? {})];
  for (const operation of items.flatMap((item) => Object.values(item))) {
    const { operationId, parameters = [], requestBody, responses = {} } = operation;
    if (!operationId) continue;
    visitContent(requestBody, `${operationId} request`);
    for (const [status, reply] of Object.entries(responses)) {
      visitContent(reply, `${operationId} ${status}`);
    }
    for (const { name, description, $ref } of parameters) {
      if (!description && !$ref) names.add(`${operationId} parameter ${name}`);
    }
  }
  return [...names];
}

describe('schemas, fields and parameters', () => {
  it.each(['openapi.json', 'operator-openapi.json', 'docs/providers/openapi.json'])(
    'of %s have a description',
    (file) => {
      const document = JSON.parse(readFileSync(path.join(root, file), 'utf8')) as Document;
      expect(Object.keys(document.paths ?? {}).length).toBeGreaterThan(10);
      expect(findUndescribedNames(document)).toEqual([]);
    },
  );

  it('without a description are found', () => {
    const documentSchemas: Record<string, Schema> = {
      X: {
        properties: {
          amount: {},
          rail: { allOf: [{}, { $ref: '#/components/schemas/Rail' }] },
          clearedRail: { anyOf: [{ $ref: '#/components/schemas/Rail' }, {}] },
        },
      },
      Rail: { description: 'Payment rail.' },
    };
    const paths = {
      '/x': { get: { operationId: 'getX', parameters: [{ name: 'limit' }] } },
    };
    expect(findUndescribedNames({ components: { schemas: documentSchemas }, paths })).toEqual([
      'X',
      'X.amount',
      'X.clearedRail',
      'getX parameter limit',
    ]);
  });
});
