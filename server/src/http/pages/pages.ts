// Pages that are opened by a secret link without a credential. A page has at most one form and loads only
// the platform's logo. Browsers do not store it, and other sites do not receive its address. Only a page
// with card details has a script, allowed by its hash.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HostedPage, PageContent } from '../../kernel/contract/page.ts';
import { Fault } from '../../kernel/fault.ts';
import type { Limiter } from '../admission/rate-limit.ts';
import { pageAssets } from './assets.ts';
import { brandStyle } from './brand.ts';
import { hashSource, logoOrigin, pageHtml } from './page-html.ts';

/** Default headers of pages, in addition to the policy. */
export const CLOSED_HEADERS: Readonly<Record<string, string>> = {
  'content-type': 'text/html; charset=utf-8',
  'cache-control': 'no-store',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  'x-robots-tag': 'noindex',
};

type Assets = Awaited<ReturnType<typeof pageAssets>>;

/** A page with card details is in a separate origin, without access to resources of this server. */
function policyOf(content: PageContent, { style, script }: Assets): string {
  const { brand, button, card, frames = [] } = content;
  const accent = brandStyle(brand);
  const origin = logoOrigin(brand);
  return [
    "default-src 'none'",
    `style-src ${hashSource(style)}${accent && ` ${hashSource(accent)}`}`,
    ...(origin ? [`img-src ${origin}`] : []),
    ...(card ? [`script-src ${hashSource(script)}`, 'sandbox allow-scripts'] : []),
    `form-action ${button ? "'self'" : "'none'"}`,
    "base-uri 'none'",
    `frame-ancestors ${frames.join(' ') || "'none'"}`,
  ].join('; ');
}

function headersOf(content: PageContent, assets: Assets): Record<string, string> {
  const { 'x-frame-options': frameOptions = '', ...otherHeaders } = CLOSED_HEADERS;
  return {
    ...otherHeaders,
    // The header x-frame-options cannot list origins and would block all of them.
    ...(content.frames?.length ? {} : { 'x-frame-options': frameOptions }),
    'content-security-policy': policyOf(content, assets),
  };
}

export async function sendPage(reply: FastifyReply, content: PageContent, hasBackLink = false) {
  const assets = await pageAssets();
  return reply
    .code(content.status)
    .headers(headersOf(content, assets))
    .send(pageHtml(content, assets, hasBackLink));
}

/** Sends the headers without the body and without its length. */
async function sendHead(reply: FastifyReply, content: PageContent) {
  const assets = await pageAssets();
  return reply.code(content.status).headers(headersOf(content, assets)).send();
}

export const TOO_MANY_ATTEMPTS: PageContent = {
  status: 429,
  title: 'Too many attempts',
  lines: ['Wait a few seconds, then open the link again.'],
};

/** The reply to a browser that prefetches the page. */
const PREFETCH_REJECTED: PageContent = {
  status: 503,
  title: 'Open the link to see this page',
  lines: ['The page is shown only once, so it is not loaded in advance.'],
};

const PREFETCH_HEADERS = ['sec-purpose', 'purpose', 'x-purpose', 'x-moz'];

/** Whether a browser prefetches the page. */
const isPrefetch = ({ headers }: FastifyRequest): boolean =>
  PREFETCH_HEADERS.some((name) => /prefetch|prerender|preview/i.test(String(headers[name] ?? '')));

type PageRequest = FastifyRequest<{ Params: { secret: string }; Querystring: { answer?: string } }>;

/** The page after the user declines. Declining has no effect. */
const declinedPageOf = ({ brand, decline }: PageContent): PageContent | undefined =>
  decline && { status: 200, title: decline.title, lines: decline.lines, brand };

/**
 * Adds the pages, outside the versioned base path. An address that opens unknown links is limited like an
 * address with invalid credentials, so that links cannot be guessed.
 */
export function addPages(
  server: FastifyInstance,
  pages: readonly HostedPage[],
  limiter?: Pick<Limiter, 'checkAddress' | 'countRejection'>,
): void {
  const respondWith =
    (load: (secret: string) => Promise<PageContent>, isHead = false) =>
    async ({ ip, params, query }: PageRequest, reply: FastifyReply) => {
      try {
        limiter?.checkAddress(ip, () => false);
      } catch (error) {
        if (!(error instanceof Fault)) throw error;
        return sendPage(
          reply.header('retry-after', String(error.retryAfterS ?? 1)),
          TOO_MANY_ATTEMPTS,
        );
      }
      const content = await load(params.secret);
      if (content.status === 404) limiter?.countRejection(ip);
      if (isHead) return sendHead(reply, content);
      const declinedPage = query.answer === 'no' ? declinedPageOf(content) : undefined;
      return declinedPage ? sendPage(reply, declinedPage, true) : sendPage(reply, content);
    };
  for (const { path, singleUse: isSingleUse = false, preview, show, confirm } of pages) {
    const url = `${path}/:secret`;
    const respondToGet = respondWith(show);
    if (isSingleUse) {
      // HEAD does not call `show`, because `show` would consume the link.
      const respondToHead = respondWith(preview ?? (async () => PREFETCH_REJECTED), true);
      server.head(url, async (request: PageRequest, reply) =>
        isPrefetch(request) ? sendHead(reply, PREFETCH_REJECTED) : respondToHead(request, reply),
      );
    }
    server.get(url, { exposeHeadRoute: !isSingleUse }, async (request: PageRequest, reply) =>
      isSingleUse && isPrefetch(request)
        ? sendPage(reply, PREFETCH_REJECTED)
        : respondToGet(request, reply),
    );
    if (confirm) server.post(url, respondWith(confirm));
  }
}

/** Address of the listening server on the same machine. */
export function originOf(server: FastifyInstance): string {
  const boundAddress = server.server.address();
  if (typeof boundAddress !== 'object' || boundAddress === null) return 'http://127.0.0.1';
  const host = ['0.0.0.0', '::'].includes(boundAddress.address)
    ? '127.0.0.1'
    : boundAddress.address;
  return `http://${host.includes(':') ? `[${host}]` : host}:${boundAddress.port}`;
}
