// Writes src/generated/ from the document of the operator API: a table of the operations, the
// forms, the values of query parameters and the types. The types need the package openapi-typescript.
import fs from 'node:fs';
import path from 'node:path';
import { operationsOf } from '../../operations.mjs';

const HEADER =
  '// Generated from operator-openapi.json by packages/console/scripts/generate.mjs.\n';

const REF = '#/components/schemas/';

/** The part of a schema that a form uses, without references. */
function formSchemaOf(schema, document) {
  if (schema.$ref)
    return formSchemaOf(document.components.schemas[schema.$ref.replace(REF, '')], document);
  const {
    type,
    format,
    enum: values,
    items,
    properties,
    required,
    description,
    anyOf,
    allOf,
  } = schema;
  const constant = schema.const === undefined ? undefined : [schema.const];
  const limits = ['minLength', 'maxLength', 'minimum', 'maximum', 'pattern', 'default', 'maxItems'];
  if (allOf?.length) {
    const parts = allOf.map((each) => formSchemaOf(each, document));
    return Object.assign({}, ...parts, description ? { description } : {});
  }
  const options = anyOf?.map((each) => formSchemaOf(each, document));
  return {
    ...(type && { type }),
    ...(format && { format }),
    ...((values ?? constant) && { enum: values ?? constant }),
    ...(description && { description }),
    ...Object.fromEntries(
      limits.filter((name) => name in schema).map((name) => [name, schema[name]]),
    ),
    ...(items && { items: formSchemaOf(items, document) }),
    ...(properties && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([name, each]) => [name, formSchemaOf(each, document)]),
      ),
    }),
    ...(required?.length && { required }),
    ...(options && { anyOf: options }),
  };
}

/** Schema of the input: the query parameters of a DELETE request, otherwise the JSON body. */
function inputOf({ method, requestBody, parameters = [] }) {
  if (method !== 'DELETE') return requestBody?.content?.['application/json']?.schema;
  const fields = parameters.filter((each) => each.in === 'query');
  if (fields.length === 0) return undefined;
  return {
    type: 'object',
    properties: Object.fromEntries(
      fields.map(({ name, description, schema }) => [name, { ...schema, description }]),
    ),
    required: fields.filter(({ required }) => required).map(({ name }) => name),
  };
}

/** The first paragraph, without backticks. */
const firstParagraph = (text = '') => text.split('\n\n')[0].replaceAll('`', '');

function tableText(document) {
  const operations = Object.fromEntries(
    operationsOf(document).map((operation) => {
      const { operationId, method, route, tags, parameters = [] } = operation;
      const names = (location) =>
        parameters.filter((each) => each.in === location).map(({ name }) => name);
      const info = {
        ...{ method, path: route, tag: tags[0], summary: operation.summary },
        ...(operation['x-permission'] && { permission: operation['x-permission'] }),
        ...(names('query').length && { query: names('query') }),
        ...(names('header').includes('Idempotency-Key') && { takesKey: true }),
        ...(operation['x-reveals'] && { reveals: true }),
      };
      return [operationId, info];
    }),
  );
  return `${HEADER}
export interface OperationInfo {
  method: string;
  path: string;
  tag: string;
  /** Description for operators. */
  summary: string;
  /** Undefined: every session may call it. */
  permission?: string;
  query?: readonly string[];
  takesKey?: boolean;
  /** Shows personal data. Each call is recorded. */
  reveals?: boolean;
}

const table = ${JSON.stringify(operations, null, 1)} as const;

export type OperationId = keyof typeof table;

export const OPERATIONS: Readonly<Record<OperationId, OperationInfo>> = table;
`;
}

/** Texts and input fields of the operations that change data or reveal personal data. */
function formsText(document) {
  const forms = Object.fromEntries(
    operationsOf(document)
      .filter((each) => each.method !== 'GET' || each['x-reveals'])
      .map((operation) => {
        const body = inputOf(operation);
        const form = {
          summary: operation.summary,
          description: firstParagraph(operation.description),
          ...(operation['x-reveals'] && { reveals: true }),
          ...(body && { body: formSchemaOf(body, document) }),
        };
        return [operation.operationId, form];
      }),
  );
  return `${HEADER}import type { FieldSchema } from '../action/schema.ts';

export interface FormInfo {
  summary: string;
  description: string;
  reveals?: boolean;
  body?: FieldSchema;
}

export const FORMS: Readonly<Record<string, FormInfo>> = ${JSON.stringify(forms)};
`;
}

/** Values of the query parameters of GET operations that have an enumeration. */
function choicesText(document) {
  const choices = {};
  for (const { operationId, method, parameters = [] } of operationsOf(document)) {
    if (method !== 'GET') continue;
    for (const { name, in: location, schema } of parameters) {
      const { enum: values, items } = location === 'query' ? formSchemaOf(schema, document) : {};
      const allValues = values ?? items?.enum;
      if (allValues) choices[operationId] = { ...choices[operationId], [name]: allValues };
    }
  }
  return `${HEADER}
/** Values by operation and parameter. */
type Choices = Readonly<Record<string, Readonly<Record<string, readonly string[]>>>>;

export const CHOICES: Choices = ${JSON.stringify(choices)};
`;
}

async function typesText(document) {
  const { default: openapiTS, astToString } = await import('openapi-typescript');
  return `${HEADER}\n${astToString(await openapiTS(structuredClone(document)))}`;
}

/** Writes the files into `folder`. The types are written only if `types` is set. */
export async function generate({ document, folder, types }) {
  fs.mkdirSync(folder, { recursive: true });
  const write = (name, text) => fs.writeFileSync(path.join(folder, name), text);
  write('operations.ts', tableText(document));
  write('forms.ts', formsText(document));
  write('choices.ts', choicesText(document));
  if (types) write('schema.d.ts', await typesText(document));
}
