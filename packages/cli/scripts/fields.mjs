// Flags of an operation: the parameters of its query and the fields of its body. A field of a
// nested object has a flag with a dot, such as `--source.account-id`.
import { kebabCase } from './names.mjs';

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
  const resolvedSchema = $ref
    ? { ...resolveSchema(document, resolvePointer(document, $ref)), ...siblings }
    : schema;
  if (!resolvedSchema.allOf) return resolvedSchema;
  const parts = resolvedSchema.allOf.map((each) => resolveSchema(document, each));
  return {
    ...Object.assign({}, ...parts, resolvedSchema),
    properties: Object.assign(
      {},
      ...parts.map(({ properties }) => properties),
      resolvedSchema.properties,
    ),
    required: [
      ...parts.flatMap(({ required = [] }) => required),
      ...(resolvedSchema.required ?? []),
    ],
  };
}

const firstSentence = (text = '') => /^[\s\S]*?\.(?=\s|$)/.exec(text)?.[0] ?? text;

/** A description that lists the meaning of each value is not shortened. */
const textOf = (description = '') =>
  /^[A-Z_]{3,}: /.test(description) ? description : firstSentence(description);

/**
 * Combines the properties of all variants. A field is required if the schema itself or every
 * variant requires it.
 */
function propertiesOf(document, schema) {
  const variants = schema.oneOf ?? schema.anyOf;
  if (!variants) return { properties: schema.properties ?? {}, required: schema.required ?? [] };
  const parts = variants.map((each) => propertiesOf(document, resolveSchema(document, each)));
  const properties = {};
  for (const variant of [{ properties: schema.properties ?? {} }, ...parts]) {
    for (const [name, each] of Object.entries(variant.properties)) {
      properties[name] = mergeSchemas(document, properties[name], each);
    }
  }
  const [firstNames = [], ...followingNames] = parts.map(({ required }) => required);
  const commonNames = firstNames.filter((name) =>
    followingNames.every((each) => each.includes(name)),
  );
  return { properties, required: [...commonNames, ...(schema.required ?? [])] };
}

const hasProperties = (document, schema) =>
  Object.keys(propertiesOf(document, schema).properties).length > 0;

/**
 * Merges a property of two variants: the result has the values, or the nested properties, of both.
 * Otherwise the first variant applies.
 */
function mergeSchemas(document, a, b) {
  if (!a) return b;
  const [firstSchema, secondSchema] = [resolveSchema(document, a), resolveSchema(document, b)];
  const values = (each) => each.enum ?? (each.const === undefined ? undefined : [each.const]);
  const [firstValues, secondValues] = [values(firstSchema), values(secondSchema)];
  if (firstValues && secondValues)
    return {
      ...firstSchema,
      const: undefined,
      enum: [...new Set([...firstValues, ...secondValues])],
    };
  const variants = [firstSchema, secondSchema];
  if (firstSchema === secondSchema || !variants.every((each) => hasProperties(document, each)))
    return firstSchema;
  return { type: 'object', description: firstSchema.description, oneOf: variants };
}

function typeOf(document, schema) {
  const { type, format, items, enum: values } = schema;
  const types = (Array.isArray(type) ? type : [type]).filter((each) => each !== 'null');
  if (format === 'binary') return 'file';
  if (types[0] === 'array') {
    const item = items ? resolveSchema(document, items) : {};
    return item.type === 'string' || item.enum ? 'list' : 'json';
  }
  if (['integer', 'number'].includes(types[0])) return 'number';
  if (types[0] === 'boolean' || types[0] === 'string') return types[0];
  return values || schema.const !== undefined ? 'string' : 'json';
}

function fieldOf(document, path, schema, isRequired) {
  const item = schema.items ? resolveSchema(document, schema.items) : {};
  const values =
    schema.enum ?? item.enum ?? (schema.const === undefined ? undefined : [schema.const]);
  const text = textOf(schema.description);
  return {
    path: path.join('.'),
    flag: path.map(kebabCase).join('.'),
    type: typeOf(document, schema),
    ...(text && { text }),
    ...(values && { values }),
    ...(isRequired && { required: true }),
  };
}

/** Returns the fields of a body: the outer fields, then the fields of nested objects. */
export function bodyFields(document, schema, path = []) {
  const { properties, required } = propertiesOf(document, resolveSchema(document, schema));
  const outerFields = [];
  const innerFields = [];
  for (const [name, each] of Object.entries(properties)) {
    const resolvedSchema = resolveSchema(document, each);
    if (resolvedSchema.readOnly || /^Set by the server\./.test(resolvedSchema.description))
      continue;
    const fieldPath = [...path, name];
    const isObject =
      resolvedSchema.type === 'object' ||
      resolvedSchema.properties ||
      (resolvedSchema.oneOf ?? resolvedSchema.anyOf);
    const nestedFields =
      isObject && fieldPath.length < MAX_DEPTH
        ? bodyFields(document, resolvedSchema, fieldPath)
        : [];
    const isRequired = path.length === 0 && required.includes(name);
    outerFields.push({
      ...fieldOf(document, fieldPath, resolvedSchema, isRequired),
      ...(nestedFields.length && { nested: true }),
    });
    innerFields.push(...nestedFields);
  }
  return [...outerFields, ...innerFields];
}

export function queryFields(document, parameters) {
  return parameters.map(({ name, schema, description, required }) => {
    const resolvedSchema = resolveSchema(document, schema);
    const [itemSchema] = resolvedSchema.anyOf ?? [];
    const listSchema = itemSchema
      ? { ...resolveSchema(document, itemSchema), type: 'array', items: itemSchema }
      : resolvedSchema;
    return fieldOf(document, [name], { ...listSchema, description }, required);
  });
}
