// A small valid value for a JSON schema: required properties only, and the first of several
// alternatives. Tests use the value to pass the validation of a request.

type Json = Record<string, unknown>;

const FORMATS: Record<string, string> = {
  'date-time': '2026-01-01T00:00:00Z',
  date: '2026-01-01',
  email: 'someone@example.com',
  uri: 'https://example.com/',
};

const PATTERNS: [RegExp, string][] = [
  [/A-Z\]\{2\}\$/, 'US'],
  [/\\\+/, '+14155550100'],
  [/https/, 'https://example.com/hook'],
];

function resolve(schema: Json, root: Json): Json {
  const ref = schema.$ref as string | undefined;
  if (!ref) return schema;
  const target = ref
    .replace('#/', '')
    .split('/')
    .reduce((value: unknown, key) => (value as Json)[key], root);
  return resolve(target as Json, root);
}

function text(schema: Json): string {
  if (schema.format) return FORMATS[schema.format as string] ?? 'x';
  const pattern = schema.pattern as string | undefined;
  const sample = pattern && PATTERNS.find(([expression]) => expression.test(pattern))?.[1];
  return sample || 'x'.repeat(Math.max(1, (schema.minLength as number | undefined) ?? 1));
}

/** `root` is the document that `$ref` refers to. */
export function sample(schemaOrReference: Json, root: Json): unknown {
  const schema = resolve(schemaOrReference, root);
  if (Array.isArray(schema.enum)) return schema.enum[0];
  if (schema.const !== undefined) return schema.const;
  const choice = (schema.oneOf ?? schema.anyOf) as Json[] | undefined;
  if (choice) return sample(choice[0] as Json, root);
  if (Array.isArray(schema.allOf)) {
    const parts = (schema.allOf as Json[]).map((partSchema) => sample(partSchema, root));
    return parts.every((part) => typeof part === 'object') ? Object.assign({}, ...parts) : parts[0];
  }
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  if (type === 'string') return text(schema);
  if (type === 'integer' || type === 'number') {
    return Math.max(1, (schema.minimum as number | undefined) ?? 1);
  }
  if (type === 'boolean') return true;
  if (type === 'array') return schema.minItems ? [sample(schema.items as Json, root)] : [];
  const properties = (schema.properties ?? {}) as Record<string, Json>;
  const requiredNames = (schema.required ?? []) as string[];
  return Object.fromEntries(
    requiredNames.map((name) => [name, sample(properties[name] as Json, root)]),
  );
}
