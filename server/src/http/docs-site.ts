// Serves the documentation site in `site/dist`, which `npm run docs` or a release builds. Without the site,
// `/docs` shows the API reference.
import { createHash } from 'node:crypto';
import path from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { projectRoot } from '../runtime/config/root.ts';
import { builtFiles, sendFile } from './pages/built-site.ts';

const siteFolder = () => path.join(projectRoot(), 'site', 'dist');

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
    // The viewer of the references contains its fonts.
    "font-src 'self' data:",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
}

/** Adds the site below `/docs/`. `reference` serves `/docs` until the site is built. */
export function addDocsSite(
  server: FastifyInstance,
  reference: (reply: FastifyReply) => FastifyReply,
  folder = siteFolder(),
): void {
  const siteFiles = builtFiles(folder);
  server.get('/docs', async (_request, reply) =>
    siteFiles() ? reply.redirect('/docs/') : reference(reply),
  );
  // The well-known paths of the documentation for language models.
  for (const name of ['llms.txt', 'llms-full.txt'])
    server.get(`/${name}`, async (request, reply) => {
      const file = (await siteFiles())?.get(name);
      return file ? sendFile(request, reply, { name, file, policyOf }) : reply.code(404).send();
    });
  server.get<{ Params: { '*': string } }>('/docs/*', async (request, reply) => {
    const name = request.params['*'];
    const filesByPath = await siteFiles();
    if (!filesByPath) return reply.redirect('/docs');
    const file = filesByPath.get(name);
    if (file) return sendFile(request, reply, { name, file, policyOf });
    const notFoundPage = filesByPath.get('404.html');
    reply.code(404);
    return notFoundPage
      ? sendFile(request, reply, { name: '404.html', file: notFoundPage, policyOf })
      : reply.send();
  });
}
