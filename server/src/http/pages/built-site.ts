// A folder of built files, such as the documentation site or the console. The files are listed at the first
// request after a build. The path of a request is a key of this list and never a file path.
import { statSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { acceptsGzip } from '../reference.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.webp': 'image/webp',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

const COMPRESSED_TYPES = new Set(['.css', '.html', '.js', '.json', '.mjs', '.svg', '.txt']);

type Files = ReadonlyMap<string, string>;

/** Path in the site → file. Pages are found without `.html`. */
async function filesOf(folder: string): Promise<Files> {
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

/** Returns a function that lists the files of the current build, or undefined without one. */
export function builtFiles(folder: string): () => Promise<Files> | undefined {
  let files: Promise<Files> | undefined;
  let filesModifiedAt = 0;
  return () => {
    const modifiedAt = statSync(path.join(folder, 'index.html'), {
      throwIfNoEntry: false,
    })?.mtimeMs;
    if (modifiedAt === undefined) return undefined;
    if (modifiedAt !== filesModifiedAt) files = undefined;
    filesModifiedAt = modifiedAt;
    files ??= filesOf(folder);
    return files;
  };
}

/** Sends a file of a site, compressed where the client accepts it. `policyOf` is for pages. */
export async function sendFile(
  { headers }: FastifyRequest,
  reply: FastifyReply,
  { name, file, policyOf }: { name: string; file: string; policyOf(html: string): string },
): Promise<FastifyReply> {
  const bytes = await readFile(file);
  const type = TYPES[path.extname(file)] ?? 'application/octet-stream';
  reply.header('content-type', type);
  if (file.endsWith('.html')) reply.header('content-security-policy', policyOf(bytes.toString()));
  // Names of assets have a hash of their content.
  const isImmutable = name.startsWith('assets/');
  reply.header('cache-control', isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  if (!COMPRESSED_TYPES.has(path.extname(file))) return reply.send(bytes);
  reply.header('vary', 'accept-encoding');
  if (!acceptsGzip(headers)) return reply.send(bytes);
  return reply.header('content-encoding', 'gzip').send(await promisify(gzip)(bytes));
}
