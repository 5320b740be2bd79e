// Routes outside the API: health, metrics, the OpenAPI document and the documentation site. The routes need
// no credential and show no data of a platform.
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Metrics } from '../runtime/observability/metrics.ts';
import type { ReadyStatus } from '../runtime/observability/readiness.ts';
import { addDocsSite } from './docs-site.ts';
import { type ExampleRequest, type RequestForm, requestFormOf } from './document/request-form.ts';
import { withSdkSamples } from './pages/sdk-samples.ts';
import { acceptsGzip, addReference, sendReference } from './reference.ts';
import { BASE_PATH } from './route.ts';

interface HealthOptions {
  /** Returns whether the server can commit. */
  readiness(): Promise<ReadyStatus>;
  metrics: Pick<Metrics, 'text' | 'contentType'>;
}

interface SiteOptions {
  openApi: () => Promise<object>;
  /** Folder of the built documentation site. Defaults to `site/dist`. */
  siteFolder?: string | undefined;
  reference: {
    /** The document that the reference shows. */
    document(document: object): Promise<object>;
    /** The example requests of an operation. Those of a deletion contain no IDs of existing resources. */
    requestsOf(operationId: string, isDeletion: boolean): Promise<ExampleRequest[]>;
    /** Reason for which the example request of an operation fails or returns an empty list. */
    preconditionOf(operationId: string): string | undefined;
    /** Name in the document of an operation that a page of the site names. */
    apiName(operationId: string): string;
  };
}

const sendText = (reply: FastifyReply, type: string, body: string | Buffer) =>
  reply.header('content-type', type).send(body);

/**
 * Returns a function that sends a JSON document, compressed where the client accepts it. Each
 * document is compressed once.
 */
function createDocumentSender(indent?: number) {
  const compressedTexts = new WeakMap<object, Promise<Buffer>>();
  const compress = promisify(gzip);
  return async (headers: FastifyRequest['headers'], reply: FastifyReply, document: object) => {
    reply.header('vary', 'accept-encoding');
    const type = 'application/json; charset=utf-8';
    const json = () => JSON.stringify(document, null, indent);
    if (!acceptsGzip(headers)) return sendText(reply, type, json());
    const compressedText = compressedTexts.get(document) ?? compress(json());
    compressedTexts.set(document, compressedText);
    return sendText(reply.header('content-encoding', 'gzip'), type, await compressedText);
  };
}

const ROOT_BODY = JSON.stringify({
  name: 'railhead',
  baseUrl: BASE_PATH,
  docs: '/docs',
  openapi: '/openapi.json',
});

/** Adds the routes of load balancers and monitoring. */
export function addHealth(server: FastifyInstance, options: HealthOptions): void {
  server.get('/healthz', async (_request, reply) =>
    sendText(reply, 'application/json; charset=utf-8', '{"status":"ok"}'),
  );
  server.get('/readyz', async (_request, reply) => {
    const status = await options.readiness();
    const type = 'application/json; charset=utf-8';
    return sendText(reply.code(status === 'ready' ? 200 : 503), type, JSON.stringify({ status }));
  });
  server.get('/metrics', async (_request, reply) =>
    sendText(reply, options.metrics.contentType, await options.metrics.text()),
  );
}

/** Adds the routes for readers of the documentation. */
export function addSite(server: FastifyInstance, options: SiteOptions): void {
  let openApi: Promise<object> | undefined;
  const document = () => {
    openApi ??= options.openApi();
    return openApi;
  };
  const { reference } = options;
  const sendIndented = createDocumentSender(2);
  const sendCompact = createDocumentSender();
  // The file of the site has the default service name prefix, and this server can have another.
  for (const path of ['/openapi.json', '/docs/openapi.json'])
    server.get(path, async ({ headers }, reply) => sendIndented(headers, reply, await document()));
  server.get('/docs/reference/openapi.json', async ({ headers }, reply) =>
    sendCompact(headers, reply, withSdkSamples(await reference.document(await document()))),
  );
  server.get<{ Params: { operationId: string } }>(
    '/docs/requests/:operationId',
    async ({ params }, reply) => {
      const form = requestFormOf(await document(), reference.apiName(params.operationId));
      if (!form) return reply.code(404).send();
      const examples = await reference.requestsOf(form.operationId, form.method === 'DELETE');
      const precondition = reference.preconditionOf(params.operationId);
      const body: RequestForm = { ...form, examples, precondition };
      reply.header('cache-control', 'no-store');
      return sendText(reply, 'application/json; charset=utf-8', JSON.stringify(body));
    },
  );
  server.get('/', async ({ headers }, reply) => {
    reply.header('vary', 'accept');
    if (/\btext\/html\b/.test(headers.accept ?? '')) return reply.redirect('/docs');
    return sendText(reply, 'application/json; charset=utf-8', ROOT_BODY);
  });
  addReference(server);
  addDocsSite(server, sendReference, options.siteFolder);
}
