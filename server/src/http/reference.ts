// The page of the API reference. The viewer is one script that the package for Fastify contains as a
// string. `@scalar/api-reference`, which contains the script as a file, would install 367 MB of other
// packages.
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import vm from 'node:vm';
import { gunzip, gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { projectRoot } from '../runtime/config/root.ts';
import { withSdkSamples } from './pages/sdk-samples.ts';

const PACKAGE = '@scalar/fastify-api-reference';
const HTML = 'text/html; charset=utf-8';
const JAVASCRIPT = 'text/javascript; charset=utf-8';

/** Pattern of the script as a JavaScript string literal. */
const LITERAL = /standalone_default = ("(?:[^"\\]|\\.)*")/s;

/** File of the script in a release, which does not contain the package. */
const releasedScriptFile = () => join(projectRoot(), 'server', 'reference-viewer.js');

async function viewerScript(): Promise<string> {
  if (existsSync(releasedScriptFile())) return readFile(releasedScriptFile(), 'utf8');
  const file = createRequire(import.meta.url).resolve(PACKAGE);
  const [, literal] = LITERAL.exec(await readFile(file, 'utf8')) ?? [];
  if (literal === undefined) throw new Error(`${PACKAGE} does not contain the expected script.`);
  // Evaluated in a separate context, because only the text of the literal is needed.
  return vm.runInNewContext(literal) as string;
}

/** Caches the result of `make`, which is called at the first request and again after a failure. */
function memoize<T>(make: () => Promise<T>): () => Promise<T> {
  let result: Promise<T> | undefined;
  return () => {
    result ??= make().catch((error: unknown) => {
      result = undefined;
      throw error;
    });
    return result;
  };
}

// All replies share the bytes, so slow clients need no further memory. Most clients accept gzip, so the
// uncompressed script is loaded at the first request of a client that does not.
const compressedScript = memoize(async () => promisify(gzip)(await viewerScript()));
const uncompressedScript = memoize(async () => promisify(gunzip)(await compressedScript()));

