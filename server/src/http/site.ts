// What stands beside the API: health, metrics, the OpenAPI document and a reference to browse it with,
// served from files of the installation alone. None of it needs a credential or shows a platform's data.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { ReadyStatus } from '../runtime/observability/readiness.ts';
import { addDocsSite } from './docs-site.ts';
import { addReference, sendReference } from './reference.ts';
import { BASE_PATH } from './route.ts';

interface SiteOptions {
  /** Whether the server can commit. */
  ready(): Promise<ReadyStatus>;
  metrics: Metrics;
  openApi: () => Promise<unknown>;
  /** Folder of the built documentation site; `site/dist` unless stated. */
  siteFolder?: string | undefined;
  /** The document as the reference of this server shows it. */
  shown: (document: string) => Promise<string>;
}

const text = (reply: FastifyReply, type: string, body: string | Buffer) =>
  reply.header('content-type', type).send(body);

const WELCOME = JSON.stringify({
  name: 'railhead',
  baseUrl: BASE_PATH,
  docs: '/docs',
  openapi: '/openapi.json',
});

/** Adds the routes outside the versioned base path. */
export function addSite(server: FastifyInstance, options: SiteOptions): void {
  let openApi: Promise<string> | undefined;
  server.get('/healthz', async (_request, reply) =>
    text(reply, 'application/json; charset=utf-8', '{"status":"ok"}'),
  );
  server.get('/readyz', async (_request, reply) => {
    const status = await options.ready();
    const type = 'application/json; charset=utf-8';
    return text(reply.code(status === 'ready' ? 200 : 503), type, JSON.stringify({ status }));
  });
  server.get('/metrics', async (_request, reply) =>
    text(reply, options.metrics.contentType, await options.metrics.text()),
  );
  const document = () => {
    openApi ??= options.openApi().then((made) => JSON.stringify(made, null, 2));
    return openApi;
  };
  server.get('/openapi.json', async (_request, reply) =>
    text(reply, 'application/json; charset=utf-8', await document()),
  );
  server.get('/docs/reference/openapi.json', async (_request, reply) =>
    text(reply, 'application/json; charset=utf-8', await options.shown(await document())),
  );
  server.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept');
    if (/\btext\/html\b/.test(headers.accept ?? '')) return reply.redirect('/docs');
    return text(reply, 'application/json; charset=utf-8', WELCOME);
  });
  addReference(server);
  addDocsSite(server, sendReference, options.siteFolder);
}
