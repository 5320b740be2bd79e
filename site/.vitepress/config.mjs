// Configuration of the documentation site, whose pages are in docs/. `npm run docs` builds it into
// site/dist.
import { defineConfig } from 'vitepress';
import { bundledPackages } from '../../scripts/release/bundled-packages.mjs';
import { addressesAt } from './addresses.mjs';
import { lastEditOf } from './dates.mjs';
import { addDiagrams } from './diagrams.mjs';
import { addLinks } from './links.mjs';
import { operationGroups, searchText } from './operations/pages.mjs';
import { sdkGroups } from './sdk-reference.mjs';
import { REFERENCE, SIDEBAR } from './sidebar.mjs';
import { themePatches } from './theme-patches.mjs';

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

/** Whether the site is an export for another host. */
const isExport = process.env.RAILHEAD_DOCS_EXPORT === 'true';

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
  // A host of static files may not find a page without `.html`.
  cleanUrls: !isExport,
  // Pages are built one at a time, so that the search index has the order of the pages.
  buildConcurrency: 1,
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
      addLinks(md, addressesAt(base, isExport));
    },
  },
  vite: { resolve: { preserveSymlinks: true }, plugins: [themePatches(), bundledPackages()] },
  transformPageData(pageData) {
    const lastUpdated = lastEditOf(pageData.relativePath);
    if (pageData.relativePath !== 'index.md') return { lastUpdated };
    const frontmatter = {
      ...pageData.frontmatter,
      sidebar: false,
      aside: false,
      pageClass: 'home',
    };
    return { frontmatter, lastUpdated };
  },
  themeConfig: {
    isExport,
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Concepts', link: '/concepts/payment' },
      { text: 'Guides', link: '/guides/integration' },
      { text: 'Reference', link: '/operations/', activeMatch: '/operations/' },
      { text: 'Webhooks', link: '/webhooks' },
      { text: 'Errors', link: '/errors' },
      { text: 'Operating', link: '/guides/install' },
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
