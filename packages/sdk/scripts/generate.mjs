// Writes src/generated/ from the OpenAPI documents of the API and of the protocol for providers.
// openapi-typescript generates the schemas. This file generates their aliases, the table of
// operations, their groups, the error codes of each operation and the data of each event.
import fs from 'node:fs';
import path from 'node:path';
import openapiTS, { astToString } from 'openapi-typescript';
import { operationsOf } from '../../operations.mjs';
import { groupsText, tableText } from './groups.mjs';

const HEADER = '// Generated from openapi.json by packages/sdk/scripts/generate.mjs.\n';

const isObject = (value) => typeof value === 'object' && value !== null;

const refOf = (text) => text.replace('#/components/schemas/', '');

/** Names of all schemas that a value refers to, directly or indirectly. */
function reachableNames(document, value, names = new Set()) {
  if (!isObject(value)) return names;
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && each.startsWith('#/components/schemas/')) {
      const name = refOf(each);
      if (names.has(name)) continue;
      names.add(name);
      reachableNames(document, document.components.schemas[name], names);
    } else reachableNames(document, each, names);
  }
  return names;
}

/** A response without examples, headers and links. */
const contentOf = ({ description, content }) => ({
  description,
  ...(content && {
    content: Object.fromEntries(
      Object.entries(content).map(([type, { schema }]) => [type, { schema }]),
    ),
  }),
});

function reducedOperation({ operationId, parameters = [], requestBody, responses }) {
  const replies = Object.entries(responses).filter(([status]) => Number(status) < 400);
  return {
    operationId,
    // Headers are options of a call.
    parameters: parameters.filter((each) => each.in !== 'header'),
    ...(requestBody && {
      requestBody: { required: requestBody.required ?? false, ...contentOf(requestBody) },
    }),
    responses: Object.fromEntries(replies.map(([status, each]) => [status, contentOf(each)])),
  };
}

const toPascalCase = (text) =>
  text.replaceAll(/(?:^|[-_. ]+)(\w)/g, (_, letter) => letter.toUpperCase());

/** Event types with the schema names of their data, and the schemas that have no other name. */
function eventsOf(document) {
  const schemas = {};
  const events = {};
  for (const [name, { post }] of Object.entries(document.webhooks)) {
    const { type, data } = post.requestBody.content['application/json'].schema.properties;
    const inlineName = `${toPascalCase(name)}EventData`;
    const schema = data.$ref ? refOf(data.$ref) : inlineName;
    if (!data.$ref) schemas[inlineName] = data;
    const types = type.enum ?? type.allOf.find((each) => each.enum).enum;
    for (const each of types) events[each] = schema;
  }
  return { schemas, events };
}

/** The part of the document from which types are generated. */
function reducedDocument(document) {
  const { schemas: eventSchemas } = eventsOf(document);
  const paths = {};
  for (const operation of operationsOf(document)) {
    paths[operation.route] ??= {};
    paths[operation.route][operation.method.toLowerCase()] = reducedOperation(operation);
  }
  const allSchemas = { ...document.components.schemas, ...eventSchemas };
  const fullDocument = { components: { schemas: allSchemas } };
  const usedNames = reachableNames(fullDocument, [
    paths,
    document.webhooks,
    eventSchemas,
    { $ref: refTo('FieldError') },
  ]);
  for (const name of Object.keys(eventSchemas)) usedNames.add(name);
  const usedSchemas = Object.entries(allSchemas).filter(
    ([name]) => usedNames.has(name) && !/Error\d+$/.test(name),
  );
  return {
    openapi: document.openapi,
    info: document.info,
    paths,
    components: { schemas: Object.fromEntries(usedSchemas) },
  };
}

const refTo = (name) => `#/components/schemas/${name}`;

const nameOf = (node) => node.name?.escapedText ?? node.name?.text;

async function typesText(document) {
  const nodes = await openapiTS(reducedDocument(document), {
    silent: true,
    defaultNonNullable: false,
    transform: ({ format }) => (format === 'binary' ? fileNode() : undefined),
  });
  const usedNodes = nodes.filter((node) => ['components', 'operations'].includes(nameOf(node)));
  const text = astToString(usedNodes)
    .replaceAll('"__FILE__"', 'FileInput')
    .replaceAll(/\n\s*(header|cookie)\?: never;/g, '')
    .replaceAll(/\n\s*headers: \{\s*\[name: string\]: unknown;\s*\};/g, '');
  return `${HEADER}import type { FileInput } from '../http/upload.ts';\n\n${text}`;
}

