// Files of the API references on a static site and on a server, and the addresses that their pages load.
import { expect, it } from 'vitest';
import { operatorDocument } from '../operator-api/mount.ts';
import { operatorReferenceFiles, referenceFiles } from './reference.ts';

const BASE = '/payments/';
const ADDRESS = /(?:src|href)="([^"]+)"|"url":"([^"]+)"/g;

/** Addresses in the pages and in the scripts that start the viewer. */
const addressesIn = (files: Record<string, string>): string[] =>
  Object.entries(files)
    .filter(([name]) => name.endsWith('.html') || name.endsWith('-start.js'))
    .flatMap(([, text]) => [...text.matchAll(ADDRESS)].map(([, src, url]) => src ?? url ?? ''))
    .filter((address) => !address.startsWith('data:'));

it('static references load only files of the site', async () => {
  const document = { openapi: '3.1.0', info: { title: 'API', version: '1' }, paths: {} };
  const siteFiles = await referenceFiles(BASE, document);
  const files = { ...siteFiles, ...operatorReferenceFiles(BASE, document, { isStatic: true }) };
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
