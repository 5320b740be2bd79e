// The call of an operation with the SDK, for the site and for the reference of a server. The parameters of
// the path and of the query and the fields of the body are one object.
import { groupOf, isList } from './groups.mjs';

const quote = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
const keyOf = (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name));

/** Longer objects and lists have a line for each item. */
const MAX_LINE = 70;

/** TypeScript that is inserted unchanged. */
const code = (text) => () => text;

/** A value as a literal of TypeScript. */
function literal(value, indent = 0) {
  if (typeof value === 'function') return value();
  if (typeof value === 'string') return value.includes('\n') ? JSON.stringify(value) : quote(value);
  if (typeof value !== 'object' || value === null) return String(value);
  const isArray = Array.isArray(value);
  const items = Object.entries(value).map(([key, each]) => {
    const text = literal(each, indent + 2);
    return isArray ? text : `${keyOf(key)}: ${text}`;
  });
  if (items.length === 0) return isArray ? '[]' : '{}';
  const line = isArray ? `[${items.join(', ')}]` : `{ ${items.join(', ')} }`;
  if (indent + line.length <= MAX_LINE && !line.includes('\n')) return line;
  const [open, close] = isArray ? '[]' : '{}';
  const pad = ' '.repeat(indent + 2);
  return `${open}\n${items.map((each) => `${pad}${each},\n`).join('')}${' '.repeat(indent)}${close}`;
}

const exampleOf = (parameter) => parameter.example ?? `<${parameter.name}>`;

/** Fields of a form. `fileStream` reads the file. */
const formOf = (form) =>
  Object.fromEntries(
    Object.entries(form).map(([name, value]) => [
      name,
      name === 'file' ? code(`fileStream(${quote(value)})`) : value,
    ]),
  );

/** Headers that are options of a call. */
const OPTIONS = {
  'Idempotency-Key': 'idempotencyKey',
  'Request-Id': 'requestId',
};

function optionsOf(parameters) {
  const options = parameters
    .filter((each) => each.in === 'header' && each.example !== undefined)
    .map(({ name, example }) => [OPTIONS[name], example])
    .filter(([name]) => name !== undefined);
  return options.length ? [Object.fromEntries(options)] : [];
}

/** Several arguments are on separate lines. */
function argumentsOf(values) {
  if (values.length <= 1) return values.map((each) => literal(each)).join('');
  return `\n${values.map((each) => `  ${literal(each, 2)},\n`).join('')}`;
}

const CREDENTIALS = {
  basic: 'RAILHEAD_URL, RAILHEAD_CLIENT_ID and RAILHEAD_CLIENT_SECRET',
  bearer: 'RAILHEAD_URL and RAILHEAD_AGENT_TOKEN',
  none: 'RAILHEAD_URL',
};

const AUTH = { BasicAuth: 'basic', AgentAuth: 'bearer' };

/** Credential, body or form of the first example of an operation, and whether it has a reply. */
export function exampleRequestOf(operation) {
  const [type, content] = Object.entries(operation.requestBody?.content ?? {})[0] ?? [];
  const example = Object.values(content?.examples ?? {})[0]?.value;
  const hasForm = type === 'multipart/form-data';
  const [scheme] = Object.keys(operation.security?.[0] ?? {});
  return {
    auth: AUTH[scheme] ?? 'none',
    body: type === 'application/json' ? example : undefined,
    form: hasForm ? example : {},
    hasForm,
    hasReply: Object.entries(operation.responses).some(
      ([status, { content: body }]) => status.startsWith('2') && body !== undefined,
    ),
  };
}

/** The call with the first example of an operation of the API document. */
export function sdkSample(operation, request = exampleRequestOf(operation)) {
  const { auth, body, form, hasForm, hasReply } = request;
  const parameters = operation.parameters ?? [];
  const parameterEntries = parameters
    .filter((each) => each.in === 'path' || (each.in === 'query' && each.example !== undefined))
    .map((each) => [each.name, exampleOf(each)]);
  const input = { ...Object.fromEntries(parameterEntries), ...body, ...formOf(form) };
  const options = optionsOf(parameters);
  const hasInput = Object.keys(input).length > 0 || options.length > 0;
  const args = argumentsOf([...(hasInput ? [input] : []), ...options]);
  const call = `client.${groupOf(operation)}.${operation.operationId}(${args})`;
  return [
    "import { createClient } from 'railhead-sdk';",
    ...(hasForm && 'file' in form ? ["import { fileStream } from 'railhead-sdk/node';"] : []),
    '',
    `// Reads ${CREDENTIALS[auth]}.`,
    'const client = createClient();',
    ...(isList(operation)
      ? [`for await (const each of ${call}) {`, '  console.log(each);', '}']
      : hasReply
        ? [`const result = await ${call};`, 'console.log(result);']
        : [`await ${call};`]),
  ].join('\n');
}
