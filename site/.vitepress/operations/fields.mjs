// Fields of a schema as tables: nested objects with dotted names, and a separate table for each
// variant of a union.
import { nameOf, resolve } from './document.mjs';

/**
 * Depth from which objects with a named type are not expanded, such as `a.b.c`. Objects without a
 * named type are expanded at every depth.
 */
const MAX_DEPTH = 2;

const union = (ownValues = [], otherValues = []) => [...new Set([...ownValues, ...otherValues])];

function mergeSchemas(schema, other) {
  const result = {
    ...other,
    ...schema,
    required: union(schema.required, other.required),
    properties: { ...other.properties, ...schema.properties },
  };
  if (schema.enum && other.enum)
    result.enum = schema.enum.filter((value) => other.enum.includes(value));
  return result;
}

/** A schema without references, `allOf` and the alternative null. */
export function flatten(schema) {
  const { allOf = [], anyOf = [], ...ownFields } = resolve(schema);
  const mergedSchema = allOf.map(flatten).reduce(mergeSchemas, ownFields);
  const isNull = (candidate) => candidate.type === 'null';
  const [alternative, ...otherAlternatives] = anyOf.filter((candidate) => !isNull(candidate));
  if (alternative === undefined) return mergedSchema;
  if (otherAlternatives.length === 0)
    return { ...mergeSchemas(mergedSchema, flatten(alternative)), nullable: true };
  return { ...mergedSchema, alternatives: [alternative, ...otherAlternatives] };
}

const typesOf = (schema) =>
  [schema.type ?? (schema.properties ? 'object' : undefined)]
    .flat()
    .filter((typeName) => typeName !== undefined && typeName !== 'null');

const isNullable = ({ type, nullable }) => nullable || [type].flat().includes('null');

/** Description of the values that a schema accepts. */
export function typeOf(schema) {
  const shape = flatten(schema);
  const name = () => {
    if (shape.oneOf) return 'object';
    if (shape.alternatives) return shape.alternatives.map(typeOf).join(' or ');
    if (typesOf(shape).includes('array')) return `array of ${typeOf(shape.items ?? {})}`;
    return shape.format === 'binary' ? 'file' : typesOf(shape).join(' or ') || 'any value';
  };
  return isNullable(shape) ? `${name()} or null` : name();
}

/** The value of the discriminator, and the schema of each variant. */
const variantsOf = ({ oneOf, discriminator }) =>
  Object.entries(discriminator?.mapping ?? {}).length > 0
    ? Object.entries(discriminator.mapping).map(([value, $ref]) => ({ value, schema: { $ref } }))
    : oneOf.map((schema) => ({ value: nameOf(schema) ?? flatten(schema).title, schema }));

/** The name of an object that has fields, or of such objects in a list. */
function typeNameOf(schema) {
  const { properties, items } = flatten(schema);
  if (items) return typeNameOf(items);
  return properties ? nameOf(schema) : undefined;
}

/** Collects the tables: the rows of one schema, and its variants. */
function collector(maxVariants) {
  const tables = [];
  const tableByKey = new Map();

  /** Registers a variant once for each place and schema, and returns its table. */
  function variantAt(at, discriminator, { value, schema }) {
    const key = `${at} ${nameOf(schema) ?? value}`;
    const existingTable = tableByKey.get(key);
    if (existingTable) return existingTable;
    const hasSameTitle = tables.some((table) => table.at === at && table.value === value);
    const table = {
      at,
      discriminator,
      value,
      schema,
      name: hasSameTitle ? nameOf(schema) : undefined,
    };
    tableByKey.set(key, table);
    tables.push(table);
    return table;
  }

  /** The fields of an object or of the entries of a list. */
  function nestedRows(shape, at, depth) {
    if (shape.oneOf) return [];
    if (typesOf(shape).includes('array'))
      return nestedRows(flatten(shape.items ?? {}), `${at}[]`, depth);
    return rowsOf(shape, at, depth + 1);
  }

  /** Variants of a union or of the entries of a list. */
  function unionOf(shape, at) {
    if (shape.oneOf) {
      const discriminator = shape.discriminator?.propertyName;
      const variants = variantsOf(shape);
      if (variants.length > maxVariants) return variants;
      return variants.map((variant) => variantAt(at, discriminator, variant));
    }
    return typesOf(shape).includes('array') ? unionOf(flatten(shape.items ?? {}), `${at}[]`) : [];
  }

  /** One row for each field below `at`. */
  function rowsOf(shape, at, depth) {
    return Object.entries(shape.properties ?? {}).flatMap(([key, schema]) => {
      const name = at ? `${at}.${key}` : key;
      const field = flatten(schema);
      const typeName = depth >= MAX_DEPTH ? typeNameOf(schema) : undefined;
      const rowsBelow = typeName ? [] : nestedRows(field, name, depth);
      const row = {
        name,
        schema,
        required: shape.required?.includes(key) ?? false,
        description: resolve(schema).description ?? field.description,
        typeName,
        variants: unionOf(field, name),
      };
      return [row, ...rowsBelow];
    });
  }

  return { tables, rowsOf, unionOf };
}

/**
 * The tables of a schema. Fields outside variants are in the first table. Variants of a union that
 * has more than `maxVariants` are named by its row alone.
 */
export function tablesOf(schema, maxVariants = Number.POSITIVE_INFINITY) {
  const { tables, rowsOf, unionOf } = collector(maxVariants);
  const shape = flatten(schema);
  const isList = typesOf(shape).includes('array');
  const firstShape = isList ? flatten(shape.items ?? {}) : shape;
  unionOf(shape, '');
  const root = { at: '', rows: rowsOf(firstShape, isList ? '[]' : '', 0) };
  // Variants within variants extend the list while it is read.
  for (const table of tables)
    table.rows = rowsOf(flatten(table.schema), table.at, table.at.split('.').length - 1);
  return root.rows.length > 0 ? [root, ...tables] : tables;
}
