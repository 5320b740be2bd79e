// Converts the OpenAPI document to a Postman collection (format 2.1, which Bruno and Insomnia
// import as well). A tag is a folder, and an operation is a request with the first example as body.
// Examples of replies are included with the example of their request, except those that operations
// share. `npm run collection -- FILE` writes the collection, and `npm run docs` adds it to the
// site.
import fs from 'node:fs';
import { fileURLToPath } from 'node:url';

const SERVER = 'http://localhost:4000';
const SCHEMA = 'https://schema.getpostman.com/json/collection/v2.1.0/collection.json';

const formatJson = (value) => JSON.stringify(value, null, 2);

function urlOf(path, parameters = []) {
  const segments = path.slice(1).split('/');
  const query = parameters
    .filter((parameter) => parameter.in === 'query')
    .map(({ name, example, description, required }) => ({
      key: name,
      value: example === undefined ? '' : String(example),
      description: description ?? '',
      disabled: !required && example === undefined,
    }));
  const variable = parameters
    .filter((parameter) => parameter.in === 'path')
    .map(({ name, example }) => ({ key: name, value: example ?? '' }));
  const postmanParts = segments.map((segment) => segment.replace(/^\{(.*)\}$/, ':$1'));
  const search = query.filter((parameter) => !parameter.disabled);
  const rawQuery = search.map(({ key, value }) => `${key}=${encodeURIComponent(value)}`).join('&');
  return {
    raw: `{{baseUrl}}/${postmanParts.join('/')}${rawQuery && `?${rawQuery}`}`,
    host: ['{{baseUrl}}'],
    path: postmanParts,
    ...(query.length ? { query } : {}),
    ...(variable.length ? { variable } : {}),
  };
}

/** Fields of an object schema, with the fields of its references and of `allOf`. */
function fieldsOf(document, { $ref, allOf = [], properties = {}, required = [] }) {
  const referenced = $ref ? [document.components.schemas[$ref.split('/').at(-1)]] : [];
  const inherited = [...referenced, ...allOf].flatMap((schema) => fieldsOf(document, schema));
  const own = Object.entries(properties).map(([key, { format, description }]) => ({
    key,
    isFile: format === 'binary',
    isRequired: required.includes(key),
    description: description ?? '',
  }));
  return [...inherited, ...own];
}

const formOf = (document, schema, example) =>
  fieldsOf(document, schema).map(({ key, isFile, isRequired, description }) => ({
    key,
    ...(isFile
      ? { type: 'file', src: example?.[key] ?? [] }
      : { type: 'text', value: String(example?.[key] ?? '') }),
    description,
    disabled: !isRequired && example?.[key] === undefined,
  }));

/** The body of the example with this name, or of the first example. */
function bodyOf(document, requestBody, name) {
  const [type, content] = Object.entries(requestBody?.content ?? {})[0] ?? [];
  const examples = content?.examples ?? {};
  const { value } = examples[name] ?? Object.values(examples)[0] ?? {};
  if (type === 'multipart/form-data')
    return { mode: 'formdata', formdata: formOf(document, content.schema, value) };
  if (value === undefined) return undefined;
  return { mode: 'raw', raw: formatJson(value), options: { raw: { language: 'json' } } };
}

function repliesOf(document, operation, request) {
  return Object.entries(operation.responses).flatMap(([status, { content }]) =>
    Object.entries(content?.['application/json']?.examples ?? {})
      // Errors refer to shared examples.
      .filter(([, { value }]) => value !== undefined)
      .map(([name, { summary, value }]) => {
        const body = bodyOf(document, operation.requestBody, name);
        return {
          name: summary,
          originalRequest: body ? { ...request, body } : request,
          code: Number(status),
          _postman_previewlanguage: 'json',
          header: [{ key: 'Content-Type', value: 'application/json' }],
          body: formatJson(value),
        };
      }),
  );
}

/** Addresses of the documentation on a local server, because a collection has no base address. */
const withServer = (text) => text.replaceAll('](/docs/', `](${SERVER}/docs/`);

function requestOf(document, path, method, operation) {
  const body = bodyOf(document, operation.requestBody);
  const isAgentOperation = operation.security?.some((scheme) => 'AgentAuth' in scheme);
  const header = (operation.parameters ?? [])
    .filter((parameter) => parameter.in === 'header')
    .map(({ name, example, required }) => ({
      key: name,
      value: example ?? '',
      disabled: !required && example === undefined,
    }));
  return {
    method: method.toUpperCase(),
    header: body?.mode === 'raw' ? [...header, jsonHeader] : header,
    url: urlOf(path, operation.parameters),
    description: withServer(operation.description ?? ''),
    ...(body ? { body } : {}),
    ...(isAgentOperation
      ? { auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{agentToken}}' }] } }
      : {}),
    ...(operation.security?.length ? {} : { auth: { type: 'noauth' } }),
  };
}

const jsonHeader = { key: 'Content-Type', value: 'application/json' };

/** The collection as plain JSON. */
export function collectionOf(document) {
  const folders = new Map();
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item)) {
      const [tag] = operation.tags;
      const request = requestOf(document, path, method, operation);
      const entry = {
        name: `${operation.summary} (${operation.operationId})`,
        request,
        response: repliesOf(document, operation, request),
      };
      folders.set(tag, [...(folders.get(tag) ?? []), entry]);
    }
  }
  const basic = [
    { key: 'username', value: '{{clientId}}' },
    { key: 'password', value: '{{clientSecret}}' },
  ];
  return {
    info: { name: document.info.title, description: document.info.description, schema: SCHEMA },
    auth: { type: 'basic', basic },
    variable: [
      { key: 'baseUrl', value: `${SERVER}${document.servers[0].url}` },
      { key: 'clientId', value: '' },
      { key: 'clientSecret', value: '' },
      { key: 'agentToken', value: '' },
    ],
    item: [...folders].map(([name, item]) => ({ name, item })),
  };
}

export function writeCollection(file) {
  const openapi = fileURLToPath(new URL('../openapi.json', import.meta.url));
  const document = JSON.parse(fs.readFileSync(openapi, 'utf8'));
  fs.writeFileSync(file, `${formatJson(collectionOf(document))}\n`);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [, , file = 'railhead.postman_collection.json'] = process.argv;
  writeCollection(file);
  process.stderr.write(`The collection is in ${file}.\n`);
}
