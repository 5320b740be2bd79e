// Schema types in addition to those of TypeBox. A schema value is converted to OpenAPI, where a
// union is `oneOf` with a discriminator and a named schema is a component. For Ajv, a union is a
// sequence of if/then, so that an invalid branch reports only its own errors. By default, unknown
// properties are allowed.
import { type Static, type TSchema, type TUnsafe, Type } from '@sinclair/typebox';

type Json = Record<string, unknown>;
type Branches = Record<string, TSchema>;
type Union<Tag extends string, B extends Branches> = {
  [V in keyof B & string]: { [T in Tag]: V } & Static<B[V]>;
}[keyof B & string];

interface VariantMark {
  tag: string;
  branches: Branches;
  tagType?: TSchema | undefined;
  tagDescription?: string | undefined;
}

// TypeBox copies symbols to derived schemas (Optional, Object, Array), and JSON omits them.
const VARIANT = Symbol('variant');
const DESCRIPTION = Symbol('note');
const RULE = Symbol('rule');
const SOURCE = Symbol('source');

const schemaOf = <T>(json: Json): TUnsafe<T> => Type.Unsafe<T>(json as TSchema);

/**
 * A string that is one of `values`: `{ type: 'string', enum }`, typed as the union of the literals.
 */
export function oneOf<const V extends string>(values: readonly V[], opts: Json = {}): TUnsafe<V> {
  return schemaOf<V>({ ...opts, type: 'string', enum: [...values] });
}

/** A subset of a named enumeration. The document shows these values and the complete enumeration. */
export const subsetOf = <const V extends string>(
  enumeration: TSchema,
  values: readonly V[],
): TUnsafe<V> => schemaOf<V>({ allOf: [oneOf(values), enumeration] });

/**
 * A union discriminated by the string property `tag`. Keys of `branches` are the values of the tag. A
 * branch is an object schema, an intersection or another variant, and may omit the tag.
 * `opts.tagType` is the enumeration of the values of the tag in the document. Without one,
 * `opts.tagDescription` describes the tag.
 */
export function variant<const Tag extends string, B extends Branches>(
  tag: Tag,
  branches: B,
  opts: Json & { tagType?: TSchema; tagDescription?: string } = {},
): TUnsafe<Union<Tag, B>> {
  const { tagType, tagDescription, ...options } = opts;
  const variantMark: VariantMark = { tag, branches, tagType, tagDescription };
  return schemaOf({ ...options, [VARIANT]: variantMark });
}

/**
 * Sets the component name of a schema. The name is stored in `$id`, because TypeBox drops that key when it
 * derives another shape (Partial, Pick, Omit, Composite). A derived schema therefore has no name.
 */
export function named<T extends TSchema>(name: string, schema: T): T {
  return { ...schema, $id: name, [SOURCE]: schema };
}

/**
 * The source of a named schema, which is the same object for all copies, such as optional properties. The
 * source of a changed copy is the copy itself.
 */
function sourceOf(schema: TSchema): TSchema {
  const source = (schema as { [SOURCE]?: TSchema })[SOURCE];
  if (!source) return schema;
  const isCopy = Object.keys(schema).every((key) => key === '$id' || schema[key] === source[key]);
  return isCopy ? source : schema;
}

/** A schema with another description, for one use of a named schema. */
export function withDescription<T extends TSchema>(schema: T, description: string): T {
  return { ...schema, [DESCRIPTION]: description };
}

/** A schema with an error text for its rule, because most clients cannot read a pattern. */
export function withErrorText<T extends TSchema>(schema: T, errorText: string): T {
  return { ...schema, [RULE]: errorText };
}

/**
 * The schema or null, with the description of the schema. A plain type becomes a list of types, so that Ajv
 * reports a single error.
 */
