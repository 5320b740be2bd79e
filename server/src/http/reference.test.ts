// Files of the API references on a static site and on a server, and the addresses that their pages load.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { operatorDocument } from '../operator-api/mount.ts';
import { operatorReferenceFiles, referenceFiles, SITE_COLORS, withAddresses } from './reference.ts';

const BASE = '/payments/';
const ADDRESS = /(?:src|href)="([^"]+)"|"url":"([^"]+)"/g;

/** Addresses in the pages and in the scripts that start the viewer. */
const addressesIn = (files: Record<string, string>): string[] =>
  Object.entries(files)
    .filter(([name]) => name.endsWith('.html') || name.endsWith('-start.js'))
    .flatMap(([, text]) => [...text.matchAll(ADDRESS)].map(([, src, url]) => src ?? url ?? ''))
    .filter((address) => !address.startsWith('data:'));

it('static references load only files of the site', async () => {
  const info = { title: 'API', version: '1', description: '[Errors](/docs/errors)' };
  const addressOf = (page: string) => `${BASE}${page}.html`;
  const document = withAddresses(addressOf, { openapi: '3.1.0', info, paths: {} });
  const siteFiles = await referenceFiles(BASE, document);
  const files = { ...siteFiles, ...operatorReferenceFiles(BASE, document, { isStatic: true }) };
  expect(files['reference-openapi.json']).toContain('(/payments/errors.html)');
  expect(files['operator-openapi.json']).toContain('(/payments/errors.html)');
  const addresses = addressesIn(files);
  expect(addresses).toHaveLength(6);
  for (const address of addresses) {
    expect(address.startsWith(BASE)).toBe(true);
    expect(Object.keys(files)).toContain(address.slice(BASE.length));
  }
});

it('the operator reference of a server loads its viewer', () => {
  const document = operatorDocument();
  const files = operatorReferenceFiles('/docs/', document, { isStatic: false });
  expect(addressesIn(files)).toEqual([
    '/docs/reference/viewer.js',
    '/docs/operator-reference-start.js',
    '/docs/operator-openapi.json',
  ]);
  expect(JSON.parse(files['operator-openapi.json'] ?? '')).toEqual(document);
});

it('the viewer has the colors of the site', () => {
  const file = path.join(import.meta.dirname, 'pages', 'page', 'tokens.css');
  const [light = '', dark = ''] = readFileSync(file, 'utf8').split('@media');
  const colorIn = (theme: string, token: string) =>
    new RegExp(`--${token}: (?:var\\(--[\\w-]+, )?(#[0-9a-f]{6})`).exec(theme)?.[1];
  for (const [token, ...colors] of Object.values(SITE_COLORS))
    expect([colorIn(light, token), colorIn(dark, token)], token).toEqual(colors);
});