const pageHtml = (
  viewerUrl: string,
  startUrl: string,
  title = 'Railhead API reference',
) => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="data:,">
</head>
<body>
<div id="reference"></div>
<script src="${viewerUrl}"></script>
<script src="${startUrl}"></script>
</body>
</html>
`;

/** Languages and libraries of code samples that are not shown. curl, JavaScript, Python and Go remain. */
const HIDDEN_CLIENTS = {
  ...Object.fromEntries(
    [
      ...['c', 'clojure', 'csharp', 'dart', 'fsharp', 'http', 'java', 'julia', 'kotlin', 'node'],
      ...['objc', 'ocaml', 'php', 'powershell', 'r', 'ruby', 'rust', 'swift'],
    ].map((target) => [target, true]),
  ),
  shell: ['httpie', 'wget'],
  js: ['axios', 'jquery', 'ofetch', 'xhr'],
  python: ['aiohttp', 'http.client', 'httpx_async', 'httpx_sync', 'python3'],
};

/**
 * Variable of the viewer → color of the site in `tokens.css`, in light and dark. A test compares both. The
 * viewer runs without `tokens.css`, because it has a switch between light and dark of its own.
 */
export const SITE_COLORS: Readonly<
  Record<string, readonly [token: string, light: string, dark: string]>
> = {
  'background-1': ['surface', '#ffffff', '#1a202a'],
  'background-2': ['ground', '#f6f7f9', '#11151c'],
  'background-3': ['divider', '#dde1e8', '#2c3543'],
  'border-color': ['divider', '#dde1e8', '#2c3543'],
  'color-1': ['text', '#1b2330', '#e9edf4'],
  'color-2': ['text-soft', '#555f70', '#a7b1c2'],
  'color-3': ['text-soft', '#555f70', '#a7b1c2'],
  'color-accent': ['accent', '#4338ca', '#a5b4fc'],
  'link-color': ['accent', '#4338ca', '#a5b4fc'],
  'sidebar-color-2': ['text-soft', '#555f70', '#a7b1c2'],
  'sidebar-search-color': ['text-soft', '#555f70', '#a7b1c2'],
};

/** Colors of methods and statuses, because some colors of the viewer lack the contrast of WCAG AA. */
const LIGHT_COLORS = {
  'color-blue': '#0063a8',
  'color-green': '#006b45',
  'color-orange': '#8f4700',
  'color-purple': '#5b3fc4',
  'color-red': '#b3261e',
  'color-yellow': '#7a4b00',
};

const styleOf = (mode: string, colors: Readonly<Record<string, string>>) => {
  const lines = Object.entries(colors).map(([name, color]) => `--scalar-${name}: ${color};`);
  return `.${mode}-mode { ${lines.join(' ')} }`;
};

const siteColors = (index: 1 | 2) =>
  Object.fromEntries(Object.entries(SITE_COLORS).map(([name, color]) => [name, color[index]]));

/**
 * A linked operation receives the focus, and the outline of the focus would be two lines along the page.
 */
const NO_OUTLINE = 'section:focus, section:focus-visible { outline: none; }';

const CUSTOM_CSS = [
  styleOf('light', { ...siteColors(1), ...LIGHT_COLORS }),
  styleOf('dark', siteColors(2)),
  NO_OUTLINE,
].join('\n');

const CONFIGURATION = {
  theme: 'default',
  customCss: CUSTOM_CSS,
  layout: 'modern',
  withDefaultFonts: false,
  telemetry: false,
  hideClientButton: true,
  showDeveloperTools: 'never',
  mcp: { disabled: true },
  agent: { disabled: true },
  defaultOpenAllTags: false,
  operationTitleSource: 'summary',
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  hiddenClients: HIDDEN_CLIENTS,
  authentication: { preferredSecurityScheme: 'BasicAuth' },
};

const startScript = (url: string, options: object = {}) =>
  `Scalar.createApiReference('#reference', ${JSON.stringify({ url, ...CONFIGURATION, ...options })});\n`;

/** Address of the viewer's script on a server. */
const VIEWER = '/docs/reference/viewer.js';

const PAGE = pageHtml(VIEWER, '/docs/reference/start.js');
const START = startScript('/docs/reference/openapi.json');

/** The document with links to the pages of a site, whose addresses `addressOf` returns. */
export const withAddresses = (addressOf: (page: string) => string, document: object): object =>
  JSON.parse(
    JSON.stringify(document).replaceAll(
      /\]\(\/docs\/([^)]*)\)/g,
      (_, page: string) => `](${addressOf(page)})`,
    ),
  );

/** The reference of a document as files of a static site at `base`. */
export const referenceFiles = async (
  base: string,
  document: object,
): Promise<Record<string, string>> => ({
  'reference.html': pageHtml(`${base}reference-viewer.js`, `${base}reference-start.js`),
  'reference-viewer.js': await viewerScript(),
  'reference-start.js': startScript(`${base}reference-openapi.json`),
  'reference-openapi.json': JSON.stringify(withSdkSamples(document)),
});

const OPERATOR_TITLE = 'Railhead operator API reference';
const OPERATOR_START = { authentication: { preferredSecurityScheme: 'OperatorAuth' } };

/**
 * The reference of the operator API as files of a site at `base`. On a static site, the viewer is a file of
 * `referenceFiles`. On a server, it is the viewer of the platform reference.
 */
export const operatorReferenceFiles = (
  base: string,
  document: object,
  { isStatic }: { isStatic: boolean },
): Record<string, string> => ({
  'operator-reference.html': pageHtml(
    isStatic ? `${base}reference-viewer.js` : VIEWER,
    `${base}operator-reference-start.js`,
    OPERATOR_TITLE,
  ),
  'operator-reference-start.js': startScript(`${base}operator-openapi.json`, OPERATOR_START),
  'operator-openapi.json': JSON.stringify(document),
});

/** The viewer inserts styles into the page and calls only this server. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self' data:",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const acceptsGzip = (headers: FastifyRequest['headers']): boolean =>
  /\bgzip\b/.test(headers['accept-encoding'] ?? '');

async function sendScript(request: FastifyRequest, reply: FastifyReply) {
  reply.header('content-type', JAVASCRIPT).header('vary', 'accept-encoding');
  reply.header('cache-control', 'public, max-age=86400');
  if (acceptsGzip(request.headers))
    return reply.header('content-encoding', 'gzip').send(await compressedScript());
  return reply.send(await uncompressedScript());
}

export const sendReference = (reply: FastifyReply): FastifyReply =>
  reply.header('content-type', HTML).header('content-security-policy', POLICY).send(PAGE);

/** Adds the scripts of a reference page below `base`. */
function addFiles(server: FastifyInstance, base: string, startScriptText: string): void {
  server.get(`${base}/viewer.js`, sendScript);
  server.get(`${base}/start.js`, async (_request, reply) =>
    reply.header('content-type', JAVASCRIPT).send(startScriptText),
  );
}

/** Adds the reference at `/docs/reference`. */
export function addReference(server: FastifyInstance): void {
  server.get('/docs/reference', async (_request, reply) => sendReference(reply));
  addFiles(server, '/docs/reference', START);
}

/** Adds the reference of the operator API below `base`, next to its document. */
export function addOperatorReference(server: FastifyInstance, base: string): void {
  const path = `${base}/reference`;
  const html = pageHtml(`${path}/viewer.js`, `${path}/start.js`, OPERATOR_TITLE);
  server.get(path, async (_request, reply) =>
    reply.header('content-type', HTML).header('content-security-policy', POLICY).send(html),
  );
  addFiles(server, path, startScript(`${base}/openapi.json`, OPERATOR_START));
}
