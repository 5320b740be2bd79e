// The operations and webhooks of `openapi.json`, the operations of `operator-openapi.json`, the resolution
// of references, and the addresses of operations in the site.
import { readFileSync } from 'node:fs';
import path from 'node:path';

const read = (name) =>
  JSON.parse(readFileSync(path.resolve(import.meta.dirname, '../../..', name), 'utf8'));

export const document = read('openapi.json');

/** Resolves a local reference. Fields next to `$ref` replace those of its target. */
export function resolve(node) {
  if (node?.$ref === undefined) return node;
  const { $ref, ...ownFields } = node;
  const target = $ref
    .slice(2)
    .split('/')
    .reduce((value, key) => value[key], document);
  return resolve({ ...target, ...ownFields });
}

/** The last part of a reference. */
export const nameOf = (node) => node?.$ref?.split('/').at(-1);

const entriesOf = (items, isWebhook) =>
  Object.entries(items).flatMap(([itemPath, item]) =>
    Object.entries(item).map(([method, operation]) => ({
      id: operation.operationId,
      method: method.toUpperCase(),
      path: itemPath,
      tag: operation.tags[0],
      isWebhook,
      operation,
    })),
  );

/** Every operation and webhook, in the order of the document. */
export const entries = [...entriesOf(document.paths, false), ...entriesOf(document.webhooks, true)];

const groupsOf = ({ tags }, documentEntries) =>
  tags.map(({ name, description }) => ({
    name,
    description,
    entries: documentEntries.filter(({ tag }) => tag === name),
  }));

/** Tags in the order of the document, each with its operations and webhooks. */
export const groups = groupsOf(document, entries);

const operatorDocument = read('operator-openapi.json');

/** Tags of the operator API, each with its operations. */
export const operatorGroups = groupsOf(operatorDocument, entriesOf(operatorDocument.paths, false));

const ids = new Set(entries.map(({ id }) => id));

const eventPages = new Map(
  entries
    .filter(({ isWebhook }) => isWebhook)
    .flatMap(({ id, operation }) => {
      const { schema } = operation.requestBody.content['application/json'];
      const type = resolve(resolve(schema).properties.type);
      const [enumSchema] = (type.allOf ?? [type]).map(resolve);
      return (enumSchema.enum ?? []).map((name) => [name, id]);
    }),
);

/** The page of the operation, webhook or event with this name. */
const pageOfName = (name) => (ids.has(name) ? name : eventPages.get(name));

/**
 * A Markdown text of the document with the links of the site, and with links for the names of
 * operations, webhooks and events.
 */
export const textFor = (entry, text = '') =>
  text.replaceAll('](/docs/', '](/').replaceAll(/(?<!\[)`([\w.]+)`/g, (code, name) => {
    const page = pageOfName(name);
    return page === undefined || page === entry.id ? code : `[${code}](/operations/${page})`;
  });
