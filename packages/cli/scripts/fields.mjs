// Flags of an operation: the parameters of its query and the fields of its body. A field of a
// nested object has a flag with a dot: `--source.account-id`.
import { kebab } from './names.mjs';

const MAX_DEPTH = 3;

/** Returns the value to which a local JSON pointer refers. */
const resolvePointer = (document, ref) =>
  ref
    .slice(2)
    .split('/')
    .reduce((value, key) => value[key.replaceAll('~1', '/').replaceAll('~0', '~')], document);

/** Resolves the reference of a schema and merges its `allOf`. */
function resolveSchema(document, schema) {
  const { $ref, ...siblings } = schema;
  const resolved = $ref
    ? { ...resolveSchema(document, resolvePointer(document, $ref)), ...siblings }
    : schema;
  if (!resolved.allOf) return resolved;
  const parts = resolved.allOf.map((each) => resolveSchema(document, each));
  return {
    ...Object.assign({}, ...parts, resolved),
    properties: Object.assign(
      {},
      ...parts.map(({ properties }) => properties),
      resolved.properties,
    ),
    required: [...parts.flatMap(({ required = [] }) => required), ...(resolved.required ?? [])],
  };
}

const firstSentence = (text = '') => /^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text;

/** Combines the properties of all variants. A field is required if every variant requires it. */
function propertiesOf(document, schema) {
  const variants = schema.oneOf ?? schema.anyOf;
  if (!variants) return { properties: schema.properties ?? {}, required: schema.required ?? [] };
  const parts = variants.map((each) => propertiesOf(document, resolveSchema(document, each)));
  const properties = {};
  for (const part of [{ properties: schema.properties ?? {} }, ...parts]) {
    for (const [name, each] of Object.entries(part.properties)) {
      properties[name] = mergeSchemas(document, properties[name], each);
    }
  }
  const [first = [], ...following] = parts.map(({ required }) => required);
  const common = first.filter((name) => following.every((each) => each.includes(name)));
  return { properties, required: [...common, ...(schema.required ?? [])] };
}

/** Merges a property of two variants: the result allows the values of both. */
function mergeSchemas(document, a, b) {
  if (!a) return b;
  const [first, second] = [resolveSchema(document, a), resolveSchema(document, b)];
  const values = (each) => each.enum ?? (each.const === undefined ? undefined : [each.const]);
  const [firstValues, secondValues] = [values(first), values(second)];
  if (firstValues && secondValues)
    return { ...first, const: undefined, enum: [...new Set([...firstValues, ...secondValues])] };
  if (first.properties && second.properties && first !== second) {
    return {
      ...first,
      oneOf: undefined,
      properties: { ...second.properties, ...first.properties },
    };
  }
  return first;
}

function typeOf(document, schema) {
  const { type, format, items, enum: values } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null');
  if (format === 'binary') return 'file';
  if (types[0] === 'array') {
    const inner = items ? resolveSchema(document, items) : {};
    return inner.type === 'string' || inner.enum ? 'list' : 'json';
  }
  if (['integer', 'number'].includes(types[0])) return 'number';
  if (types[0] === 'boolean' || types[0] === 'string') return types[0];
  return values || schema.const !== undefined ? 'string' : 'json';
}

function fieldOf(document, path, schema, isRequired) {
  const inner = schema.items ? resolveSchema(document, schema.items) : {};
  const values =
    schema.enum ?? inner.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const text = firstSentence(schema.description);
  return {
    path: path.join('.'),
    flag: path.map(kebab).join('.'),
    type: typeOf(document, schema),
    ...(text && { text }),
    ...(values && { values }),
    ...(isRequired && { required: true }),
  };
}

/** Returns the fields of a body: those of the outer object before those of nested objects. */
export function bodyFields(document, schema, path = []) {
  const { properties, required } = propertiesOf(document, resolveSchema(document, schema));
  const outer = [];
  const inner = [];
  for (const [name, each] of Object.entries(properties)) {
    const resolved = resolveSchema(document, each);
    if (resolved.readOnly || /^Set by the server\./.test(resolved.description)) continue;
    const fieldPath = [...path, name];
    const isObject =
      resolved.type === 'object' || resolved.properties || (resolved.oneOf ?? resolved.anyOf);
    const nested =
      isObject && fieldPath.length < MAX_DEPTH ? bodyFields(document, resolved, fieldPath) : [];
    const isRequired = path.length === 0 && required.includes(name);
    outer.push({
      ...fieldOf(document, fieldPath, resolved, isRequired),
      ...(nested.length && { nested: true }),
    });
    inner.push(...nested);
  }
  return [...outer, ...inner];
}

export function queryFields(document, parameters) {
  return parameters.map(({ name, schema, description, required }) => {
    const resolved = resolveSchema(document, schema);
    const [one] = resolved.anyOf ?? [];
    const simple = one ? { ...resolveSchema(document, one), type: 'array', items: one } : resolved;
    return fieldOf(document, [name], { ...simple, description }, required);
  });
}
