// A page with a script of its own, behind a link that is a secret. The document is the same for everybody
// and holds no data: script and style are files of this server under names that change with what is in
// them, and the rest is asked of the hosted operations below the same address. Nothing comes from anywhere
// else, nothing may frame the page, no browser keeps it and no other site is told its address.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../kernel/fault.ts';
import type { HostedApp, PageAssets, PageContent } from '../kernel/page.ts';
import type { Log } from '../runtime/log.ts';
import type { LinkBearers } from './admission.ts';
import { CLOSED_HEADERS, escaped, HASTE, sendPage } from './pages.ts';
import type { Limiter } from './rate-limit.ts';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  // Previews of chosen files, and the icon that there is none of.
  "img-src 'self' blob: data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

const HEADERS = { ...CLOSED_HEADERS, 'content-security-policy': POLICY };

const FOREVER = 'public, max-age=31536000, immutable';

interface Asset {
  name: string;
  type: string;
  text: string;
}

const nameOf = (text: string, ending: string) =>
  `page-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.${ending}`;

const filesOf = ({ script, style }: PageAssets): { script: Asset; style: Asset } => ({
  script: { name: nameOf(script, 'js'), type: 'text/javascript; charset=utf-8', text: script },
  style: { name: nameOf(style, 'css'), type: 'text/css; charset=utf-8', text: style },
});

/** Relative addresses, so that the page also works below a path of a proxy. */
const appHtml = ({ title, withoutScript }: HostedApp, script: string, style: string): string =>
  `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="assets/${style}">
<script type="module" src="assets/${script}"></script>
</head>
<body>
<noscript><p>${escaped(withoutScript)}</p></noscript>
</body>
</html>
`;

const BROKEN: PageContent = {
  status: 500,
  title: 'Something went wrong on our side',
  lines: ['Please open the link again in a few minutes.'],
};

export interface HostedOptions {
  bearers: LinkBearers;
  limiter?: Limiter | undefined;
  log: Pick<Log, 'error'>;
}

/** What stands in the way of showing the page for this secret, if anything. */
async function hindrance(
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
      return HASTE;
    } else {
      limiter?.blame(request.ip);
      return app.ended;
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
  let files: Promise<ReturnType<typeof filesOf>> | undefined;
  const load = () => {
    files ??= app.assets().then(filesOf);
    // One that failed is tried anew by whoever comes next.
    files.catch(() => {
      files = undefined;
    });
    return files;
  };

  server.get(`${app.path}/assets/:file`, async (request, reply) => {
    const { file } = request.params as { file: string };
    const found = Object.values(await load()).find((each) => each.name === file);
    if (!found) return reply.callNotFound();
    const headers = {
      'content-type': found.type,
      'cache-control': FOREVER,
      'x-content-type-options': 'nosniff',
    };
    return reply.headers(headers).send(found.text);
  });
  server.get(`${app.path}/:secret`, async (request, reply) => {
    const instead = await hindrance(app, options, request, reply);
    if (instead) return sendPage(reply, instead);
    const { script, style } = await load();
    return reply
      .code(200)
      .headers(HEADERS)
      .send(appHtml(app, script.name, style.name));
  });
}
