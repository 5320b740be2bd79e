// The few pages that people open without a credential, by a link that is a secret. They are words and at
// most one button: no script, nothing from anywhere else, no frame around them but of whom the page itself
// names, and nothing kept by a browser or told to the next site, so that the link stays with whom it was
// given to.
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Fault } from '../kernel/fault.ts';
import type { HostedPage, PageContent } from '../kernel/page.ts';
import type { Limiter } from './rate-limit.ts';

const STYLE = `
:root { color-scheme: light dark; font: 1.125rem/1.5 system-ui, sans-serif; }
main { max-width: 34rem; margin: 10vh auto; padding: 0 1.5rem; }
p { overflow-wrap: anywhere; }
dt { font-size: .875rem; }
dd { margin: 0 0 1rem; font-size: 1.25rem; font-variant-numeric: tabular-nums; user-select: all; }
button { font: inherit; padding: .6rem 1.4rem; cursor: pointer; }
button { border: 2px solid; border-radius: .5rem; }
button:focus-visible { outline: 3px solid; outline-offset: 3px; }
`;

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** What keeps a page closed, beside its policy. */
export const CLOSED_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

/** A page with facts needs no more than a picture of it could do, and may not. */
const policyOf = ({ button, facts, frames = [] }: PageContent): string =>
  [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    `form-action ${button ? "'self'" : "'none'"}`,
    ...(facts ? ['sandbox'] : []),
    "base-uri 'none'",
    `frame-ancestors ${frames.join(' ') || "'none'"}`,
  ].join('; ');

function headersOf(content: PageContent): Record<string, string> {
  const { 'x-frame-options': unframed = '', ...closed } = CLOSED_HEADERS;
  return {
    ...closed,
    // It knows no list of origins, and would say no to all of them.
    ...(content.frames?.length ? {} : { 'x-frame-options': unframed }),
    'content-security-policy': policyOf(content),
  };
}

export const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

/** The page as HTML; every word of it is text. */
export function pageHtml({ title, lines, facts = [], button }: PageContent): string {
  const list = facts
    .map(({ label, value }) => `<dt>${escaped(label)}</dt>\n<dd>${escaped(value)}</dd>\n`)
    .join('');
  const form = button
    ? `<form method="post"><button type="submit">${escaped(button)}</button></form>\n`
    : '';
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>${escaped(title)}</h1>
${lines.map((line) => `<p>${escaped(line)}</p>\n`).join('')}${list && `<dl>\n${list}</dl>\n`}${form}</main>
</body>
</html>
`;
}

export const sendPage = (reply: FastifyReply, content: PageContent) =>
  reply.code(content.status).headers(headersOf(content)).send(pageHtml(content));

export const HASTE: PageContent = {
  status: 429,
  title: 'Too many tries',
  lines: ['Wait a few seconds and open the link again.'],
};

/** What a browser is told that fetches a page before anybody wants to see it; it asks again then. */
const TOO_SOON: PageContent = {
  status: 503,
  title: 'Open the link to see this page',
  lines: ['It is shown only once, and was asked for before anybody could look at it.'],
};

const AHEAD = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/** Whether a browser says that nobody looks at what it asks for yet. */
const isAhead = ({ headers }: FastifyRequest): boolean =>
  AHEAD.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')));

type PageRequest = FastifyRequest<{ Params: { secret: string } }>;

/**
 * Adds the pages, outside the versioned base path. An address that opens links which lead nowhere is
 * counted like one with bad credentials, so that nobody finds a page by trying.
 */
export function addPages(
  server: FastifyInstance,
  pages: readonly HostedPage[],
  limiter?: Pick<Limiter, 'checkAddress' | 'blame'>,
): void {
  const answerWith =
    (ask: (secret: string) => Promise<PageContent>) =>
    async ({ ip, params }: PageRequest, reply: FastifyReply) => {
      try {
        limiter?.checkAddress(ip, () => false);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return sendPage(reply.header('retry-after', String(error.retryAfterS ?? 1)), HASTE);
      }
      const content = await ask(params.secret);
      if (content.status === 404) limiter?.blame(ip);
      return sendPage(reply, content);
    };
  for (const { path, once = false, show, press } of pages) {
    const url = `${path}/:secret`;
    const shown = answerWith(show);
    // HEAD would run the same, and show what is shown once to nobody.
    if (once) server.head(url, async (_request, reply) => sendPage(reply, TOO_SOON));
    server.get(url, { exposeHeadRoute: !once }, async (request: PageRequest, reply) =>
      once && isAhead(request) ? sendPage(reply, TOO_SOON) : shown(request, reply),
    );
    if (press) server.post(url, answerWith(press));
  }
}

/** Where a server that listens is reached on its own machine. */
export function originOf(server: FastifyInstance): string {
  const bound = server.server.address();
  if (typeof bound !== 'object' || bound === null) return 'http://127.0.0.1';
  const host = ['0.0.0.0', '::'].includes(bound.address) ? '127.0.0.1' : bound.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${bound.port}`;
}