export function nullable<T extends TSchema>(schema: T): TUnsafe<Static<T> | null> {
  if (typeof schema.type === 'string' && !schema.$id && !markOf(schema)) {
    const values = schema.enum ? { enum: [...schema.enum, null] } : {};
    return schemaOf({ ...schema, ...values, type: [schema.type, 'null'] });
  }
  const { [DESCRIPTION]: description = schema.description, ...valueSchema } = schema as TSchema & {
    [DESCRIPTION]?: string;
  };
  const describedUnion = description ? { description } : {};
  return schemaOf({ ...describedUnion, anyOf: [valueSchema, { type: 'null' }] });
}

const MAP_KEYS = new Set(['properties', 'patternProperties', '$defs', 'definitions']);
const LIST_KEYS = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems']);
const NESTED_SCHEMA_KEYS = new Set([
  'items',
  'not',
  'if',
  'then',
  'else',
  'additionalProperties',
  'contains',
]);

function mapChildren(schema: Json, project: (child: TSchema) => unknown): Json {
  const result: Json = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === '$id' || value === undefined) continue;
    if (MAP_KEYS.has(key))
      result[key] = mapValues(value as Json, (child) => project(child as TSchema));
    else if (LIST_KEYS.has(key)) result[key] = (value as TSchema[]).map(project);
    else if (NESTED_SCHEMA_KEYS.has(key) && typeof value === 'object') {
      result[key] = Array.isArray(value) ? value.map(project) : project(value as TSchema);
    } else result[key] = structuredClone(value);
  }
  return result;
}

const mapValues = <A, B>(record: Record<string, A>, change: (value: A) => B): Record<string, B> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value)]));

const markOf = (schema: TSchema): VariantMark | undefined =>
  (schema as { [VARIANT]?: VariantMark })[VARIANT];

/** The branch as an object that requires the tag and fixes its value. */
function taggedBranch(variantMark: VariantMark, value: string, hasTagType: boolean): TSchema {
  const branch = variantMark.branches[value] as TSchema;
  const description = [variantMark.tagDescription, `Always \`${value}\`.`]
    .filter(Boolean)
    .join(' ');
  const property =
    hasTagType && variantMark.tagType
      ? { allOf: [oneOf([value]), variantMark.tagType] }
      : oneOf([value], { description });
  const properties = branch.properties as Json | undefined;
  if (properties && !markOf(branch)) {
    // A branch that contains the tag is complete and is the same in every place.
    if (variantMark.tag in properties) return branch;
    const otherRequired = (branch.required as string[] | undefined) ?? [];
    return {
      ...branch,
      type: 'object',
      required: [variantMark.tag, ...otherRequired],
      properties: { [variantMark.tag]: property, ...properties },
    };
  }
  const { $id, ...branchSchema } = branch;
  const tagSchema = {
    type: 'object',
    required: [variantMark.tag],
    properties: { [variantMark.tag]: property },
  };
  // The symbols that the TypeBox type requires are irrelevant to Ajv and the document.
  return { ...($id ? { $id } : {}), allOf: [tagSchema, branchSchema] } as unknown as TSchema;
}

/** Path prefix of component references. */
export const REF = '#/components/schemas/';

/**
 * The schema in OpenAPI 3.1, as plain JSON. Named schemas at any depth are added to `components` and
 * referenced. Throws if two shapes have the same name.
 */
export function toOpenApi(schema: TSchema, components: Record<string, unknown>): unknown {
  const description = (schema as { [DESCRIPTION]?: string })[DESCRIPTION];
  const name = schema.$id;
  if (!name) {
    const body = variantToOpenApi(schema, components);
    return description ? { ...body, description: description } : body;
  }
  addComponent(name, schema, components);
  return description ? { $ref: REF + name, description: description } : { $ref: REF + name };
}

/** The sources of the named schemas that are already components. */
const sourcesByComponents = new WeakMap<object, Map<string, TSchema>>();

