// The fenced blocks of the documentation, and the pages that a shell runs from top to bottom.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { projectRoot } from '../../../src/runtime/config/root.ts';

const pagesIn = (folder: string) =>
  readdirSync(path.join(projectRoot(), folder), { recursive: true })
    .map((name) => `${folder}/${String(name).replaceAll(path.sep, '/')}`)
    .filter((name) => name.endsWith('.md') && !/node_modules|\.railhead|\/dist\//.test(name))
    .sort();

/** All pages with commands or code, named from the root of the checkout. */
const PAGES: readonly string[] = [
  ...['README.md', 'CONTRIBUTING.md'],
  ...['docs', 'examples', 'bench'].flatMap(pagesIn),
];

export const GUIDES: readonly string[] = PAGES.filter((name) => name.startsWith('docs/guides/'));

/** The page installs packages. packages/cli/test/package.test.ts runs it. */
export const INTEGRATION = 'docs/guides/integration.md';

/** The commands of the page start a cluster. The tests in test/cluster start one as well. */
const HIGH_AVAILABILITY = 'docs/guides/high-availability.md';

/** The commands of the page change the machine. test/processes/release.test.ts starts a release. */
const INSTALL = 'docs/guides/install.md';

/**
 * The commands of the page span several days. server/test/providers/walkthrough.test.ts advances
 * the clock.
 */
export const PROVIDERS_WALKTHROUGH = 'docs/guides/providers-walk.md';

/** The page rotates the keys of an installation. processes/key-rotation.test.ts runs it. */
export const KEYS = 'docs/guides/keys.md';

/** The commands of the page need Debian's PostgreSQL. processes/backup-guide.test.ts runs it. */
export const BACKUP = 'docs/guides/backup.md';

/** Pages whose `sh` and `js` blocks guides.test.ts runs, in this order. */
export const RUN_PAGES: readonly string[] = [
  ...GUIDES.filter(
    (name) =>
      ![INTEGRATION, HIGH_AVAILABILITY, INSTALL, PROVIDERS_WALKTHROUGH, KEYS, BACKUP].includes(
        name,
      ),
  ),
  ...['docs/command.md', 'docs/concepts/webhooks.md', 'docs/start.md', 'README.md'],
];

export interface Block {
  readonly page: string;
  /** Line number of the first line of content. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

const FENCE = /^ *```(.*)$/;

/** The blocks of a page. Blocks in a list lose the indentation of the list. */
export function blocksOf(page: string, markdown: string): Block[] {
  const blocks: Block[] = [];
  let openBlock: { line: number; language: string; lines: string[]; indent: number } | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, info] = FENCE.exec(line) ?? [];
    if (info === undefined) openBlock?.lines.push(line.slice(openBlock.indent));
    else if (openBlock) {
      const { lines, language, line: firstLine } = openBlock;
      blocks.push({ page, line: firstLine, language, text: `${lines.join('\n')}\n` });
      openBlock = undefined;
    } else {
      const indent = line.indexOf('`');
      openBlock = { line: index + 2, language: info.trim(), lines: [], indent };
    }
  }
  return blocks;
}

/** The blocks of all pages. */
export const allBlocks = (): Block[] =>
  PAGES.flatMap((page) => blocksOf(page, readFileSync(path.join(projectRoot(), page), 'utf8')));
