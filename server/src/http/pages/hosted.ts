// A page with a script, opened by a secret link. The document contains the platform's name, logo and color,
// and the script loads personal data from the hosted operations below the same address. Only the logo is
// loaded from another server. The page cannot be framed, and browsers do not store it.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HostedApp, PageBrand, PageContent } from '../../kernel/contract/page.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Log } from '../../runtime/observability/log.ts';
import type { LinkBearers } from '../admission/admission.ts';
import type { Limiter } from '../admission/rate-limit.ts';
import { addAssets } from './asset-files.ts';
import { pageAssets } from './assets.ts';
import { brandStyle } from './brand.ts';
import { documentHtml, escapeHtml, hashSource, logoOrigin } from './page-html.ts';
import { CLOSED_HEADERS, sendPage, TOO_MANY_ATTEMPTS } from './pages.ts';

function policyOf(brand: PageBrand | undefined): string {
  const accent = brandStyle(brand);
  const origin = logoOrigin(brand);
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${accent && ` ${hashSource(accent)}`}`,
    // Sources of previews of chosen files, of the empty icon and of the logo.
    `img-src 'self' blob: data:${origin && ` ${origin}`}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Relative addresses, so that the page also works below a path of a proxy. */
const appHtml = (
  { title, withoutScript }: HostedApp,
  brand: PageBrand | undefined,
  script: string,
  style: string,
): string =>
  documentHtml({
    title,
    brand,
    head: `<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
`,
    body: `<noscript><main><h1>${escapeHtml(title)}</h1><p>${escapeHtml(withoutScript)}</p></main></noscript>
`,
  });

const UNAVAILABLE_PAGE: PageContent = {
  status: 500,
  title: 'This page is temporarily unavailable',
  lines: ['Open the link again in a few minutes.'],
};

interface HostedOptions {
  bearers: LinkBearers;
  limiter?: Limiter | undefined;
  log: Pick<Log, 'error'>;
}

/** The error page of a link that cannot be opened, or null for a valid link. */
async function checkLink(
  app: HostedApp,
  { bearers, limiter, log }: HostedOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PageContent | null> {
  const { secret } = request.params as { secret: string };
  try {
    limiter?.checkAddress(request.ip, () => bearers.wasValid(secret));
    await bearers.callerOf(secret);
    return null;
  } catch (error) {
    if (!(error instanceof Fault) || error.status >= 500)
      log.error({ err: error }, 'request failed');
    else if (error.code === 'RATE_LIMITED') {
      reply.header('retry-after', String(error.retryAfterS ?? 1));
      return TOO_MANY_ATTEMPTS;
    } else {
      limiter?.countRejection(request.ip);
      return { ...app.invalidLinkPage, brand: await app.brandOf(secret) };
    }
    return UNAVAILABLE_PAGE;
  }
}

/** Adds the page and its files, outside the versioned base path. */
export function addHostedApp(
  server: FastifyInstance,
  app: HostedApp,
  options: HostedOptions,
): void {
  const load = addAssets(server, app.path, async () => {
    const [script, { style }] = await Promise.all([app.script(), pageAssets()]);
    return { script, style };
  });
  server.get(`${app.path}/:secret`, async (request, reply) => {
    const errorPage = await checkLink(app, options, request, reply);
    if (errorPage) return sendPage(reply, errorPage);
    const { secret } = request.params as { secret: string };
    const [brand, { script, style }] = await Promise.all([app.brandOf(secret), load()]);
    return reply
      .code(200)
      .headers({ ...CLOSED_HEADERS, 'content-security-policy': policyOf(brand) })
      .send(appHtml(app, brand, script.name, style.name));
  });
}
