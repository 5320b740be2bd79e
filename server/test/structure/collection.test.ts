// The Postman collection has a complete form or body for each operation, and each saved reply has
// the request example of the same name.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';

interface Example {
  summary: string;
  value?: unknown;
}

interface Operation {
  summary: string;
  operationId: string;
  requestBody?: { content: Record<string, { examples?: Record<string, Example> }> };
  responses: Record<string, { content?: Record<string, { examples?: Record<string, Example> }> }>;
}

interface FormField {
  key: string;
  type: 'file' | 'text';
  value?: string;
  src?: string;
  disabled: boolean;
}

interface PostmanRequest {
  body?: { mode: 'formdata'; formdata: FormField[] } | { mode: 'raw'; raw: string };
}

interface CollectionEntry {
  name: string;
  request: PostmanRequest;
  response: { originalRequest: PostmanRequest }[];
}

const script = new URL('../../../scripts/collection.mjs', import.meta.url).href;
const { collectionOf } = await import(script);

const document = JSON.parse(readFileSync(path.join(projectRoot(), 'openapi.json'), 'utf8'));
const operations = Object.values<Record<string, Operation>>(document.paths).flatMap((methods) =>
  Object.values(methods),
);
const collection: { item: { item: CollectionEntry[] }[] } = collectionOf(document);
const entries = new Map(
  collection.item.flatMap(({ item }) => item).map((entry) => [entry.name, entry]),
);

const entryOf = ({ summary, operationId }: Operation) => {
  const entry = entries.get(`${summary} (${operationId})`);
  if (!entry) throw new Error(`The collection has no request for ${operationId}.`);
  return entry;
};

/** The example that a request contains. */
function exampleOf({ body }: PostmanRequest): unknown {
  if (body?.mode !== 'formdata') return body && JSON.parse(body.raw);
  const sentFields = body.formdata.filter(({ disabled }) => !disabled);
  return Object.fromEntries(sentFields.map(({ key, value, src }) => [key, value ?? src]));
}

const namedExamplesOf = ({ requestBody }: Operation) =>
  Object.values(requestBody?.content ?? {})[0]?.examples ?? {};

/** Names of the saved replies, in the order of the collection. */
const replyNamesOf = ({ responses }: Operation) =>
  Object.values(responses).flatMap(({ content }) =>
    Object.entries(content?.['application/json']?.examples ?? {})
      .filter(([, { value }]) => value !== undefined)
      .map(([name]) => name),
  );

describe('the Postman collection', () => {
  it('has a request for each operation', () => {
    expect(entries.size).toBe(operations.length);
  });

  it('has the form fields of each upload', () => {
    const uploads = operations
      .map((operation) => ({ operation, body: entryOf(operation).request.body }))
      .flatMap(({ operation, body }) =>
        body?.mode === 'formdata' ? [{ operation, fields: body.formdata }] : [],
      );
    const ids = uploads.map(({ operation }) => operation.operationId);
    expect(ids.sort()).toEqual(['replaceDocument', 'uploadCustomersCsv', 'uploadDocument']);
    for (const { operation, fields } of uploads) {
      const files = fields.filter(({ type }) => type === 'file').map(({ key }) => key);
      expect(files, operation.operationId).toEqual(['file']);
    }
  });

  it('has the request example of the same name in each saved reply', () => {
    for (const operation of operations) {
      const { request, response } = entryOf(operation);
      const examples = namedExamplesOf(operation);
      const [firstExample] = Object.values(examples);
      expect(exampleOf(request), operation.operationId).toEqual(firstExample?.value);
      const savedRequests = response.map(({ originalRequest }) => exampleOf(originalRequest));
      const expectedRequests = replyNamesOf(operation).map(
        (name) => (examples[name] ?? firstExample)?.value,
      );
      expect(savedRequests, operation.operationId).toEqual(expectedRequests);
    }
  });
});
