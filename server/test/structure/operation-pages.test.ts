// Every operation and webhook of the API document has a page of the site with its errors, examples
// and code samples.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';

const folder = '../../../site/.vitepress/operations';
const load = (name: string) => import(new URL(`${folder}/${name}`, import.meta.url).href);
const [{ anchorOf, entries, groups }, { pageOf }, { indexPage, operationGroups }] =
  await Promise.all([load('document.mjs'), load('page.mjs'), load('pages.mjs')]);
const { tablesOf } = await load('fields.mjs');

interface Content {
  examples?: Record<string, { value?: unknown }>;
}
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { $ref?: string; description?: string }>;
}
const document: Record<
  'paths' | 'webhooks',
  Record<string, Record<string, Operation>>
> = JSON.parse(readFileSync(path.join(projectRoot(), 'openapi.json'), 'utf8'));
const operationsIn = (section: 'paths' | 'webhooks') =>
  Object.values(document[section]).flatMap((item) => Object.values(item));
const operations = operationsIn('paths');
const allOperations = [...operations, ...operationsIn('webhooks')];

const pages = new Map<string, string>(
  entries.map((entry: { id: string }) => [entry.id, pageOf(entry)]),
);
const pageFor = (id: string) => pages.get(id) ?? '';

const codesOf = ({ description }: Operation) =>
  [...(/^\*\*Errors\*\*: (.*)$/m.exec(description)?.[1]?.matchAll(/`(\w+)`/g) ?? [])].map(
    ([, code]) => code as string,
  );

describe('the pages of operations', () => {
  it('include one page for each operation and webhook', () => {
    expect([...pages.keys()].sort()).toEqual(
      allOperations.map((operation) => operation.operationId).sort(),
    );
    const untitledPages = allOperations.filter(
      (operation) => !pageFor(operation.operationId).includes(`# ${operation.summary}`),
    );
    expect(untitledPages).toEqual([]);
  });

  it('have all errors', () => {
    const missingErrors = operations.flatMap((operation) =>
      codesOf(operation)
        .filter((code) => !pageFor(operation.operationId).includes(`| [\`${code}\`](/errors#`))
        .map((code) => `${operation.operationId}: ${code}`),
    );
    expect(missingErrors).toEqual([]);
  });

  it('have all examples of requests and events', () => {
    const missingExamples = allOperations.flatMap((operation) =>
      Object.values(operation.requestBody?.content ?? {})
        .flatMap(({ examples }) => Object.values(examples ?? {}))
        .filter(
          ({ value }) => !pageFor(operation.operationId).includes(JSON.stringify(value, null, 2)),
        )
        .map(() => operation.operationId),
    );
    expect(missingExamples).toEqual([]);
  });

  it('have samples in four languages and with the SDK', () => {
    const fences = [
      ...['```sh [curl]', '```js [JavaScript]', '```python [Python]', '```go [Go]'],
      '```ts [TypeScript SDK]',
    ];
    const missingSamples = operations.filter(
      (operation) => !fences.every((fence) => pageFor(operation.operationId).includes(fence)),
    );
    expect(missingSamples).toEqual([]);
  });

  it('are in the index and in the sidebar', () => {
    const index: string = indexPage();
    const items: { link: string }[] = operationGroups().flatMap(
      (group: { items: unknown[] }) => group.items,
    );
    for (const { operationId } of allOperations) {
      expect(index).toContain(`](${operationId}.md)`);
      expect(items.filter(({ link }) => link.endsWith(`/${operationId}`))).toHaveLength(1);
    }
    expect(groups.map(({ name }: { name: string }) => name)).toContain('Webhooks');
  });

  it('link to the operation in the interactive reference', () => {
    const anchors = new Map(entries.map((entry: { id: string }) => [entry.id, anchorOf(entry)]));
    expect(anchors.get('executeQuote')).toBe(
      'tag/cross-currency-transfers/POST/quotes/{quoteId}/execute',
    );
    expect(anchors.get('createVerification')).toBe('tag/kyckyb-verifications/POST/verifications');
    expect(anchors.get('testWebhookWebhook')).toBe('tag/webhooks/webhook/POST/test-webhook');
  });
});

describe('the tables of fields', () => {
  const variant = (value: string) => ({
    type: 'object',
    title: value,
    required: ['kind'],
    properties: { kind: { type: 'string', enum: [value] } },
  });

  it('name nested fields with dots, and have one table for each variant', () => {
    const tables = tablesOf({
      type: 'object',
      required: ['list'],
      properties: {
        list: { type: 'array', items: { type: 'object', properties: { a: { type: 'string' } } } },
        choice: { oneOf: [variant('A'), variant('B')] },
      },
    });
    const fieldNames = tables.map(
      ({ at, value, rows }: { at: string; value?: string; rows: { name: string }[] }) =>
        [at, value, ...rows.map(({ name }) => name)].filter(Boolean).join(' '),
    );
    expect(fieldNames).toEqual([
      'list list[].a choice',
      'choice A choice.kind',
      'choice B choice.kind',
    ]);
  });

  it('name the variants of a large union only', () => {
    const choice = { oneOf: [variant('A'), variant('B')] };
    expect(tablesOf({ type: 'object', properties: { choice } }, 1)).toHaveLength(1);
  });
});
