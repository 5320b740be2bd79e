// The documentation site, made from docs/. `npm run docs` builds it into site/dist.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { defineConfig } from 'vitepress';

const docs = path.resolve(import.meta.dirname, '../../docs');

const titleOf = (file) =>
  /^# (.*)$/m.exec(readFileSync(path.join(docs, file), 'utf8'))?.[1].replaceAll('`', '') ?? file;

const page = (file) => ({ text: titleOf(file), link: `/${file.replace(/(?:index)?\.md$/, '')}` });

const pagesIn = (folder) =>
  (existsSync(path.join(docs, folder)) ? readdirSync(path.join(docs, folder)) : [])
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => page(`${folder}/${name}`));

const part = (text, items, collapsed = false) => ({ text, items, collapsed });

const SIDEBAR = [
  part('Start here', [page('start.md'), page('comparison.md'), page('clients.md')]),
  part('Concepts', [
    ...pagesIn('concepts'),
    page('money.md'),
    page('states.md'),
    page('onboarding.md'),
    page('tax-identifiers.md'),
  ]),
  part('Guides', pagesIn('guides')),
  part('Reference', [
    { text: 'API reference', link: '/reference', target: '_self' },
    page('errors.md'),
    page('webhooks.md'),
  ]),
  part('Operating', [
    page('settings.md'),
    page('command.md'),
    page('availability.md'),
    page('backups.md'),
    page('jobs.md'),
  ]),
  part(
    'Architecture',
    [page('architecture.md'), ...pagesIn('architecture'), page('walks.md'), page('imports.md')],
    true,
  ),
  part('Decisions', pagesIn('decisions'), true),
  part('About', [page('glossary.md'), page('changelog.md')]),
];

export default defineConfig({
  title: 'Railhead',
  description: 'A payments platform that you run yourself.',
  lang: 'en',
  // A link to ../docs, so that what the pages are compiled to finds the packages of this folder.
  srcDir: './pages',
  outDir: './dist',
  base: '/docs/',
  cleanUrls: true,
  lastUpdated: true,
  metaChunk: true,
  // Served by the server itself beside the site.
  ignoreDeadLinks: [/^\/reference$/, /^\/docs\/reference/],
  head: [
    ['meta', { name: 'color-scheme', content: 'light dark' }],
    ['link', { rel: 'icon', href: 'data:,' }],
  ],
  // Prefetching every page that is linked would cost more than the page itself.
  router: { prefetchLinks: false },
  // Pages are plain Markdown; a text such as <address> is no element.
  markdown: { html: false },
  vite: { resolve: { preserveSymlinks: true } },
  themeConfig: {
    nav: [
      { text: 'Start', link: '/start' },
      { text: 'Guides', link: '/guides/payouts' },
      { text: 'Reference', link: '/reference', target: '_self' },
      { text: 'Errors', link: '/errors' },
    ],
    sidebar: SIDEBAR,
    outline: [2, 3],
    search: { provider: 'local' },
    docFooter: { prev: 'Previous', next: 'Next' },
  },
});
