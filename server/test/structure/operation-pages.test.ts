// Every operation and webhook of the API document has a page of the site with its errors, examples
// and code samples.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';

const folder = '../../../site/.vitepress/operations';
const load = (name: string) => import(new URL(`${folder}/${name}`, import.meta.url).href);
const [
  { entries, groups },
  { pageOf },
  { indexPage, operationGroups, operatorPage, searchText },
  { REFERENCE },
] = await Promise.all([
  load('document.mjs'),
  load('page.mjs'),
  load('pages.mjs'),
  load('../sidebar.mjs'),
]);
const { tablesOf } = await load('fields.mjs');
const { limitsOf } = await load('limits.mjs');

interface Content {
  examples?: Record<string, { value?: unknown }>;
}
interface Operation {
  operationId: string;
  summary: string;
  description: string;
  parameters?: { name: string }[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, { $ref?: string; description?: string }>;
}
type Items = Record<string, Record<string, Operation>>;

const read = (name: string) => JSON.parse(readFileSync(path.join(projectRoot(), name), 'utf8'));
const document: Record<'paths' | 'webhooks', Items> = read('openapi.json');
const operatorDocument: { paths: Items } = read('operator-openapi.json');
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

  it('have samples with an idempotency key of their own, which the SDK generates', () => {
    const acceptsKey = ({ parameters = [] }: Operation) =>
      parameters.some(({ name }) => name === 'Idempotency-Key');
    const keysIn = ({ operationId }: Operation) =>
      [...pageFor(operationId).matchAll(/Idempotency-Key'?\W+([\w-]+)['`]/g)].map(([, key]) => key);
    const keys = operations.filter(acceptsKey).map(keysIn);
    expect(keys.length).toBeGreaterThan(75);
    for (const sampleKeys of keys) expect(sampleKeys).toEqual(Array(4).fill(sampleKeys[0]));
    expect(new Set(keys.flat()).size).toBe(keys.length);
    const uuid = /Idempotency-Key: [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}'/;
    expect(pageFor('createCustomer')).toMatch(uuid);
    expect(pageFor('createCustomer')).not.toContain('idempotencyKey');
    expect(operations.filter((each) => !acceptsKey(each)).flatMap(keysIn)).toEqual([]);
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

  it('link to the form that sends the request', () => {
    for (const entry of entries) {
      const isLinked = pageOf(entry).includes('[Try it](#try){#try}');
      expect(isLinked, entry.id).toBe(!entry.isWebhook);
    }
  });
});

describe('the page of the operator API', () => {
  const page: string = operatorPage();

  it('lists every operation once, and links to the reference', () => {
    const expectedRows = Object.entries(operatorDocument.paths).flatMap(([itemPath, item]) =>
      Object.entries(item).map(
        ([method, { operationId, summary }]) =>
          `| ${method.toUpperCase()} | \`${itemPath}\` | \`${operationId}\` | ${summary} |`,
      ),
    );
    const rows = page.split('\n').filter((line) => /^\| [A-Z]+ \|/.test(line));
    expect(rows.sort()).toEqual(expectedRows.sort());
    expect(page).toContain('](http://localhost:4000/docs/operator-reference)');
  });

  it('is in the sidebar and in the search', () => {
    const links = REFERENCE.items.map(({ link }: { link: string }) => link);
    expect(links).toContain('/operations/operator');
    const md = { options: {}, render: (source: string) => source };
    const env = { relativePath: 'operations/operator.md', frontmatter: {} };
    expect(page).not.toContain('search: false');
    expect(searchText(page, env, md)).toBe(page);
    expect(entries.map(({ id }: { id: string }) => id)).not.toContain('operator');
  });
});

it('the search of an operation finds the fields of its replies, without their descriptions', () => {
  const source: string = pageOf(entries.find(({ id }: { id: string }) => id === 'createQuote'));
  const md = { options: {}, render: (text: string) => text };
  const env = { relativePath: 'operations/createQuote.md', frontmatter: {} };
  const text = searchText(source, env, md);
  const [, ...rows] = source.split('::: details Fields of the reply 201')[1]?.split('\n| `') ?? [];
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows)
    expect(text).toContain(row.split('`')[0]?.split('.').at(-1)?.replace('[]', ''));
  expect(text).not.toContain('ID of the quote, `Quote:<uuid>`.');
});

describe('the limits of a field', () => {
  it('are omitted if the description states them', () => {
    const key = { type: 'string', minLength: 1, maxLength: 255 };
    expect(limitsOf(key, 'Unique key.')).toEqual([
      'At least 1 character.',
      'At most 255 characters.',
    ]);
    expect(limitsOf(key, 'Unique key. At most 255 characters.')).toEqual(['At least 1 character.']);
    expect(limitsOf(key, 'Unique key, 1 to 255 characters.')).toEqual([]);
    const count = { type: 'integer', minimum: 50, maximum: 20_000, default: 5_000 };
    expect(limitsOf(count, 'Payments, 50 to 20,000. Defaults to 5,000.')).toEqual([]);
    expect(limitsOf(count, 'Payments, 150 to 20,000.')).toEqual([
      'Minimum 50.',
      'Maximum 20000.',
      'Default `5000`.',
    ]);
    const code = { type: 'string', minLength: 8, maxLength: 11 };
    expect(limitsOf(code, 'BIC, 8 or 11 characters.')).toEqual([]);
    expect(limitsOf({ enum: ['A'] }, 'Type. Always `A`.')).toEqual([]);
    expect(limitsOf({ enum: ['A', 'B'] }, 'Type A or B.')).toEqual(['One of `A`, `B`.']);
  });

  it('occur once in each row of the pages', () => {
    const rows = [...pages.values()].flatMap((page) =>
      page.split('\n').filter((line) => line.startsWith('| `')),
    );
    expect(rows.length).toBeGreaterThan(1000);
    const repeatedRows = rows.filter((row) => {
      const limits = row.match(/(?:At most|At least|Exactly) \d+ \w+\.|Always `\w+`\./g) ?? [];
      return new Set(limits).size < limits.length;
    });
    expect(repeatedRows).toEqual([]);
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

  it('include no separate table for the variants of a large union', () => {
    const choice = { oneOf: [variant('A'), variant('B')] };
    expect(tablesOf({ type: 'object', properties: { choice } }, 1)).toHaveLength(1);
  });
});
