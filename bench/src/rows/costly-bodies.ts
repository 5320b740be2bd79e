// The request bodies with the longest validation: as large as allowed, with values that the schema checks.
// Generated from openapi.json, so that every operation is covered.
import { BASE } from '../machine/api.ts';

type Json = Record<string, unknown>;

export interface OpenApi {
  paths: Record<string, Record<string, { operationId: string; requestBody?: RequestBody }>>;
  components: { schemas: Record<string, Json> };
}

interface RequestBody {
  content: Record<string, { schema: Json }>;
}

export interface CostlyBody {
  /** The operation, and the property of the body that takes long to validate. */
  name: string;
  method: string;
  path: string;
  body: string;
}

/** Slightly below the size limit of a body. */
const BYTES = 65_000;
/** Slightly below the other limits of a body: members of an object, items of a list, depth. */
const MEMBERS = 4_000;
const ITEMS = 990;
const DEPTH = 30;
/** Maximum depth at which the parts of a schema are read. */
const SCHEMA_DEPTH = 4;

/** The properties of an object schema, including those in `allOf`, `oneOf` and `anyOf`. */
function propertiesOf(document: OpenApi, schema: Json, depth = 0): Record<string, Json> {
  const ref = schema.$ref as string | undefined;
  const resolvedSchema = ref
    ? (document.components.schemas[ref.split('/').at(-1) as string] ?? {})
    : schema;
  const nestedSchemas = ['allOf', 'oneOf', 'anyOf'].flatMap(
    (key) => (resolvedSchema[key] as Json[]) ?? [],
  );
  const innerProperties =
    depth < SCHEMA_DEPTH
      ? nestedSchemas.map((schemaPart) => propertiesOf(document, schemaPart, depth + 1))
      : [];
  return Object.assign({}, resolvedSchema.properties, ...innerProperties);
}

/**
 * The first value of each enumeration, because many schemas select further checks by an
 * enumeration.
 */
function choicesOf(document: OpenApi, properties: Record<string, Json>): Json {
  const choices: Json = {};
  for (const [name, { $ref, ...siblings }] of Object.entries(properties)) {
    const schema = document.components.schemas[String($ref).split('/').at(-1) as string];
    const [firstValue] = ((schema ?? siblings).enum as unknown[] | undefined) ?? [];
    if (firstValue !== undefined) choices[name] = firstValue;
  }
  return choices;
}

function createManyKeys(): Json {
  const object: Json = {};
  for (let index = 0; index < MEMBERS; index++) object[`k${1000 + index}`] = 1;
  return object;
}

const valuesFor = (property: string): [string, unknown][] => [
  [`${property}, one long string`, 'a'.repeat(BYTES - 500)],
  [`${property}, digits`, '1'.repeat(BYTES - 500)],
  [`${property}, at signs`, 'a@'.repeat(BYTES / 2 - 500)],
  [`${property}, many values`, Array.from({ length: ITEMS }, (_, index) => (index % 2 ? 1 : ''))],
  [`${property}, many objects`, Array.from({ length: ITEMS }, () => ({ a: 1 }))],
];

/** Bodies for every operation that reads JSON. */
export function costlyBodies(document: OpenApi): CostlyBody[] {
  const bodies: CostlyBody[] = [];
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, { operationId, requestBody }] of Object.entries(item)) {
      const schema = requestBody?.content['application/json']?.schema;
      if (!schema) continue;
      const url = BASE + path.replaceAll(/\{(\w+)\}/g, '$1:0');
      const properties = propertiesOf(document, schema);
      const choices = choicesOf(document, properties);
      const add = (name: string, body: string) =>
        bodies.push({
          name: `${operationId}: ${name}`,
          method: method.toUpperCase(),
          path: url,
          body,
        });
      add('many keys', JSON.stringify({ ...choices, ...createManyKeys() }));
      add('deep', '['.repeat(DEPTH) + ']'.repeat(DEPTH));
      for (const [name, value] of Object.keys(properties).flatMap(valuesFor)) {
        const [property = ''] = name.split(',');
        add(name, JSON.stringify({ ...choices, [property]: value }));
      }
    }
  }
  return bodies;
}
