// A page with its own script, behind a secret link. The document contains the platform's name, logo
// and color and no personal data: script and style are files of this server under names that
// change with their content, and data is loaded from the hosted operations below the same address.
// Only the logo is loaded from elsewhere. Other pages cannot frame it, browsers do not store it,
// and other sites do not receive its address.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HostedApp, PageBrand, PageContent } from '../../kernel/contract/page.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Log } from '../../runtime/observability/log.ts';
import type { LinkBearers } from '../admission/admission.ts';
import type { Limiter } from '../admission/rate-limit.ts';
import { addAssets } from './asset-files.ts';
import { pageAssets } from './assets.ts';
import { brandStyle } from './brand.ts';
import { documentHtml, escaped, hashSource, logoOrigin } from './page-html.ts';
import { CLOSED_HEADERS, sendPage, TOO_MANY_ATTEMPTS } from './pages.ts';

function policyOf(brand: PageBrand | undefined): string {
  const accent = brandStyle(brand);
  const origin = logoOrigin(brand);
  return [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${accent && ` ${hashSource(accent)}`}`,
    // Previews of chosen files, the empty icon, and the logo.
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
    body: `<noscript><main><h1>${escaped(title)}</h1><p>${escaped(withoutScript)}</p></main></noscript>
`,
  });

const BROKEN: PageContent = {
  status: 500,
  title: 'This page is temporarily unavailable',
  lines: ['Your data is safe. Open the link again in a few minutes.'],
};

interface HostedOptions {
  bearers: LinkBearers;
  limiter?: Limiter | undefined;
  log: Pick<Log, 'error'>;
}

/** The page to show instead if the link cannot be opened. */
async function rejection(
  app: HostedApp,
  { bearers, limiter, log }: HostedOptions,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<PageContent | null> {
  const { secret } = request.params as { secret: string };
  try {
    limiter?.checkAddress(request.ip, () => bearers.isProven(secret));
    await bearers.callerOf(secret);
    return null;
  } catch (error) {
    if (!(error instanceof Fault) || error.status >= 500) log.error({ err: error }, 'failed');
    else if (error.code === 'RATE_LIMITED') {
      reply.header('retry-after', String(error.retryAfterS ?? 1));
      return TOO_MANY_ATTEMPTS;
    } else {
      limiter?.countRejection(request.ip);
      return { ...app.invalidLinkPage, brand: await app.brandOf(secret) };
    }
    return BROKEN;
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
    const errorPage = await rejection(app, options, request, reply);
    if (errorPage) return sendPage(reply, errorPage);
    const { secret } = request.params as { secret: string };
    const [brand, { script, style }] = await Promise.all([app.brandOf(secret), load()]);
    return reply
      .code(200)
      .headers({ ...CLOSED_HEADERS, 'content-security-policy': policyOf(brand) })
      .send(appHtml(app, brand, script.name, style.name));
  });
}
