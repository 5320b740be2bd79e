// Writes the pages of operations and webhooks and their index as Markdown, and returns the sidebar
// groups and search texts of the site. The pages are files, because the search of VitePress does not
// read dynamic routes.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { entries, groups, operatorGroups } from './document.mjs';
import { pageOf } from './page.mjs';

const FOLDER = 'operations';

/** The page that lists the operator API. It has the name of no operation. */
const OPERATOR_PAGE = 'operator';

const rowOf = ({ id, method, path: operationPath, operation, isWebhook }) => {
  const note = operation.deprecated ? ' (deprecated)' : '';
  return `| ${isWebhook ? 'event' : method} | \`${operationPath}\` | [${operation.summary}](${id}.md)${note} |`;
};

/** The index, grouped by tag. */
export const indexPage = () =>
  [
    '---\npageClass: operations\nsearch: false\n---',
    '# Operations',
    'Every operation and webhook has a page with its fields, examples, code samples and errors. ' +
      '**Try it** opens a form that sends the request of an operation to the server of this page. The ' +
      '[interactive reference](http://localhost:4000/docs/reference) shows all operations on one page.',
    ...groups.flatMap(({ name, description, entries: groupEntries }) => [
      `## ${name}`,
      description,
      ['| Method | Path | Operation |', '| --- | --- | --- |', ...groupEntries.map(rowOf)].join(
        '\n',
      ),
    ]),
  ]
    .join('\n\n')
    .concat('\n');

const operatorRowOf = ({ id, method, path: operationPath, operation }) => {
  const note = operation.deprecated ? ' (deprecated)' : '';
  return `| ${method} | \`${operationPath}\` | \`${id}\` | ${operation.summary}${note} |`;
};

/** The operations of the operator API, grouped by tag. The search finds them by this page. */
export const operatorPage = () =>
  [
    '---\npageClass: operations\n---',
    '# Operator API operations',
    'Operations for the operators of an installation, below `/operator/v1`. The ' +
      '[operator reference](http://localhost:4000/docs/operator-reference) has their fields, examples ' +
      'and errors. [Operators and approvals](/guides/operators) describes access to them.',
    ...operatorGroups.flatMap(({ name, description, entries: groupEntries }) => [
      `## ${name}`,
      description,
      [
        '| Method | Path | Operation | Summary |',
        '| --- | --- | --- | --- |',
        ...groupEntries.map(operatorRowOf),
      ].join('\n'),
    ]),
  ]
    .join('\n\n')
    .concat('\n');

/** Writes all pages below a folder of Markdown. */
export function writeOperations(source) {
  const folder = path.join(source, FOLDER);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(path.join(folder, 'index.md'), indexPage());
  writeFileSync(path.join(folder, `${OPERATOR_PAGE}.md`), operatorPage());
  for (const entry of entries) writeFileSync(path.join(folder, `${entry.id}.md`), pageOf(entry));
}

/** Groups of the sidebar. */
export const operationGroups = () =>
  groups.map(({ name, entries: groupEntries }) => ({
    text: name,
    collapsed: true,
    items: groupEntries.map(({ id, operation }) => ({
      text: operation.summary,
      link: `/${FOLDER}/${id}`,
    })),
  }));

/**
 * Parts that the search omits: code blocks, descriptions of fields of replies, and causes and remedies of
 * errors. Tables of request fields and the page of errors contain the same words.
 */
const UNINDEXED =
  /^::: details [\s\S]*?\n:::$|^```[\s\S]*?\n```$|(?<=^\| \[`\w+`\]\(.*?\) \d+ \| ).*(?= \|$)/gm;

/** The source without `UNINDEXED` parts, but with the names of all fields of replies. */
function indexedSource(source) {
  const rest = source.replaceAll(UNINDEXED, '');
  const names = [...source.matchAll(/^\| `(?:[^`]*\.)?(\w+)/gm)].map(([, name]) => name);
  const omittedNames = [...new Set(names)].filter((name) => !rest.includes(`\`${name}\``));
  return omittedNames.length > 0 ? `${rest}\n\n${omittedNames.join(', ')}\n` : rest;
}

/** The HTML that the search reads. For an operation, `UNINDEXED` parts are excluded. */
export function searchText(source, env, md) {
  // The search has a separate renderer and needs no colors.
  md.options.highlight = null;
  // Groups of the SDK repeat the operations.
  if (/^sdk\/.*Group\.md$/.test(env.relativePath)) return '';
  const isOperation = env.relativePath.startsWith(`${FOLDER}/`);
  const html = md.render(isOperation ? indexedSource(source) : source, env);
  if (env.frontmatter?.search === false) return '';
  if (!isOperation) return html;
  const id = path.posix.basename(env.relativePath, '.md');
  if (id === OPERATOR_PAGE) return html;
  const { method, path: operationPath } = entries.find((entry) => entry.id === id);
  // Search results show the operation after the title.
  return html.replace(/ <a class="header-anchor"/, ` (${id}, ${method} ${operationPath})$&`);
}
