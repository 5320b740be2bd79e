// Lists of UMA providers and VASPs with their filters.
import { describe, expect, it } from 'vitest';
import { ok } from '../../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../../test/kit/app/test-app.ts';
import { UMA_PROVIDERS } from '../../../catalog/rails/uma-providers.ts';
import { VASPS } from '../../../catalog/rails/vasps.ts';

const app = testApp();

const get = (path: string, platform = app.platform) =>
  app.call('GET', path, undefined, { platform });
const namesOf = (body: { data: { name: string }[] }) => body.data.map((each) => each.name);

async function readAllPages(path: string) {
  const pages = [];
  for (let cursor = ''; ; ) {
    const body = ok(await get(`${path}${cursor && `&cursor=${cursor}`}`), 200);
    pages.push(body);
    expect(body.hasMore).toBe(body.nextCursor !== undefined);
    if (!body.hasMore) return pages;
    cursor = body.nextCursor;
  }
}

describe('getAvailableUmaProviders', () => {
  const allNames = UMA_PROVIDERS.map((each) => each.name).sort();

  it('lists every provider by name in descending order', async () => {
    const body = ok(await get('/uma-providers'), 200);
    expect(namesOf(body)).toEqual([...allNames].reverse());
    expect(body).toMatchObject({ hasMore: false, totalCount: allNames.length });
    const blockedProviders = body.data.filter(
      (each: { allowListStatus: boolean }) => !each.allowListStatus,
    );
    expect(namesOf({ data: blockedProviders })).toEqual(['Blockvale Exchange']);
    expect(body.data.at(-1)).toEqual({
      name: 'Andenpay',
      supportedRegions: ['AR', 'CL', 'CO', 'PE'],
      domain: 'andenpay.example',
      logoUrl: 'https://andenpay.example/logo.png',
      supportedCurrencies: [
        { code: 'USD', name: 'United States Dollar', symbol: '$', decimals: 2 },
        { code: 'COP', name: 'Colombian Peso', symbol: 'COL$', decimals: 2 },
      ],
      lei: '000000SANDBOXUMA0262',
      allowListStatus: true,
    });
  });

  it('returns pages in either order', async () => {
    for (const [order, expectedNames] of [
      ['asc', allNames],
      ['desc', [...allNames].reverse()],
    ] as const) {
      const pages = await readAllPages(`/uma-providers?limit=3&sortOrder=${order}`);
      expect(pages.map((page) => page.data.length)).toEqual([3, 3, 2]);
      expect(pages.flatMap(namesOf)).toEqual(expectedNames);
      for (const page of pages) expect(page.totalCount).toBe(allNames.length);
    }
  });

  it('filters by country, currency, and blocked status', async () => {
    const listFilteredNames = async (query: string) =>
      namesOf(ok(await get(`/uma-providers?${query}`), 200));
    expect(await listFilteredNames('countryCode=MX')).toEqual(['Sandbox', 'Montera']);
    expect(await listFilteredNames('currencyCode=EUR&sortOrder=asc')).toEqual([
      'Rheintal Konto',
      'Sandbox',
    ]);
    expect(await listFilteredNames('currencyCode=EUR&countryCode=MX')).toEqual(['Sandbox']);
    expect(await listFilteredNames('countryCode=AQ')).toEqual([]);
    expect(await listFilteredNames('currencyCode=BTC')).toEqual(['Blockvale Exchange']);
    expect(await listFilteredNames('currencyCode=BTC&hasBlockedProviders=true')).toHaveLength(1);
    expect(await listFilteredNames('currencyCode=BTC&hasBlockedProviders=false')).toEqual([]);
  });

  it('rejects an invalid code, order and cursor', async () => {
    const vaspCursor = ok(await get('/vasps?limit=1'), 200).nextCursor;
    for (const query of [
      'countryCode=Mexico',
      'currencyCode=x',
      'hasBlockedProviders=perhaps',
      'sortOrder=up',
      'limit=0',
      'limit=101',
      'cursor=abc',
      'cursor=',
      `cursor=${vaspCursor}`,
    ]) {
      const response = await get(`/uma-providers?${query}`);
      expect([query, response.status, response.body.code]).toEqual([query, 400, 'INVALID_INPUT']);
    }
  });

  it('returns an empty list without a connected provider', async () => {
    const body = ok(await get('/uma-providers', app.production), 200);
    expect(body).toEqual({ data: [], hasMore: false, totalCount: 0 });
  });
});

describe('listVasps', () => {
  it('lists exchanges and custodians by name, in pages without a total', async () => {
    const pages = await readAllPages('/vasps?limit=9');
    expect(pages.flatMap((page) => page.data)).toEqual(VASPS);
    expect(pages[0].data).toHaveLength(9);
    for (const page of pages) expect(page).not.toHaveProperty('totalCount');
    expect(ok(await get('/vasps'), 200).data).toHaveLength(20);
  });

  it('rejects an invalid limit or cursor', async () => {
    for (const query of ['limit=0', 'limit=many', 'cursor=abc']) {
      expect((await get(`/vasps?${query}`)).body.code).toBe('INVALID_INPUT');
    }
  });

  it('returns the same entries in production', async () => {
    expect(ok(await get('/vasps?limit=100', app.production), 200).data).toEqual(VASPS);
  });
});
