// Addresses of the pages of the site, and the files whose last commits are their edit dates.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from './sources.ts';

const moduleOf = (name: string) =>
  import(new URL(`../../../site/.vitepress/${name}`, import.meta.url).href);
const { addressesAt } = await moduleOf('addresses.mjs');
const { createSourceFinder, timesIn } = await moduleOf('dates.mjs');
const { entries } = await moduleOf('operations/document.mjs');

describe('the address of a page', () => {
  it.each([
    ['', '/docs/', '/docs/'],
    ['operations/', '/docs/operations/', '/docs/operations/'],
    ['start', '/docs/start', '/docs/start.html'],
    [
      'architecture#guarantees',
      '/docs/architecture#guarantees',
      '/docs/architecture.html#guarantees',
    ],
    ['openapi.json', '/docs/openapi.json', '/docs/openapi.json'],
  ])('%s is %s on a server and %s in an export', (page, served, exported) => {
    expect(addressesAt('/docs/', false)(page)).toBe(served);
    expect(addressesAt('/docs/', true)(page)).toBe(exported);
  });
});

describe('the edit date', () => {
  const sourceOf: (page: string) => string = createSourceFinder();

  it.each([
    ['guides/payouts.md', 'docs/guides/payouts.md'],
    ['operations/createQuote.md', 'server/src/features/payments/quotes/contract.ts'],
    ['operations/index.md', 'openapi.json'],
    ['operations/operator.md', 'operator-openapi.json'],
    ['sdk/index.md', 'packages/sdk/README.md'],
    ['sdk/railhead-sdk/webhooks/index.md', 'packages/sdk/src/webhooks.ts'],
    ['sdk/railhead-sdk/functions/createClient.md', 'packages/sdk/src/client.ts'],
    ['sdk/railhead-sdk/interfaces/QuotesGroup.md', 'openapi.json'],
  ])('of %s is that of %s', (page, source) => {
    expect(sourceOf(page)).toBe(source);
    expect(existsSync(path.join(root, source))).toBe(true);
  });

  it('of an operation or webhook is that of its contract', () => {
    const sources = entries.map(({ id }: { id: string }) => sourceOf(`operations/${id}.md`));
    expect(sources.length).toBeGreaterThan(190);
    expect(sources.filter((source: string) => !source.endsWith('.ts'))).toEqual([]);
  });

  it('is the time of the newest commit with the file', () => {
    const log = '@20\n\ndocs/a.md\n@10\n\ndocs/a.md\ndocs/b.md\n';
    expect([...timesIn(log)]).toEqual([
      ['docs/a.md', 20_000],
      ['docs/b.md', 10_000],
    ]);
  });
});
