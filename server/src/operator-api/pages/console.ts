// Serves the console from `packages/console/dist`. `npm start` builds this folder in the background, `npm run
// console` builds it on demand, and a release contains it. Until the console is built, a page shows the
// progress.
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { builtFiles, sendFile } from '../../http/pages/built-site.ts';
import { documentHtml, escapeHtml } from '../../http/pages/page-html.ts';
import { CLOSED_HEADERS } from '../../http/pages/pages.ts';
import { projectRoot } from '../../runtime/config/root.ts';

/** No inline scripts or styles. Documents of customers are rendered from memory as images. */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  // For the worker that renders PDF files.
  "worker-src 'self'",
  "img-src 'self' data: blob:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

const PROGRESS_POLICY = "default-src 'none'; base-uri 'none'; frame-ancestors 'none'";
const RELOAD_SECONDS = 2;

interface Progress {
  step: string;
  failed: boolean;
  pid: number;
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Progress of a running or failed build, or undefined without either. */
async function progressIn(folder: string): Promise<Progress | undefined> {
  try {
    const text = await readFile(path.join(folder, 'dist-progress.json'), 'utf8');
    const progress = JSON.parse(text) as Progress;
    return progress.failed || isRunning(progress.pid) ? progress : undefined;
  } catch {
    return undefined;
  }
}

const NOT_BUILT =
  'The console is not built yet. `npm start` builds it in the background. Otherwise, run ' +
  '`npm run console`. This page reloads automatically.';

async function sendProgress(reply: FastifyReply, folder: string) {
  const progress = await progressIn(folder);
  const isBuilding = !progress?.failed;
  const text = progress?.step ?? NOT_BUILT;
  const html = documentHtml({
    title: 'Console – Railhead',
    brand: undefined,
    head: isBuilding ? `<meta http-equiv="refresh" content="${RELOAD_SECONDS}">\n` : '',
    body: `<main>\n<h1>Console</h1>\n<p role="status">${escapeHtml(text)}</p>\n</main>\n`,
  });
  return reply
    .code(503)
    .headers({ ...CLOSED_HEADERS, 'content-security-policy': PROGRESS_POLICY })
    .headers(isBuilding ? { 'retry-after': String(RELOAD_SECONDS) } : {})
    .send(html);
}

/**
 * Serves the console below `/console/`. Outside `assets/`, every path without a file returns the start
 * document.
 */
export function addConsole(
  server: FastifyInstance,
  folder = path.join(projectRoot(), 'packages', 'console'),
): void {
  const readFiles = builtFiles(path.join(folder, 'dist'));
  server.get('/console', async (_request, reply) => reply.redirect('/console/'));
  server.get<{ Params: { '*': string } }>('/console/*', async (request, reply) => {
    const files = await readFiles();
    if (!files) return sendProgress(reply, folder);
    const { '*': name } = request.params;
    const file = files.get(name);
    if (!file && name.startsWith('assets/')) return reply.callNotFound();
    const { 'content-type': _, 'cache-control': __, ...headers } = CLOSED_HEADERS;
    reply.headers(headers);
    const index = { name: '', file: files.get('index.html') ?? '' };
    return sendFile(request, reply, {
      ...(file ? { name, file } : index),
      policyOf: () => POLICY,
    });
  });
}
