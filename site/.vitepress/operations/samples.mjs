// The request of an operation in curl, JavaScript, Python and Go, and with the TypeScript SDK.
// Credentials are read from the environment.
import { createHash } from 'node:crypto';
import { exampleRequestOf, sdkSample } from '../../../packages/sdk/scripts/sample.mjs';

const indent = (text, spaces) => text.replaceAll('\n', `\n${' '.repeat(spaces)}`);
const json = (value) => JSON.stringify(value, null, 2);

/** A text in single quotes of a shell. */
const shellText = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** A text in single quotes of JavaScript or Python. */
const quotedText = (text) => `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

/** A string literal of Go. */
const goText = (text) => (text.includes('`') ? JSON.stringify(text) : `\`${text}\``);

/** Fields of a form. A field named `file` is a file, and all other fields are texts. */
const filesOf = (form) => Object.entries(form).filter(([name]) => name === 'file');
const textsOf = (form) => Object.entries(form).filter(([name]) => name !== 'file');

function curl({ method, url, auth, headers, body, form }) {
  const lines = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${shellText(url)}`,
    ...(auth === 'basic' ? ['-u "$CLIENT_ID:$CLIENT_SECRET"'] : []),
    ...(auth === 'bearer' ? ['-H "Authorization: Bearer $AGENT_TOKEN"'] : []),
    ...headers.map(([name, value]) => `-H ${shellText(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellText(json(body))}`]),
    ...filesOf(form).map(([name, value]) => `-F ${shellText(`${name}=@${value}`)}`),
    ...textsOf(form).map(([name, value]) => `-F ${shellText(`${name}=${value}`)}`),
  ];
  return lines.join(' \\\n  ');
}

const JS_AUTH = {
  basic: "Authorization: 'Basic ' + btoa(CLIENT_ID + ':' + CLIENT_SECRET),",
  bearer: "Authorization: 'Bearer ' + AGENT_TOKEN,",
};
const JS_NAMES = { basic: 'CLIENT_ID, CLIENT_SECRET', bearer: 'AGENT_TOKEN' };

const jsForm = (form) => [
  ...(filesOf(form).length ? ["import { openAsBlob } from 'node:fs';\n"] : []),
  'const form = new FormData();',
  ...filesOf(form).map(
    ([name, value]) =>
      `form.append(${quotedText(name)}, await openAsBlob(${quotedText(value)}), ${quotedText(value)});`,
  ),
  ...textsOf(form).map(
    ([name, value]) => `form.append(${quotedText(name)}, ${quotedText(value)});`,
  ),
];

function javascript({ method, url, auth, headers, body, form, hasForm, hasReply }) {
  const fields = [
    ...(JS_AUTH[auth] ? [JS_AUTH[auth]] : []),
    ...headers.map(([name, value]) => `${quotedText(name)}: ${quotedText(value)},`),
  ];
  return [
    ...(hasForm ? jsForm(form) : []),
    ...(JS_NAMES[auth] ? [`const { ${JS_NAMES[auth]} } = process.env;`] : []),
    `const response = await fetch(${quotedText(url)}, {`,
    `  method: '${method}',`,
    ...(fields.length ? ['  headers: {', ...fields.map((field) => `    ${field}`), '  },'] : []),
    ...(body === undefined ? [] : [`  body: JSON.stringify(${indent(json(body), 2)}),`]),
    ...(hasForm ? ['  body: form,'] : []),
    '});',
    hasReply ? 'console.log(await response.json());' : 'console.log(response.status);',
  ].join('\n');
}

const PYTHON_NAMES = new Map([
  [true, 'True'],
  [false, 'False'],
  [null, 'None'],
]);

/** A value as a literal of Python. */
function pythonLiteral(value, indentation = 0) {
  if (PYTHON_NAMES.has(value)) return PYTHON_NAMES.get(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const [openingBracket, closingBracket] = Array.isArray(value) ? '[]' : '{}';
  const items = Object.entries(value).map(([key, each]) => {
    const literal = pythonLiteral(each, indentation + 4);
    return Array.isArray(value) ? literal : `${JSON.stringify(key)}: ${literal}`;
  });
  if (items.length === 0) return openingBracket + closingBracket;
  const pad = ' '.repeat(indentation + 4);
  return `${openingBracket}\n${items.map((item) => `${pad}${item},\n`).join('')}${' '.repeat(indentation)}${closingBracket}`;
}

const PYTHON_AUTH = {
  basic: "    auth=(os.environ['CLIENT_ID'], os.environ['CLIENT_SECRET']),",
};

function python({ method, url, auth, headers, body, form, hasForm, hasReply }) {
  const bearer = "        'Authorization': f\"Bearer {os.environ['AGENT_TOKEN']}\",";
  // The library sets the content type.
  const fields = [
    ...(auth === 'bearer' ? [bearer] : []),
    ...headers
      .filter(([name]) => name !== 'Content-Type')
      .map(([name, value]) => `        ${quotedText(name)}: ${quotedText(value)},`),
  ];
  const files = filesOf(form).map(
    ([name, value]) => `${quotedText(name)}: open(${quotedText(value)}, 'rb')`,
  );
  const texts = Object.fromEntries(textsOf(form));
  return [
    ...(auth === 'none' ? [] : ['import os\n']),
    'import requests\n',
    `response = requests.${method.toLowerCase()}(`,
    `    ${quotedText(url)},`,
    ...(PYTHON_AUTH[auth] ? [PYTHON_AUTH[auth]] : []),
    ...(fields.length ? ['    headers={', ...fields, '    },'] : []),
    ...(body === undefined ? [] : [`    json=${pythonLiteral(body, 4)},`]),
    ...(files.length ? [`    files={${files.join(', ')}},`] : []),
    ...(hasForm && textsOf(form).length ? [`    data=${pythonLiteral(texts, 4)},`] : []),
    ')',
    hasReply ? 'print(response.json())' : 'print(response.status_code)',
  ].join('\n');
}

const GO_ERROR_CHECK = ['if err != nil {', '\tpanic(err)', '}'];

const goForm = (form) => [
  'body := &bytes.Buffer{}',
  'form := multipart.NewWriter(body)',
  ...textsOf(form).map(([name, value]) => `form.WriteField("${name}", ${goText(value)})`),
  ...filesOf(form).flatMap(([name, value]) => [
    `content, err := os.ReadFile(${goText(value)})`,
    ...GO_ERROR_CHECK,
    `part, err := form.CreateFormFile("${name}", ${goText(value)})`,
    ...GO_ERROR_CHECK,
    'part.Write(content)',
  ]),
  'form.Close()',
];

const GO_AUTH = {
  basic: 'request.SetBasicAuth(os.Getenv("CLIENT_ID"), os.Getenv("CLIENT_SECRET"))',
  bearer: 'request.Header.Set("Authorization", "Bearer "+os.Getenv("AGENT_TOKEN"))',
};

function go({ method, url, auth, headers, body, form, hasForm }) {
  const payload = hasForm || body !== undefined ? 'body' : 'nil';
  const packages = [
    ...(hasForm ? ['bytes'] : []),
    ...['fmt', 'io'],
    ...(hasForm ? ['mime/multipart'] : []),
    'net/http',
    ...(auth === 'none' && !hasForm ? [] : ['os']),
    ...(body === undefined ? [] : ['strings']),
  ];
  const statements = [
    ...(body === undefined ? [] : [`body := strings.NewReader(${goText(json(body))})`]),
    ...(hasForm ? goForm(form) : []),
    `request, err := http.NewRequest("${method}", ${goText(url)}, ${payload})`,
    ...GO_ERROR_CHECK,
    ...(GO_AUTH[auth] ? [GO_AUTH[auth]] : []),
    ...headers.map(([name, value]) => `request.Header.Set("${name}", ${goText(value)})`),
    ...(hasForm ? ['request.Header.Set("Content-Type", form.FormDataContentType())'] : []),
    'response, err := http.DefaultClient.Do(request)',
    ...GO_ERROR_CHECK,
    'defer response.Body.Close()',
    'reply, err := io.ReadAll(response.Body)',
    ...GO_ERROR_CHECK,
    'fmt.Println(response.Status, string(reply))',
  ];
  return [
    'package main\n',
    `import (\n${packages.map((packageName) => `\t"${packageName}"`).join('\n')}\n)\n`,
    'func main() {',
    // Only the first line of a statement is indented, because indentation would change a raw string.
    ...statements.map((statement) => `\t${statement}`),
    '}',
  ].join('\n');
}

const LANGUAGES = [
  ['sh', 'curl', curl],
  ['js', 'JavaScript', javascript],
  ['python', 'Python', python],
  ['go', 'Go', go],
];

function urlOf({ path, operation }, server) {
  const parameters = operation.parameters ?? [];
  const pathText = path.replaceAll(/\{(\w+)\}/g, (placeholder, name) => {
    const { example } =
      parameters.find((parameter) => parameter.in === 'path' && parameter.name === name) ?? {};
    return example ?? placeholder;
  });
  const query = parameters
    .filter((parameter) => parameter.in === 'query' && parameter.example !== undefined)
    .map(({ name, example }) => `${name}=${encodeURIComponent(example)}`);
  return `${server}${pathText}${query.length ? `?${query.join('&')}` : ''}`;
}

const IDEMPOTENCY_KEY = 'Idempotency-Key';

/**
 * A UUID of the operation, so that the samples of two operations do not share a key. A shared key would be
 * rejected with CONFLICT.
 */
function keyOf({ operationId }) {
  const hex = createHash('sha256').update(operationId).digest('hex');
  return hex.replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*/, '$1-$2-4$3-a$4-$5');
}

/** Headers with an example, and the idempotency key. The SDK generates a key for each call. */
const parameterHeadersOf = (operation) =>
  (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'header')
    .map(({ name, example }) => [
      name,
      example ?? (name === IDEMPOTENCY_KEY ? keyOf(operation) : undefined),
    ])
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)]);

/** Code samples with the first example: language of the fence, title and text. */
export function samplesOf(entry, server) {
  const { operation, method } = entry;
  const example = exampleRequestOf(operation);
  const request = {
    ...example,
    method,
    url: urlOf(entry, server),
    headers: [
      ...(example.body === undefined ? [] : [['Content-Type', 'application/json']]),
      ...parameterHeadersOf(operation),
    ],
  };
  return [
    ...LANGUAGES.map(([language, title, write]) => ({ language, title, text: write(request) })),
    { language: 'ts', title: 'TypeScript SDK', text: sdkSample(operation, example) },
  ];
}
