// Values that are likely to match the schemas of the documents: the recorded examples with IDs of existing
// resources, and random values of the schema.
import type { Chance } from '../../sim/harness/chance.ts';
import type { Ids } from '../target/ids.ts';
import type { Documents, Json, Operation } from './document.ts';

export interface ValueSource {
  chance: Chance;
  ids: Ids;
  documents: Documents;
}

const MAX_DEPTH = 8;
const ID = /^[A-Z][A-Za-z]+:(\d+-)?019b8d60-/;

const FORMATS: Record<string, readonly string[]> = {
  'date-time': ['2026-01-01T00:00:00Z', '2031-12-31T23:59:59.999Z', '1970-01-01T00:00:00+14:00'],
  date: ['2026-01-01', '1990-02-28', '2000-02-29'],
  email: ['ada@example.com', 'a+b@xn--bcher-kva.example'],
  uri: ['https://example.com/hook', 'https://example.com:8443/a?b=c#d'],
};

const TEXTS = ['Ada Lovelace', 'USD', 'EUR', 'US', 'DE', '1', '100', '+14155550100', 'x', '000000'];

function randomText(schema: Json, { chance, ids }: ValueSource): string {
  if (schema.format && FORMATS[schema.format]) return chance.pick(FORMATS[schema.format] ?? []);
  const id = chance.percent(30) ? ids.pickAny(chance) : undefined;
  const value = id ?? chance.pick(TEXTS);
  const shortText = value.slice(0, schema.maxLength ?? value.length);
  return shortText.padEnd(schema.minLength ?? 0, 'x');
}

function randomNumber(schema: Json, { chance }: ValueSource): number {
  const minimum = schema.minimum ?? schema.exclusiveMinimum ?? 0;
  const maximum = schema.maximum ?? schema.exclusiveMaximum ?? 1_000_000;
  const value = chance.pick([minimum, maximum, minimum + 1, chance.integerBetween(1, 100_000)]);
  return Math.min(Math.max(value, minimum), maximum);
}

function randomObject(
  schema: Json,
  api: Operation['api'],
  source: ValueSource,
  depth: number,
): Json {
  const requiredNames = new Set<string>(schema.required ?? []);
  const entries = Object.entries<Json>(schema.properties ?? {}).filter(
    ([name]) => requiredNames.has(name) || (depth < MAX_DEPTH && source.chance.percent(40)),
  );
  return Object.fromEntries(
    entries.map(([name, property]) => [name, randomValue(property, api, source, depth + 1)]),
  );
}

/** A random value of a schema. */
function randomValue(
  schemaOrReference: Json,
  api: Operation['api'],
  source: ValueSource,
  depth = 0,
): Json {
  const { chance, documents } = source;
  const schema = documents.resolve(api, schemaOrReference) ?? {};
  const randomPart = (partSchema: Json) => randomValue(partSchema, api, source, depth + 1);
  if (schema.const !== undefined) return schema.const;
  if (schema.enum) return chance.pick(schema.enum);
  const choices = schema.oneOf ?? schema.anyOf;
  if (choices) return randomPart(chance.pick(choices));
  if (schema.allOf) {
    const parts = schema.allOf.map(randomPart);
    return parts.every((part: Json) => part && typeof part === 'object')
      ? Object.assign({}, ...parts)
      : parts[0];
  }
  const type = Array.isArray(schema.type) ? chance.pick(schema.type) : schema.type;
  if (type === 'string') return randomText(schema, source);
  if (type === 'integer' || type === 'number') return randomNumber(schema, source);
  if (type === 'boolean') return chance.percent(50);
  if (type === 'null') return null;
  if (type === 'array') {
    const count = depth > MAX_DEPTH ? (schema.minItems ?? 0) : chance.integerBetween(0, 3);
    return Array.from({ length: Math.max(count, schema.minItems ?? 0) }, () =>
      randomPart(schema.items),
    );
  }
  return randomObject(schema, api, source, depth);
}

/** The same value with IDs of existing resources and with new values for fields that must be unique. */
function withExistingIds(value: Json, { ids, chance }: ValueSource, name = ''): Json {
  if (typeof value === 'string') {
    if (name === 'platformCustomerId') return `customer-${chance.integerBelow(2 ** 31)}`;
    return ID.test(value) ? (ids.similar(value, chance) ?? value) : value;
  }
  if (!value || typeof value !== 'object') return value;
  if (Array.isArray(value)) {
    return value.map((item) => withExistingIds(item, { ids, chance } as ValueSource, name));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      key,
      withExistingIds(item, { ids, chance } as ValueSource, key),
    ]),
  );
}

/** A body that the operation is likely to accept, or undefined if it has none. */
export function bodyFor({ body, api }: Operation, source: ValueSource): Json {
  if (!body) return undefined;
  const { chance } = source;
  if (body.examples.length > 0 && chance.percent(70)) {
    return withExistingIds(structuredClone(chance.pick(body.examples)), source);
  }
  return randomValue(body.schema, api, source);
}

/** The path with IDs of existing resources and without a query. */
export function pathFor(
  operation: Operation,
  source: ValueSource,
  idFor = (name: string, example = '') =>
    source.ids.similar(example, source.chance) ?? source.ids.forParameter(name, source.chance),
): string {
  return operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const parameter = operation.parameters.find(
      (parameter) => parameter.in === 'path' && parameter.name === name,
    );
    const id = idFor(name, parameter?.example);
    return encodeURIComponent(id ?? parameter?.example ?? 'unknown');
  });
}

/** Values of all required and some optional parameters of the query. */
export function queryFor(operation: Operation, source: ValueSource): [string, string][] {
  const { chance, ids } = source;
  return operation.parameters
    .filter((parameter) => parameter.in === 'query' && (parameter.required || chance.percent(15)))
    .map((parameter): [string, string] => {
      const id = /Id$/.test(parameter.name)
        ? (ids.similar(parameter.example ?? '', chance) ?? ids.forParameter(parameter.name, chance))
        : undefined;
      return [
        parameter.name,
        id ?? String(parameter.example ?? randomValue(parameter.schema, operation.api, source)),
      ];
    });
}
