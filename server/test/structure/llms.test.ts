// Texts for language models, with one complete sentence per page and links below the base of the
// site.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { projectRoot } from '../../src/runtime/config/root.ts';

const script = new URL('../../../scripts/llms.mjs', import.meta.url).href;
const { firstSentence, llmsTexts, pagesOf } = await import(script);
const addresses = new URL('../../../site/.vitepress/addresses.mjs', import.meta.url).href;
const { addressesAt } = await import(addresses);

const pages: { name: string; title: string; firstSentence: string }[] = pagesOf(
  path.join(projectRoot(), 'docs'),
);

describe('llms.txt', () => {
  it.each([
    ['# A\n\nOne line\nand the next. More.', 'One line and the next.'],
    ['# A\n\n| a |\n\n```sh\nx\n```\n\nA [link](b.md#c) in 1.25 USD.', 'A link in 1.25 USD.'],
    ['# A\n\nBefore the list:\n\n- one', 'Before the list.'],
    ['# A\n\nDate: 2026-01-01\n\n## Context\n\nWhy.\n\n## Decision\n\nWhat. So.', 'What.'],
    ['# A\n\n**Context.** Why.\n\n**Decision.** What. So.', 'What.'],
    ['# A\n\n**Decision.**\n\n- First. More.\n- Second.', 'First.'],
    ['# A\n\n## B\n\n| a |', ''],
  ])('extracts the first sentence of %j', (markdown, sentence) => {
    expect(firstSentence(markdown)).toBe(sentence);
  });

  it('has a complete sentence for every page', () => {
    const incompletePages = pages
      .filter(({ firstSentence }) => !/^\S.*[.!?]$/.test(firstSentence))
      .map(({ name }) => name);
    expect(incompletePages).toEqual([]);
  });

  it('names every page, and only pages that exist', () => {
    const index: string = llmsTexts(pages, addressesAt('/', false))['llms.txt'];
    const documentation = index
      .split(/^## /m)
      .filter((section) => !section.startsWith('API\n'))
      .join('');
    const linkedPaths = [...documentation.matchAll(/\]\(\/([^)]*)\)/g)].map(
      ([, link = '']) => link,
    );
    const files = linkedPaths.map((link) => `${link.replace(/(^|\/)$/, '$1index')}.md`);
    expect(files).toHaveLength(pages.length);
    const missingFiles = files.filter(
      (file) => !existsSync(path.join(projectRoot(), 'docs', file)),
    );
    expect(missingFiles).toEqual([]);
  });

  it('has the order of the sidebar, with alerts and decisions at the end', () => {
    const texts: Record<string, string> = llmsTexts(pages, addressesAt('/', false));
    const index = texts['llms.txt'] ?? '';
    const titles = [...index.matchAll(/^## (.*)$/gm)].map(([, title]) => title);
    expect(titles.slice(0, 4)).toEqual(['Start here', 'Concepts', 'Guides', 'Reference']);
    expect(titles.slice(-2)).toEqual(['API', 'Optional']);
    const [, optional = ''] = index.split('## Optional');
    const links = [...optional.matchAll(/\]\((\/[^)]*)\)/g)].map(([, link = '']) => link);
    // A page without a place in the sidebar would be here.
    expect(links.filter((link) => !/^\/(?:alerts|decisions)\//.test(link))).toEqual([]);
    expect(index.indexOf('](/start)')).toBeLessThan(index.indexOf('](/concepts/'));
    expect(texts['llms-full.txt']?.indexOf('# A first payment')).toBeLessThan(
      texts['llms-full.txt']?.indexOf('# Alerts') ?? 0,
    );
  });

  it('links below the base, and omits decisions from the full text', () => {
    const texts = llmsTexts(
      [
        { name: 'decisions/0001-a.md', title: '0001', firstSentence: 'Decided.', text: '# 0001' },
        { name: 'guides/index.md', title: 'Guides', firstSentence: '', text: '# Guides' },
      ],
      addressesAt('/base/', true),
    );
    expect(texts['llms.txt']).toContain('- [0001](/base/decisions/0001-a.html): Decided.\n');
    expect(texts['llms.txt']).toContain('- [Guides](/base/guides/)\n');
    expect(texts['llms.txt']).toContain('](/base/operations/operator.html)');
    expect(texts['llms.txt']).toContain('](/base/openapi.json)');
    expect(texts['llms-full.txt']).toContain('# Guides');
    expect(texts['llms-full.txt']).not.toContain('# 0001');
  });
});
