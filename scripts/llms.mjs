// Generates `llms.txt` and `llms-full.txt` from the documentation: an index with one sentence per
// page, and all pages except decisions in one file. Both have the order of the sidebar,
// except alerts and decisions, which are last.
import fs from 'node:fs';
import path from 'node:path';
import { SIDEBAR } from '../site/.vitepress/sidebar.mjs';

const HEAD = '# Railhead\n\n> A payments platform that you run yourself, behind one HTTP API.\n';

/** Headings, tables, fences and quotes are not the first paragraph. `Date:` is a line of decisions. */
const PARAGRAPH = /^(?![#|>]|```|Date: )\S/;
const ITEM = /^(?:- |\d+\. )/;

const withoutLinks = (markdown) =>
  markdown.replaceAll(/\[([^\]]+)\]\([^)]*\)(?:\{[^}]*\})?/g, '$1');

/**
 * The first sentence of the first paragraph, on one line. For a decision, the first sentence that states
 * the decision.
 */
export function firstSentence(markdown) {
  const decision = /^(?:## (?:Decision|Answer)\n|\*\*(?:Decision|Answer)\.\*\*\s+)([\s\S]*)/m.exec(
    markdown,
  )?.[1];
  const blocks = (decision ?? markdown).split(/\n{2,}/).map((block) => block.trim());
  const paragraph = blocks.find((block) => PARAGRAPH.test(block)) ?? '';
  // The first item of a list.
  const [firstItem = ''] = paragraph.replace(ITEM, '').split(/\n(?=- |\d+\. )/);
  const text = withoutLinks(firstItem).replaceAll(/\s+/g, ' ');
  return /^.*?[.!?](?=\s+[A-Z`]|$)/.exec(text)?.[0] ?? text.replace(/:$/, '.');
}

/** The pages of a folder. */
export function pagesOf(folder) {
  return fs
    .readdirSync(folder, { recursive: true })
    .map((name) => String(name).replaceAll(path.sep, '/'))
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => {
      const text = fs.readFileSync(path.join(folder, name), 'utf8');
      const [, title = name] = /^# (.*)$/m.exec(text) ?? [];
      return { name, title, firstSentence: firstSentence(text), text };
    });
}

/** Groups of the sidebar that a program can omit if its context is short. */
const OPTIONAL_GROUPS = ['Alerts', 'Decisions'];

const linkOf = ({ name }) => `/${name.replace(/(?:index)?\.md$/, '')}`;

/** Titles of sections with their pages: the start page, the sidebar, and at the end `Optional`. */
function sectionsOf(pages) {
  const pageByLink = new Map(pages.map((page) => [linkOf(page), page]));
  const take = (links) =>
    links.flatMap((link) => {
      const page = pageByLink.get(link);
      pageByLink.delete(link);
      return page ? [page] : [];
    });
  const groups = SIDEBAR.map(({ text, items }, index) => ({
    title: text,
    links: [...(index === 0 ? ['/'] : []), ...items.map(({ link }) => link)],
  }));
  const isOptional = ({ title }) => OPTIONAL_GROUPS.includes(title);
  const sections = groups
    .filter((group) => !isOptional(group))
    .map(({ title, links }) => ({ title, pages: take(links) }));
  const optionalPages = take(groups.filter(isOptional).flatMap(({ links }) => links));
  return {
    sections: sections.filter((section) => section.pages.length > 0),
    optionalPages: [...pageByLink.values(), ...optionalPages],
  };
}

/** Returns `llms.txt` and `llms-full.txt`. `addressOf` returns the address of a page or file. */
export function llmsTexts(pages, addressOf) {
  const line = (page) => {
    const link = `[${page.title}](${addressOf(linkOf(page).slice(1))})`;
    return `- ${link}${page.firstSentence && `: ${page.firstSentence}`}`;
  };
  const collection = addressOf('railhead.postman_collection.json');
  const { sections, optionalPages } = sectionsOf(pages);
  const index = [
    HEAD,
    ...sections.map((section) => `## ${section.title}\n\n${section.pages.map(line).join('\n')}\n`),
    '## API\n',
    `- [Operations](${addressOf('operations/')}): a page for each operation and webhook.`,
    `- [Operator API operations](${addressOf('operations/operator')}): all operations of the operator API.`,
    `- [OpenAPI document](${addressOf('openapi.json')}): all operations, webhooks, errors and examples.`,
    `- [Request collection](${collection}): for Postman, Bruno or Insomnia.\n`,
    `## Optional\n\n${optionalPages.map(line).join('\n')}\n`,
  ];
  const texts = [...sections.flatMap((section) => section.pages), ...optionalPages]
    .filter(({ name }) => !name.startsWith('decisions/'))
    .map(({ text }) => text);
  return { 'llms.txt': index.join('\n'), 'llms-full.txt': [HEAD, ...texts].join('\n\n') };
}
