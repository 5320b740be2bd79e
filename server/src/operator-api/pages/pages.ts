// The pages on which operators enroll and sign in. The documents contain no data and no secret. The
// script reads the secret of a link from the fragment, which browsers do not send, and calls the
// operator API.
import type { FastifyInstance } from 'fastify';
import { type AssetFiles, addAssets } from '../../http/pages/asset-files.ts';
import { documentHtml, escapeHtml } from '../../http/pages/page-html.ts';
import { CLOSED_HEADERS } from '../../http/pages/pages.ts';
import { pageAssets } from './assets.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // The empty icon.
  'img-src data:',
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

interface Page {
  path: string;
  title: string;
  /**
   * Relative path to the folder of the assets, so that a proxy may serve the pages below a path.
   */
  base: string;
  isNarrow: boolean;
}

const PAGES: readonly Page[] = [
  { path: '/operator', title: 'Your account', base: 'operator/', isNarrow: false },
  { path: '/operator/sign-in', title: 'Sign in', base: '', isNarrow: true },
  { path: '/operator/enroll', title: 'Set up your sign-in', base: '', isNarrow: true },
];

const WITHOUT_SCRIPT = 'This page needs JavaScript. Enable it in the settings of the browser.';

const CONSOLE_LINK = '<a href="console/">Open the console</a>';

const headerHtml = (link: string) => `<header><div class="inner">
<p class="brand"><span>Railhead</span><span class="tag">Operators</span></p>${link}
</div></header>`;

const html = (page: Page, { script, style }: AssetFiles, hasConsole: boolean): string => {
  const { path, title, base, isNarrow } = page;
  const link = hasConsole && path === '/operator' ? CONSOLE_LINK : '';
  return documentHtml({
    title: `${title} – Railhead`,
    brand: undefined,
    head: `<link rel="icon" href="data:,">
<link rel="stylesheet" href="${base}assets/${style.name}">
<script type="module" src="${base}assets/${script.name}"></script>
`,
    body: `${headerHtml(link)}
<main${isNarrow ? ' class="narrow"' : ''}>
<h1 class="waiting">${escapeHtml(title)}</h1>
<div class="skeleton"></div>
<noscript><p>${escapeHtml(WITHOUT_SCRIPT)}</p></noscript></main>
`,
  });
};

/** Adds the pages and their files. */
export function addOperatorPages(server: FastifyInstance, hasConsole = false): void {
  const load = addAssets(server, '/operator', pageAssets);
  for (const page of PAGES) {
    server.get(page.path, async (_request, reply) =>
      reply
        .headers({ ...CLOSED_HEADERS, 'content-security-policy': POLICY })
        .send(html(page, await load(), hasConsole)),
    );
  }
}
