// The sidebar of the site. llms.txt has the same order, except alerts and decisions, which are last.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const docs = path.resolve(import.meta.dirname, '../../docs');

const titleOf = (file) =>
  /^# (.*)$/m.exec(readFileSync(path.join(docs, file), 'utf8'))?.[1].replaceAll('`', '') ?? file;

const page = (file) => ({ text: titleOf(file), link: `/${file.replace(/(?:index)?\.md$/, '')}` });

const pagesIn = (folder) =>
  (existsSync(path.join(docs, folder)) ? readdirSync(path.join(docs, folder)) : [])
    .filter((name) => name.endsWith('.md'))
    .sort()
    .map((name) => page(`${folder}/${name}`));

const sidebarGroup = (text, items, isCollapsed = false) => ({
  text,
  items,
  collapsed: isCollapsed,
});

const guides = (...names) => names.map((name) => page(`guides/${name}.md`));

/**
 * `npm run docs` writes `operator-reference.html` next to the pages, so a link to it loads a complete
 * document.
 */
const OPERATOR_REFERENCE = {
  text: 'Operator API',
  link: '/operator-reference',
  target: '_self',
};

/** A generated page, so its title is not in docs/. */
const OPERATOR_OPERATIONS = { text: 'Operator API operations', link: '/operations/operator' };

export const REFERENCE = sidebarGroup('Reference', [
  page('api.md'),
  page('cli.md'),
  { text: 'Operations', link: '/operations/' },
  { text: 'Interactive reference', link: '/reference', target: '_self' },
  OPERATOR_REFERENCE,
  OPERATOR_OPERATIONS,
  { text: 'TypeScript SDK', link: '/sdk/' },
  { text: 'Webhooks: all events', link: '/webhooks' },
  page('errors.md'),
]);

/** Groups of pages, from the first steps to operation and architecture. */
export const SIDEBAR = [
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
  sidebarGroup('Guides', [
    ...guides('integration', 'tokens', 'onboarding-individuals', 'onboarding-businesses'),
    ...guides(
      'funding',
      'payouts',
      'incoming',
      'cards',
      'stablecoins',
      'embedded-wallets',
      'ownership',
    ),
    ...guides('sca', 'agents', 'events', 'deliveries', 'webhook-keys', 'requests', 'clock'),
    ...guides('fixtures'),
  ]),
  REFERENCE,
  sidebarGroup('Operating', [
    ...guides('install', 'operating', 'operators', 'console', 'containers', 'high-availability'),
    ...guides('backup', 'keys'),
    OPERATOR_REFERENCE,
    OPERATOR_OPERATIONS,
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
  sidebarGroup('Providers', [
    ...guides('providers', 'provider-adapters', 'provider-routing', 'providers-cards'),
    ...guides('providers-walk', 'reconciliation'),
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