function addComponent(name: string, schema: TSchema, components: Record<string, unknown>): void {
  const sources = sourcesByComponents.get(components) ?? new Map<string, TSchema>();
  sourcesByComponents.set(components, sources);
  const source = sourceOf(schema);
  if (sources.get(name) === source) return;
  const body = variantToOpenApi(schema, components);
  const existingBody = components[name];
  if (existingBody !== undefined && JSON.stringify(existingBody) !== JSON.stringify(body)) {
    throw new Error(`two different schemas are named ${name}`);
  }
  components[name] ??= body;
  sources.set(name, source);
}

function variantToOpenApi(schema: TSchema, components: Record<string, unknown>): Json {
  const convertedSchema = mapChildren(schema, (child) => toOpenApi(child, components));
  const variantMark = markOf(schema);
  if (!variantMark) return convertedSchema;
  const values = Object.keys(variantMark.branches);
  const branches = values.map(
    (value) => toOpenApi(taggedBranch(variantMark, value, true), components) as Json,
  );
  const refs = branches.map((branch) => branch.$ref);
  const mapping = refs.every((ref) => typeof ref === 'string')
    ? { mapping: Object.fromEntries(values.map((value, index) => [value, refs[index]])) }
    : {};
  // Values with the same branch have one entry, because `oneOf` requires that exactly one matches.
  const entries = new Map(branches.map((branch) => [JSON.stringify(branch), branch]));
  return {
    ...convertedSchema,
    oneOf: [...entries.values()],
    discriminator: { propertyName: variantMark.tag, ...mapping },
  };
}

/** Prefix of references within a single schema to the named schemas that it contains. */
const LOCAL_PREFIX = '#/$defs/';

/** A schema for Ajv. Each schema of `definitions` refers only to schemas before it. */
interface AjvParts {
  body: Json;
  definitions: Json;
}

/**
 * The schema and its named schemas as plain JSON, each under `base` and its name. Ajv compiles a named
 * schema once, which takes 100 ms for the union of account types and 400 ms if inlined. Ajv adds an error
 * with the keyword `if` to the errors of a rejected branch. Replies omit this error.
 */
export function ajvParts(schema: TSchema, base: string): AjvParts {
  const defs: Defs = { base, definitions: {} };
  return { body: bodyForAjv(schema, defs), definitions: defs.definitions };
}

/** The schema for Ajv, including its named schemas. */
export function toAjv(schema: TSchema): Json {
  const { body, definitions } = ajvParts(schema, LOCAL_PREFIX);
  return Object.keys(definitions).length ? { ...body, $defs: definitions } : body;
}

interface Defs {
  base: string;
  definitions: Json;
}

function schemaForAjv(schema: TSchema, defs: Defs): Json {
  const body = bodyForAjv(schema, defs);
  const name = schema.$id;
  if (!name) return body;
  const { base, definitions } = defs;
  definitions[name] ??= body;
  // Two shapes with the same name are validated separately. The OpenAPI projection rejects them.
  const isShared = JSON.stringify(definitions[name]) === JSON.stringify(body);
  return isShared ? { $ref: `${base}${name}` } : body;
}

