// The documentation site, from `site/dist` by `npm run docs` or a release. Without it `/docs` shows
// the API reference. Files are listed when the site is first requested, so the path of a request is
// looked up and never used as a file path.
import { createHash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { projectRoot } from '../runtime/config/root.ts';
import { acceptsGzip } from './reference.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

const siteFolder = () => path.join(projectRoot(), 'site', 'dist');

/** Request path below `/docs/` → file. Pages are found without `.html`. */
async function filesOf(folder: string): Promise<ReadonlyMap<string, string>> {
  const filesByPath = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (!entry.isFile() || !(path.extname(file) in TYPES)) continue;
    const name = path.relative(folder, file).replaceAll(path.sep, '/');
    filesByPath.set(name, file);
    if (name.endsWith('.html')) filesByPath.set(name.replace(/(?:index)?\.html$/, ''), file);
  }
  return filesByPath;
}

const INLINE_SCRIPT = /<script(?![^>]*\bsrc=)[^>]*>([\s\S]*?)<\/script>/g;

/** Scripts inside a page are allowed by their hashes. */
function policyOf(html: string): string {
  const hashes = [...html.matchAll(INLINE_SCRIPT)].map(
    ([, text = '']) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`,
  );
  return [
    "default-src 'self'",
    `script-src 'self' ${[...new Set(hashes)].join(' ')}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

const COMPRESSED = new Set(['.css', '.html', '.js', '.json', '.svg', '.txt']);

async function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  name: string,
  file: string,
) {
  const bytes = await readFile(file);
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  reply.header('content-type', type);
  if (file.endsWith('.html')) reply.header('content-security-policy', policyOf(bytes.toString()));
  // Names of assets have a hash of their content.
  const isImmutable = name.startsWith('assets/');
  reply.header('cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (!COMPRESSED.has(path.extname(file))) return reply.send(bytes);
  reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(headers)) return reply.send(bytes);
  return reply.header('content-encoding', 'gzip').send(await promisify(gzip)(bytes));
}

/** Adds the site below `/docs/`; `reference` serves `/docs` until the site is built. */
export function addDocsSite(
  server: FastifyInstance,
  reference: (reply: FastifyReply) => FastifyReply,
  folder = siteFolder(),
): void {
  let files: Promise<ReadonlyMap<string, string>> | undefined;
  let filesAt = 0;
  /** The files of the current build; undefined without one. */
  function built() {
    const at = statSync(path.join(folder, 'index.html'), { throwIfNoEntry: false })?.mtimeMs;
    if (at === undefined) return undefined;
    if (at !== filesAt) files = undefined;
    filesAt = at;
    files ??= filesOf(folder);
    return files;
  }
  server.get('/docs', async (_request, reply) =>
    built() ? reply.redirect('/docs/') : reference(reply),
  );
  // The well-known location for programs.
  for (const name of ['llms.txt', 'llms-full.txt'])
    server.get(`/${name}`, async (request, reply) => {
      const file = (await built())?.get(name);
      return file ? sendFile(request, reply, name, file) : reply.code(404).send();
    });
  server.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const filesByPath = await built();
    if (!filesByPath) return reply.redirect('/docs');
    const name = request.params['*'];
    const file = filesByPath.get(name);
    if (file) return sendFile(request, reply, name, file);
    const notFoundPage = filesByPath.get('404.html');
    reply.code(404);
    return notFoundPage ? sendFile(request, reply, '404.html', notFoundPage) : reply.send();
  });
}
