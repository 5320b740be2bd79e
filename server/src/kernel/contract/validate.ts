// Validates a part of a request by its schema and reports its invalid fields. Schemas are compiled in steps
// after the start, or by the first request that needs them.
import type { TSchema } from '@sinclair/typebox';
import { Ajv, type ErrorObject, type Options, type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import type { FieldConstraint, FieldError } from '../fault.ts';
import { ajvParts } from '../schema.ts';
import { runToEnd } from '../steps.ts';
import type { Contract } from './operation.ts';

// Verbose, because the text of a rule is in the schema that a value violates. References are not inlined,
// so that each compiled part remains small. Schemas are checked by a test instead of at every start,
// because compiling the schema of schemas takes 50 ms.
const BASE_OPTIONS: Options = {
  meta: false,
  validateSchema: false,
  allErrors: true,
  strict: false,
  messages: true,
  verbose: true,
  inlineRefs: false,
};

const DATE_TIME = /^(\d{4}-\d\d-\d\d)T\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

/** Start of year 1 and end of year 9999. PostgreSQL has no year 0, and RFC 3339 no fifth digit. */
const [FIRST_MOMENT, AFTER_LAST_MOMENT] = [Date.parse('0001-01-01'), Date.parse('+010000-01-01')];

/** Rejects leap seconds, which Ajv accepts, and the 30th of February, which Date.parse accepts. */
function isTimestamp(text: string): boolean {
  const day = DATE_TIME.exec(text)?.[1];
  const time = Date.parse(text);
  if (!day || Number.isNaN(time) || time < FIRST_MOMENT || time >= AFTER_LAST_MOMENT) return false;
  return new Date(`${day}T00:00:00Z`).toISOString().startsWith(day);
}

function createAjv(options: Options): Ajv {
  const instance = new Ajv({ ...BASE_OPTIONS, ...options });
  // The types of the package describe its ES module. Node loads the CommonJS module, which exports the
  // function directly.
  (addFormats as unknown as (to: Ajv) => void)(instance);
  instance.addFormat('int64', true);
  instance.addFormat('binary', true);
  instance.addFormat('date-time', isTimestamp);
  return instance;
}

// Only query values are coerced, because they have no types. "5" becomes 5.
const bodyAjv = createAjv({ useDefaults: false });
const queryAjv = createAjv({ coerceTypes: 'array', useDefaults: true });

/** Prefix of the key of a named schema in an Ajv instance. */
const NAMED_PREFIX = '/named/';

const validators = new WeakMap<TSchema, ValidateFunction>();

/**
 * Compiles a schema and returns the validator. Pauses after each named schema, because a
 * complete schema takes up to 250 ms and a named schema at most 13 ms.
 */
function* compile(schema: TSchema, ajvInstance: Ajv): Generator<void, ValidateFunction> {
  const cachedValidator = validators.get(schema);
  if (cachedValidator) return cachedValidator;
  const { body, definitions } = ajvParts(schema, NAMED_PREFIX);
  for (const [name, each] of Object.entries(definitions)) {
    const key = NAMED_PREFIX + name;
    const cachedSchema = ajvInstance.schemas[key];
    if (!cachedSchema) ajvInstance.addSchema(each as TSchema, key, undefined, false);
    else if (JSON.stringify(cachedSchema.schema) !== JSON.stringify(each)) {
      throw new Error(`two different schemas are named ${name}`);
    }
    ajvInstance.getSchema(key);
    yield;
  }
  const check = ajvInstance.compile(body);
  validators.set(schema, check);
  return check;
}

/** Compiles the schemas of these contracts. */
export function* compileSchemas(contracts: readonly Contract[]): Generator<void, void> {
  for (const { body, query, headers } of contracts) {
    if (body) yield* compile(body, bodyAjv);
    if (headers) yield* compile(headers, bodyAjv);
    if (query) yield* compile(query, queryAjv);
    yield;
  }
}

const dottedPath = (pointer: string) => pointer.slice(1).replaceAll('/', '.').replaceAll('~1', '/');

function pathOf(error: ErrorObject): string {
  const path = dottedPath(error.instancePath);
  const params = error.params as { missingProperty?: string; additionalProperty?: string };
  const name = params.missingProperty ?? params.additionalProperty;
  if (name === undefined) return path;
  return path ? `${path}.${name}` : name;
}

const CONSTRAINTS: Record<string, (params: Record<string, unknown>) => FieldConstraint> = {
  pattern: (params) => ({ pattern: String(params.pattern) }),
  format: (params) => ({ format: String(params.format) }),
  enum: (params) => ({ enum: (params.allowedValues as unknown[]).map(String) }),
  minLength: (params) => ({ minLength: Number(params.limit) }),
  maxLength: (params) => ({ maxLength: Number(params.limit) }),
};

const countOf = (limit: unknown, noun: string) => `${limit} ${noun}${limit === 1 ? '' : 's'}`;

const MESSAGES: Record<string, (params: Record<string, unknown>) => string> = {
  required: () => 'is required',
  additionalProperties: () => 'is unknown',
  enum: (params) => `must be one of ${(params.allowedValues as unknown[]).join(', ')}`,
  pattern: (params) => `must match ${String(params.pattern)}`,
  format: (params) => `must be a valid ${String(params.format)}`,
  minLength: ({ limit }) => `must have at least ${countOf(limit, 'character')}`,
  maxLength: ({ limit }) => `must have at most ${countOf(limit, 'character')}`,
  minItems: ({ limit }) => `must have at least ${countOf(limit, 'item')}`,
  maxItems: ({ limit }) => `must have at most ${countOf(limit, 'item')}`,
  minProperties: ({ limit }) =>
    `must have at least ${limit} ${limit === 1 ? 'property' : 'properties'}`,
  uniqueItems: () => 'must not contain the same item twice',
  minimum: ({ limit }) => `must be at least ${limit}`,
  maximum: ({ limit }) => `must be at most ${limit}`,
  exclusiveMinimum: ({ limit }) => `must be greater than ${limit}`,
  exclusiveMaximum: ({ limit }) => `must be less than ${limit}`,
};

function fieldErrorOf(error: ErrorObject): FieldError {
  const params = error.params as Record<string, unknown>;
  const { rule } = error.parentSchema as { rule?: string };
  const defaultMessage = MESSAGES[error.keyword]?.(params) ?? error.message ?? 'is not valid';
  const constraint = CONSTRAINTS[error.keyword]?.(params);
  return {
    field: pathOf(error),
    ...(constraint ? { constraint } : {}),
    message: rule ?? defaultMessage,
  };
}

/** Maximum fields in one error, because describing thousands takes longer than finding them. */
export const MAX_FIELD_ERRORS = 100;

/**
 * Returns one error for each invalid field, at most `MAX_FIELD_ERRORS`. Empty for a valid value. Query
 * values are converted in place.
 */
export function fieldErrors(schema: TSchema, value: unknown, part: 'body' | 'query'): FieldError[] {
  const check = runToEnd(compile(schema, part === 'query' ? queryAjv : bodyAjv));
  if (check(value)) return [];
  const fieldErrorsByPath = new Map<string, FieldError>();
  for (const error of check.errors ?? []) {
    if (error.keyword === 'if') continue;
    const fieldError = fieldErrorOf(error);
    if (!fieldErrorsByPath.has(fieldError.field))
      fieldErrorsByPath.set(fieldError.field, fieldError);
    if (fieldErrorsByPath.size >= MAX_FIELD_ERRORS) break;
  }
  return [...fieldErrorsByPath.values()];
}

type Form = Record<string, unknown>;

/** A form with an empty text as its file, because the schema requires only its presence. */
const formAsText = (body: Form): Form => ('file' in body ? { ...body, file: '' } : body);

/** Errors of a body, by its schema and by additional rules, at most `MAX_FIELD_ERRORS`. */
export function bodyErrors(contract: Contract, body: unknown): FieldError[] {
  const bodyAsText = contract.upload ? formAsText(body as Form) : body;
  const errors = contract.body ? fieldErrors(contract.body, bodyAsText, 'body') : [];
  const schemaErrorFields = new Set(errors.map((error) => error.field));
  const ruleErrors = contract.bodyRules?.(body) ?? [];
  const allErrors = [
    ...errors,
    ...ruleErrors.filter((error) => !schemaErrorFields.has(error.field)),
  ];
  return allErrors.slice(0, MAX_FIELD_ERRORS);
}