function bodyForAjv(schema: TSchema, defs: Defs): Json {
  const convertedSchema = mapChildren(schema, (child) => schemaForAjv(child, defs));
  // Documentation would double the memory that Ajv uses.
  const { title: _t, description: _d, examples: _e, ...rules } = convertedSchema;
  const errorText = (schema as { [RULE]?: string })[RULE];
  const variantMark = markOf(schema);
  if (!variantMark) return errorText ? { ...rules, rule: errorText } : rules;
  const { tag } = variantMark;
  const values = Object.keys(variantMark.branches);
  return {
    ...rules,
    type: 'object',
    required: [tag],
    properties: { [tag]: { type: 'string', enum: values } },
    allOf: values.map((value) => ({
      if: { type: 'object', properties: { [tag]: { const: value } }, required: [tag] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema, never awaited.
      then: schemaForAjv(taggedBranch(variantMark, value, false), defs),
    })),
  };
}

/** A text with the description and further keywords of JSON Schema. */
export const text = (description: string, overrides: object = {}) =>
  Type.String({ description, ...overrides });

/** An amount in the minor unit of its currency, in its JSON form. */
export const Amount = Type.Integer({
  format: 'int64',
  minimum: 0,
  maximum: 9_000_000_000_000_000,
  description:
    'Amount in minor units of the currency, as a whole number: cents for USD, satoshis ' +
    'for BTC.',
});

export const PositiveAmount = Type.Integer({
  format: 'int64',
  exclusiveMinimum: 0,
  maximum: 9_000_000_000_000_000,
  description: 'Amount in minor units of the currency, as a whole number greater than 0.',
});

export const Timestamp = text('Time in UTC, ISO 8601, such as `2025-10-13T09:30:00Z`.', {
  format: 'date-time',
});
/** A time in UTC with the description. */
export const time = (description: string) => withDescription(Timestamp, description);

export const DateOnly = text('Calendar date, `YYYY-MM-DD`.', { format: 'date' });
export const CountryCode = text('Country code, ISO 3166-1 alpha-2, such as `DE`.', {
  pattern: '^[A-Z]{2}$',
});
export const Email = text('E-mail address.', { format: 'email', maxLength: 254 });
export const Phone = text('Telephone number in E.164 format, such as `+14155550123`.', {
  pattern: '^\\+[1-9]\\d{1,14}$',
});

export const Currency = named(
  'Currency',
  Type.Object(
    {
      code: Type.Optional(text('ISO 4217 currency code, or the ticker of a digital asset.')),
      name: Type.Optional(text('Name of the currency in English.')),
      symbol: Type.Optional(text('Currency symbol, such as `$`.')),
      decimals: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            'Number of decimal places of the minor unit: 2 for USD, 0 for JPY, 8 for BTC.',
        }),
      ),
    },
    { title: 'Currency', description: 'A currency and its number of decimal places.' },
  ),
);

export const CurrencyAmount = named(
  'CurrencyAmount',
  Type.Object(
    { amount: Amount, currency: Currency },
    { title: 'Amount of money', description: 'An amount and its currency.' },
  ),
);

export const Address = named(
  'Address',
  Type.Object(
    {
      line1: text('First address line: street and house number.', { minLength: 1 }),
      line2: Type.Optional(text('Second address line: apartment, floor or building.')),
      city: Type.Optional(text('City or town.')),
      state: Type.Optional(text('State, province or region.')),
      postalCode: text('Postal code, in the format of the country.', { minLength: 1 }),
      country: CountryCode,
    },
    { title: 'Address', description: 'A postal address.' },
  ),
);

/** A page of a list: the items, the cursor of the next page, and the total count. */
export const page = <T extends TSchema>(item: T, opts: Json = {}) =>
  Type.Object(
    {
      data: Type.Array(item, {
        description:
          'Items of this page. With a filter, there may be fewer than `limit` although more follow.',
      }),
      hasMore: Type.Boolean({ description: 'Whether there is a next page.' }),
      nextCursor: Type.Optional(
        text('Cursor of the next page: pass it as `cursor`. Absent on the last page.'),
      ),
      totalCount: Type.Optional(
        Type.Integer({
          minimum: 0,
          description:
            'Total number of items that match the filters, over all pages. Absent above ' +
            '10,000, if the count requires reading more than 10,000 items, and in lists ' +
            'without a total.',
        }),
      ),
    },
    opts,
  );

/** The query of an operation without parameters. Unknown parameters are rejected. */
export const NO_QUERY = Type.Object({}, { additionalProperties: false });

/** Query properties of every paged list, to be spread into the query schema. */
export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 100,
      default: 20,
      description: 'Maximum number of items in the page, 1 to 100. Defaults to 20.',
    }),
  ),
  cursor: Type.Optional(text('`nextCursor` of the previous page. Absent for the first page.')),
};