/**
 * Creates the placeholder type `'__FILE__'`, which `typesText` replaces with `FileInput`. The
 * factory must be of the TypeScript version that openapi-typescript uses.
 */
let fileNode;

function schemaNames(document) {
  return Object.keys(reducedDocument(document).components.schemas).filter((name) =>
    /^[A-Z]\w*$/.test(name),
  );
}

const aliasesText = (document) =>
  `${HEADER}import type { components } from './schemas.ts';\n\n` +
  schemaNames(document)
    .map((name) => `export type ${name} = components['schemas']['${name}'];\n`)
    .join('');

/** Error codes in the responses of an operation. */
function codesOf(document, { responses }) {
  const codes = new Set();
  const collect = (value) => {
    if (!isObject(value)) return;
    if (value.$ref) collect(resolveRef(document, value.$ref));
    for (const part of value.allOf ?? []) {
      // The first part lists all codes of the status, the second part the codes of the operation.
      if (!part.$ref || value.allOf.length === 1) collect(part);
    }
    for (const code of value.properties?.code?.enum ?? []) codes.add(code);
  };
  for (const [status, response] of Object.entries(responses)) {
    if (Number(status) < 400) continue;
    const { content } = response.$ref ? resolveRef(document, response.$ref) : response;
    collect(content?.['application/json']?.schema);
  }
  return codes;
}

const resolveRef = (document, ref) =>
  ref
    .slice(2)
    .split('/')
    .reduce((value, key) => value[key], document);

const union = (codes) => codes.map((code) => `'${code}'`).join(' | ') || 'never';

function errorsText(document) {
  const operations = operationsOf(document).map((each) => [
    each.operationId,
    codesOf(document, each),
  ]);
  const allCodes = [...new Set(operations.flatMap(([, codes]) => [...codes]))].sort();
  const commonCodes = allCodes.filter((code) => operations.every(([, codes]) => codes.has(code)));
  const rows = operations.map(([id, codes]) => {
    const ownCodes = [...codes].filter((code) => !commonCodes.includes(code)).sort();
    return `  ${id}: ${union(ownCodes)};\n`;
  });
  return (
    `${HEADER}/** Codes that every operation can return. */\n` +
    `export type CommonErrorCode = ${union(commonCodes)};\n\n` +
    `/** Further codes of each operation. */\nexport interface OwnErrorCodes {\n${rows.join('')}}\n`
  );
}

function eventsText(document) {
  const { events } = eventsOf(document);
  const rows = Object.entries(events).map(
    ([type, schema]) => `  '${type}': components['schemas']['${schema}'];\n`,
  );
  return (
    `${HEADER}import type { components } from './schemas.ts';\n\n` +
    `/** The data of each type of event. */\nexport interface EventDataByType {\n${rows.join('')}}\n`
  );
}

/** Types of the protocol for providers: its calls by path, and a name for each schema. */
async function providersText(document) {
  // The unions are discriminated by their literals. With a discriminator but no mapping, the generator would
  // replace these by names of schemas.
  const text = JSON.stringify(document, (key, value) =>
    key === 'discriminator' ? undefined : value,
  );
  const nodes = await openapiTS(JSON.parse(text), { silent: true, defaultNonNullable: false });
  const usedNodes = nodes.filter((node) =>
    ['paths', 'components', 'operations'].includes(nameOf(node)),
  );
  const aliases = Object.keys(document.components.schemas).map(
    (name) => `export type ${name} = components['schemas']['${name}'];\n`,
  );
  const header = HEADER.replace('openapi.json', 'docs/providers/openapi.json');
  return `${header}${astToString(usedNodes)}\n${aliases.join('')}`;
}

export async function generate({ document, providerDocument, folder, factory }) {
  fileNode = () => factory.createLiteralTypeNode(factory.createStringLiteral('__FILE__'));
  fs.mkdirSync(folder, { recursive: true });
  const operations = operationsOf(document);
  const texts = {
    'schemas.ts': await typesText(document),
    'aliases.ts': aliasesText(document),
    'errors.ts': errorsText(document),
    'events.ts': eventsText(document),
    'groups.ts': HEADER + groupsText(operations),
    'operations.ts': HEADER + tableText(operations),
    'providers.ts': await providersText(providerDocument),
  };
  for (const [name, text] of Object.entries(texts)) {
    fs.writeFileSync(path.join(folder, name), text);
  }
}
