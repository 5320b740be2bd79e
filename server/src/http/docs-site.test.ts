// The paths of the documentation site with and without a built site.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import Fastify from 'fastify';
import { afterAll, describe, expect, it } from 'vitest';
import { addDocsSite } from './docs-site.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'docs-site-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function serve(siteFolder: string) {
  const server = Fastify();
  addDocsSite(server, (reply) => reply.type('text/html').send('reference'), siteFolder);
  return server;
}

describe('without a built site', () => {
  const server = serve(path.join(folder, 'missing'));

  it('shows the reference, and redirects pages to it', async () => {
    expect((await server.inject('/docs')).body).toBe('reference');
    const { statusCode, headers } = await server.inject('/docs/guides/payouts');
    expect([statusCode, headers.location]).toEqual([302, '/docs']);
  });
});

describe('with a built site', () => {
  it('serves its files', async () => {
    writeFileSync(path.join(folder, 'index.html'), '<h1>Site</h1>');
    const server = serve(folder);
    expect((await server.inject('/docs/')).body).toContain('Site');
    expect((await server.inject('/docs/missing')).statusCode).toBe(404);
  });
});
