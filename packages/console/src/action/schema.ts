// Schema of a request body for a form: the kind of each input, and the values that the form sends.

export interface FieldSchema {
  type?: string | readonly string[];
  format?: string;
  enum?: readonly unknown[];
  description?: string;
  default?: unknown;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  pattern?: string;
  maxItems?: number;
  items?: FieldSchema;
  properties?: Readonly<Record<string, FieldSchema>>;
  required?: readonly string[];
  anyOf?: readonly FieldSchema[];
}

/** Kind of input for a field. JSON if no simpler kind fits. */
export type InputKind =
  | 'text'
  | 'long'
  | 'number'
  | 'amount'
  | 'money'
  | 'boolean'
  | 'choice'
  | 'choices'
  | 'time'
  | 'date'
  | 'group'
  | 'items'
  | 'texts'
  | 'json';

const typesOf = ({ type }: FieldSchema): readonly string[] =>
  type === undefined ? [] : typeof type === 'string' ? [type] : type;

export const isNullable = (schema: FieldSchema): boolean => typesOf(schema).includes('null');

const MAX_SHORT_TEXT_LENGTH = 400;

function kindOfText({ format, maxLength }: FieldSchema, name: string): InputKind {
  if (format === 'date-time') return 'time';
  if (format === 'date') return 'date';
  if (/url$/i.test(name)) return 'text';
  return name === 'reason' || (maxLength ?? 0) > MAX_SHORT_TEXT_LENGTH ? 'long' : 'text';
}

function kindOfItems(items: FieldSchema): InputKind {
  if (items.enum) return 'choices';
  if (typesOf(items).includes('string')) return 'texts';
  return items.properties ? 'items' : 'json';
}

/** Every integer of 64 bits is an amount. Other amounts are recognized by their name or unit. */
const isAmount = (name: string, { format, description = '' }: FieldSchema): boolean =>
  format === 'int64' || /amount$/i.test(name) || /\bminor units\b/.test(description);

export function kindOf(name: string, schema: FieldSchema): InputKind {
  const types = typesOf(schema);
  if (schema.enum) return 'choice';
  if (types.includes('boolean')) return 'boolean';
  if (types.includes('integer') || types.includes('number'))
    return isAmount(name, schema) ? 'amount' : 'number';
  if (types.includes('string')) return kindOfText(schema, name);
  if (types.includes('array')) return kindOfItems(schema.items ?? {});
  const { properties } = schema;
  if (!properties) return 'json';
  if (properties.amount && properties.currency && Object.keys(properties).length === 2)
    return 'money';
  return 'group';
}

export type Values = Readonly<Record<string, unknown>>;

const isEmpty = (value: unknown) =>
  value === undefined || value === '' || (Array.isArray(value) && value.length === 0);

/** The body without empty fields. */
function bodyOf(schema: FieldSchema, values: Values): Values {
  const entries = Object.entries(schema.properties ?? {}).map(([name, field]) => {
    const value = values[name];
    if (kindOf(name, field) !== 'group') return [name, value] as const;
    const innerBody = bodyOf(field, (value ?? {}) as Values);
    return [name, Object.keys(innerBody).length === 0 ? undefined : innerBody] as const;
  });
  return Object.fromEntries(entries.filter(([, value]) => !isEmpty(value)));
}

/** The current values of the fields of a form. */
export const currentValuesOf = (schema: FieldSchema, currentValues: Values): Values =>
  Object.fromEntries(
    Object.keys(schema.properties ?? {})
      .filter((name) => currentValues[name] !== undefined && currentValues[name] !== null)
      .map((name) => [name, currentValues[name]]),
  );

interface Change {
  body: Values;
  /** Required fields without a value. */
  missingFields: readonly string[];
}

/**
 * The values that a form sends: changed values and required values. A current value that was cleared is sent
 * as null, or reported as missing if the field cannot be null.
 */
export function changeOf(schema: FieldSchema, values: Values, currentValues: Values): Change {
  const { required = [], properties = {} } = schema;
  const body = bodyOf(schema, values);
  const clearedNames = Object.keys(currentValues).filter((name) => isEmpty(body[name]));
  const mayBeNull = (name: string) => isNullable(properties[name] ?? {});
  const isSent = ([name, value]: [string, unknown]) =>
    required.includes(name) || JSON.stringify(value) !== JSON.stringify(currentValues[name]);
  const nulls = clearedNames.filter(mayBeNull).map((name) => [name, null]);
  return {
    body: {
      ...Object.fromEntries(Object.entries(body).filter(isSent)),
      ...Object.fromEntries(nulls),
    },
    missingFields: [
      ...required.filter((name) => isEmpty(body[name])),
      ...clearedNames.filter((name) => !mayBeNull(name) && !required.includes(name)),
    ],
  };
}
