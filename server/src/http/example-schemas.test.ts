// Every example of a JSON body in the API documents satisfies the schema of its operation.
import { Ajv2020, type AnySchema } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { describe, expect, it } from 'vitest';
import { operatorDocument, publishedDocument } from '../document.ts';

interface Content {
  content?: Record<string, { schema: AnySchema; examples?: Record<string, { value: unknown }> }>;
}

interface Operation {
  operationId: string;
  requestBody?: Content;
  responses: Record<string, Content>;
}

interface Document {
  paths: Record<string, Record<string, Operation>>;
}

const JSON_TYPE = 'application/json';

interface Union {
  oneOf: unknown[];
  discriminator: { propertyName: string; mapping: Record<string, string> };
}

const isUnion = (schema: object): schema is Union =>
  'oneOf' in schema && 'mapping' in ((schema as Union).discriminator ?? {});

/**
 * The schema with the value of the discriminator in each branch of a union. Ajv supports no mappings of
 * discriminators, and without them branches of a union in the public contract overlap.
 */
function withDiscriminators(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withDiscriminators);
  if (typeof schema !== 'object' || schema === null) return schema;
  if (!isUnion(schema))
    return Object.fromEntries(
      Object.entries(schema).map(([key, value]) => [key, withDiscriminators(value)]),
    );
  const { propertyName, mapping } = schema.discriminator;
  return {
    oneOf: Object.entries(mapping).map(([value, $ref]) => ({
      $ref,
      required: [propertyName],
      properties: { [propertyName]: { const: value } },
    })),
  };
}

function* exampleProblems(document: Document): Generator<string> {
  const ajv = new Ajv2020({ strict: false });
  addFormats.default(ajv);
  ajv.addSchema({ $id: 'document', ...document });
  for (const { operationId, requestBody, responses } of Object.values(document.paths).flatMap(
    (item) => Object.values(item),
  )) {
    const successes = Object.entries(responses).filter(([status]) => status < '400');
    for (const [name, body] of [['request', requestBody] as const, ...successes]) {
      const { schema, examples = {} } = body?.content?.[JSON_TYPE] ?? {};
      if (schema === undefined) continue;
      // References point into the document.
      const validate = ajv.compile(
        JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"document#/')),
      );
      for (const [exampleName, { value }] of Object.entries(examples)) {
        if (validate(value)) continue;
        const [error] = validate.errors ?? [];
        const location = [error?.instancePath, error?.message].filter(Boolean).join(' ');
        yield `${operationId} ${name} ${exampleName}: ${location}`;
      }
    }
  }
}

describe('examples of requests and successful replies', () => {
  it.each([
    ['platform', publishedDocument],
    ['operator', operatorDocument],
  ])('of the %s API satisfy their schemas', (_, readDocument) => {
    const document = withDiscriminators(readDocument()) as Document;
    expect([...exampleProblems(document)]).toEqual([]);
  });
});
