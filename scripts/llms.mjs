// Generates `llms.txt` and `llms-full.txt` from the documentation: an index with one sentence per
// page, and all pages except decisions in one file.
import fs from 'node:fs';
import path from 'node:path';

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

/** The pages of a folder in the order of their paths. */
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

/** Returns `llms.txt` and `llms-full.txt` for a site at `base`. */
export function llmsTexts(pages, base) {
  const line = ({ name, title, firstSentence }) =>
    `- [${title}](${base}${name.replace(/(?:index)?\.md$/, '')})${firstSentence && `: ${firstSentence}`}`;
  const index = [
    HEAD,
    '## Documentation\n',
    ...pages.map(line),
    '\n## API\n',
    `- [Operations](${base}operations/): a page for each operation and webhook.`,
    `- [OpenAPI document](${base}openapi.json): all operations, webhooks, errors and examples.`,
    `- [Request collection](${base}railhead.postman_collection.json): for Postman, Bruno or Insomnia.\n`,
  ];
  const texts = pages.filter(({ name }) => !name.startsWith('decisions/')).map(({ text }) => text);
  return { 'llms.txt': index.join('\n'), 'llms-full.txt': [HEAD, ...texts].join('\n\n') };
}
