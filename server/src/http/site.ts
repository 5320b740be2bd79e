// What stands beside the API: health, metrics, the OpenAPI document and a reference to browse it with,
// served from files of the installation alone. None of it needs a credential or shows a platform's data.
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { ReadyStatus } from '../runtime/observability/readiness.ts';
import { BASE_PATH } from './route.ts';

interface SiteOptions {
  /** Whether the server can commit. */
  ready(): Promise<ReadyStatus>;
  metrics: Metrics;
  openApi: () => Promise<unknown>;
}

const DOCS_FILES: Record<string, string> = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
};

const DOCS_PAGE = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Railhead API reference</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<div id="reference"></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
</body>
</html>
`;

const DOCS_START = `SwaggerUIBundle({
  url: '/openapi.json', dom_id: '#reference', deepLinking: true, docExpansion: 'none',
  filter: true, persistAuthorization: false, validatorUrl: null,
});
`;

const docsFolder = () =>
  path.dirname(createRequire(import.meta.url).resolve('swagger-ui-dist/package.json'));

const text = (reply: FastifyReply, type: string, body: string | Buffer) =>
  reply.header('content-type', type).send(body);

const WELCOME = JSON.stringify({
  name: 'railhead',
  baseUrl: BASE_PATH,
  docs: '/docs',
  openapi: '/openapi.json',
});

const DOCS_POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

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
  server.get('/openapi.json', async (_request, reply) => {
    openApi ??= options.openApi().then((document) => JSON.stringify(document, null, 2));
    return text(reply, 'application/json; charset=utf-8', await openApi);
  });
  server.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept');
    if (/\btext\/html\b/.test(headers.accept ?? '')) return reply.redirect('/docs');
    return text(reply, 'application/json; charset=utf-8', WELCOME);
  });
  server.get('/docs/', async (_request, reply) => reply.redirect('/docs'));
  server.get('/docs', async (_request, reply) => {
    reply.header('content-security-policy', DOCS_POLICY);
    return text(reply, 'text/html; charset=utf-8', DOCS_PAGE);
  });
  server.get('/docs/start.js', async (_request, reply) =>
    text(reply, 'text/javascript; charset=utf-8', DOCS_START),
  );
  for (const [file, type] of Object.entries(DOCS_FILES)) {
    // Read once: answers that clients are slow to take share the bytes.
    let bytes: Promise<Buffer> | undefined;
    server.get(`/docs/${file}`, async (_request, reply) => {
      bytes ??= readFile(path.join(docsFolder(), file));
      return text(reply, type, await bytes);
    });
  }
}
