// Configuration of the documentation site, whose pages are in docs/. `npm run docs` builds it into
// site/dist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';
import { bundledPackages } from '../../scripts/release/bundled-packages.mjs';
import { addDiagrams } from './diagrams.mjs';
import { addLinks } from './links.mjs';
import { operationGroups, searchText } from './operations/pages.mjs';
import { sdkGroups } from './sdk-reference.mjs';
import { themePatches } from './theme-patches.mjs';

const docs = path.resolve(import.meta.dirname, '../../docs');

const titleOf = (file) =>
  /^# (.*)$/m.exec(readFileSync(path.join(docs, file), 'utf8'))?.[1].replaceAll('`', '') ?? file;

const page = (file) => ({ text: titleOf(file), link: `/${file.replace(/(?:index)?\.md$/, '')}` });

const pagesIn = (folder) =>
  (existsSync(path.join(docs, folder)) ? readdirSync(path.join(docs, folder)) : [])
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => page(`${folder}/${name}`));

const slugify = (heading) =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}\p{Pc} -]/gu, '')
    .replaceAll(' ', '-');

/** Highlighted code by its language, attributes and text. */
const highlightedCode = new Map();

/** Colors equal blocks once, because a build renders each page twice and pages repeat examples. */
function highlightOnce(md) {
  const { highlight } = md.options;
  md.options.highlight = (code, language, attributes) => {
    const key = JSON.stringify([language, attributes, code]);
    if (!highlightedCode.has(key)) highlightedCode.set(key, highlight(code, language, attributes));
    return highlightedCode.get(key);
  };
}

/** Names tabs by their position, so that equal pages have equal bytes. */
function nameTabs(md) {
  const { rules } = md.renderer;
  const render = rules['container_code-group_open'];
  rules['container_code-group_open'] = (tokens, index, ...rest) => {
    let tab = 0;
    return render(tokens, index, ...rest)
      .replaceAll(/name="group-[^"]*"/g, `name="group-${index}"`)
      .replaceAll(/(id|for)="tab-[^"]*"/g, (_, attribute) => {
        if (attribute === 'id') tab += 1;
        return `${attribute}="tab-${index}-${tab}"`;
      });
  };
}

/** Base path of the site, set by `npm run docs`. The server serves the site below /docs/. */
const base = process.env.RAILHEAD_DOCS_BASE ?? '/docs/';

const sidebarGroup = (text, items, isCollapsed = false) => ({
  text,
  items,
  collapsed: isCollapsed,
});

/** Guides for operators, listed with the other pages for them. */
const OPERATOR_GUIDES = [
  '/guides/install',
  '/guides/operating',
  '/guides/operators',
  '/guides/console',
];

/** `npm run docs` writes this file next to the pages, so a link to it loads a complete document. */
const OPERATOR_REFERENCE = {
  text: 'Operator API',
  link: '/operator-reference',
  target: '_self',
};

const REFERENCE = sidebarGroup('Reference', [
  page('api.md'),
  page('cli.md'),
  { text: 'Operations', link: '/operations/' },
  { text: 'Interactive reference', link: '/reference', target: '_self' },
  OPERATOR_REFERENCE,
  { text: 'TypeScript SDK', link: '/sdk/' },
  { text: 'Webhooks: all events', link: '/webhooks' },
  page('errors.md'),
]);

const SIDEBAR = [
  sidebarGroup('Start here', [
    { text: 'A first payment', link: '/start' },
    page('comparison.md'),
    page('clients.md'),
  ]),
  sidebarGroup('Concepts', [
    ...pagesIn('concepts'),
    page('money.md'),
    page('states.md'),
    page('onboarding.md'),
    page('tax-identifiers.md'),
    page('glossary.md'),
  ]),
  sidebarGroup(
    'Guides',
    pagesIn('guides').filter(({ link }) => !OPERATOR_GUIDES.includes(link)),
  ),
  REFERENCE,
  sidebarGroup('Operating', [
    page('guides/install.md'),
    page('guides/operating.md'),
    page('guides/operators.md'),
    page('guides/console.md'),
    OPERATOR_REFERENCE,
    page('settings.md'),
    page('command.md'),
    page('production-checklist.md'),
    page('security.md'),
    page('availability.md'),
    page('metrics.md'),
    page('traces.md'),
    page('performance.md'),
    page('scaling.md'),
    page('backups.md'),
    page('retention.md'),
    page('jobs.md'),
  ]),
  sidebarGroup('Alerts', pagesIn('alerts'), true),
  sidebarGroup(
    'Architecture',
    [
      page('architecture.md'),
      ...pagesIn('architecture'),
      page('walkthroughs.md'),
      page('imports.md'),
    ],
    true,
  ),
  sidebarGroup('Decisions', pagesIn('decisions'), true),
  sidebarGroup('Changelog', [page('changelog.md')]),
];

export default defineConfig({
  title: 'Railhead',
  description: 'A payments platform that you run yourself.',
  lang: 'en',
  // `pages` is a link to ../docs, so that the compiled pages find the packages of this
  // folder. `operations` is generated next to it.
  srcDir: '.',
  rewrites: { 'pages/:page*': ':page*' },
  outDir: './dist',
  base,
  cleanUrls: true,
  // Pages are built one at a time, so that the search index has the order of the pages.
  buildConcurrency: 1,
  lastUpdated: true,
  metaChunk: true,
  head: [
    ['meta', { name: 'color-scheme', content: 'light dark' }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  // Prefetching every linked page would transfer more bytes than the page itself.
  router: { prefetchLinks: false },
  // Pages are plain Markdown. A string such as <address> is text.
  markdown: {
    html: false,
    // Every color of these themes has the contrast of WCAG AA on the background of a code block.
    theme: { light: 'github-light-high-contrast', dark: 'github-dark-high-contrast' },
    // Anchors are formed as on GitHub, so that a link to a heading also works in the repository.
    anchor: { slugify },
    config(md) {
      highlightOnce(md);
      nameTabs(md);
      addDiagrams(md);
      addLinks(md, base);
    },
  },
  vite: { resolve: { preserveSymlinks: true }, plugins: [themePatches(), bundledPackages()] },
  transformPageData(pageData) {
    if (pageData.relativePath !== 'index.md') return undefined;
    const frontmatter = {
      ...pageData.frontmatter,
      sidebar: false,
      aside: false,
      pageClass: 'home',
    };
    return { frontmatter };
  },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Concepts', link: '/concepts/payment' },
      { text: 'Guides', link: '/guides/payouts' },
      { text: 'Reference', link: '/operations/', activeMatch: '/operations/' },
      { text: 'Webhooks', link: '/webhooks' },
      { text: 'Errors', link: '/errors' },
      { text: 'Operating', link: OPERATOR_GUIDES[0] },
      { text: 'Architecture', link: '/architecture' },
    ],
    sidebar: {
      '/operations/': [REFERENCE, ...operationGroups()],
      '/sdk/': [REFERENCE, ...sdkGroups()],
      '/': SIDEBAR,
    },
    outline: [2, 3],
    lastUpdated: { formatOptions: { dateStyle: 'long' } },
    search: { provider: 'local', options: { _render: searchText } },
    docFooter: { prev: 'Previous', next: 'Next' },
    notFound: {
      title: 'Page not found',
      quote: 'The address is wrong, or the page has moved. Use the search or the menu.',
      linkText: 'Go to the start page',
    },
  },
});
