// The documentation site as the server sends it. The tests cover links and anchors, the size and
// accessibility of pages, requests to other origins, and a search for the common tasks. A short run examines
// each page in one width and theme. The tests are skipped without a built site, which .ci/run requires.
import { readdirSync } from 'node:fs';
import path from 'node:path';
import Fastify from 'fastify';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addDocsSite } from '../../src/http/docs-site.ts';
import { addReference, sendReference } from '../../src/http/reference.ts';
import { operatorDocument } from '../../src/operator-api/mount.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { variantsOf } from '../kit/length.ts';
import {
  browserPath,
  expectAccessible,
  expectNoHorizontalScroll,
  launch,
  SIZES,
  screenshot,
} from './browser.ts';
import { SITE_FOLDER as dist, findReasonToSkipSite } from './built-site.ts';

const root = projectRoot();
const PAGES_MS = 240_000;
const FIRST_VIEW_BYTES = 200_000;

const PAGES = [
  ...['', 'start', 'concepts/payment', 'concepts/webhooks', 'guides/payouts', 'errors'],
  ...['webhooks', 'states', 'architecture', 'api', 'operations/', 'operations/createQuote'],
  ...['operations/createCustomerExternalAccount', 'operations/outgoingPaymentWebhook'],
  // The longest path and identifier.
  'operations/sandboxSimulateCardFinancialCreditAuthorization',
];

const generatorUrl = new URL('../../../site/.vitepress/operations/document.mjs', import.meta.url);
const { entries } = await import(generatorUrl.href);

const reasonToSkip = findReasonToSkipSite();
if (reasonToSkip) process.stderr.write(`The tests of the site are skipped. ${reasonToSkip}\n`);

const server = Fastify();
let origin = '';
let browser: Awaited<ReturnType<typeof launch>>;

beforeAll(async () => {
  if (reasonToSkip) return;
  addReference(server);
  addDocsSite(server, sendReference, dist);
  await server.listen({ port: 0, host: '127.0.0.1' });
  origin = `http://127.0.0.1:${(server.server.address() as { port: number }).port}`;
});
afterAll(() => server.close());

const attributePattern = (name: string) => new RegExp(`\\s${name}="([^"]*)"`, 'g');
const decodeText = (text: string) => text.replaceAll('&amp;', '&').replaceAll('&#39;', "'");
const valuesOf = (html: string, name: string) =>
  [...html.matchAll(attributePattern(name))].map(([, value = '']) => decodeText(value));

describe('the site of the documentation', () => {
  it('is built where RAILHEAD_SITE is required, as in .ci/run', () => {
    if (process.env.RAILHEAD_SITE === 'required') expect(reasonToSkip).toBeUndefined();
  });
});

describe.skipIf(reasonToSkip)('the site', () => {
  it('has no broken link or anchor', { timeout: PAGES_MS }, async () => {
    const pages = new Map<string, { status: number; html: string; ids: Set<string> }>();
    const load = async (url: string) => {
      const cachedPage = pages.get(url);
      if (cachedPage) return cachedPage;
      const { statusCode: status, headers, body } = await server.inject(url);
      const html = String(headers['content-type']).startsWith('text/html') ? body : '';
      const page = { status, html, ids: new Set(valuesOf(html, 'id')) };
      pages.set(url, page);
      return page;
    };
    const brokenLinks = new Set<string>();
    const unvisitedUrls = ['/docs/'];
    for (let pageUrl = unvisitedUrls.pop(); pageUrl !== undefined; pageUrl = unvisitedUrls.pop()) {
      const { html } = await load(pageUrl);
      for (const href of valuesOf(html, 'href')) {
        const target = new URL(href, `${origin}${pageUrl}`);
        if (target.origin !== origin || /\/assets\//.test(target.pathname)) continue;
        const isLoaded = pages.has(target.pathname);
        const { status, ids } = await load(target.pathname);
        if (status !== 200) brokenLinks.add(`${pageUrl}: ${href} is ${status}`);
        const anchor = decodeURIComponent(target.hash.slice(1));
        if (anchor && !ids.has(anchor)) brokenLinks.add(`${pageUrl}: ${href} has no such anchor`);
        if (!isLoaded && status === 200) unvisitedUrls.push(target.pathname);
      }
    }
    expect([...brokenLinks]).toEqual([]);
    const files = readdirSync(path.join(root, 'docs'), { recursive: true });
    const markdownFiles = files.filter((name) => String(name).endsWith('.md'));
    expect(pages.size).toBeGreaterThan(markdownFiles.length + entries.length);
  });

  it('contains the document of the operator API, and links to its reference', async () => {
    const startReply = await server.inject('/docs/operator-reference-start.js');
    const url = /"url":"([^"]+)"/.exec(startReply.body)?.[1] ?? '';
    const documentReply = await server.inject(url);
    expect([documentReply.statusCode, documentReply.json()]).toEqual([200, operatorDocument()]);
    const { body } = await server.inject('/docs/guides/operators');
    expect(valuesOf(body, 'href')).toContain('/docs/operator-reference');
  });

  it('serves the texts for language models at the root', async () => {
    for (const name of ['llms.txt', 'llms-full.txt']) {
      const reply = await server.inject(`/${name}`);
      expect(reply.statusCode).toBe(200);
      expect(reply.body).toContain('# Railhead');
    }
  });
});

describe.skipIf(reasonToSkip || !browserPath)('the site in a browser', () => {
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser.close());

  /** A context that records bytes as transferred and requests to other origins. */
  async function openPage(size: keyof typeof SIZES, colorScheme: 'light' | 'dark') {
    const settings = { ...SIZES[size], colorScheme, reducedMotion: 'reduce' } as const;
    const context = await browser.newContext(settings);
    const page = await context.newPage();
    // Each page is measured with an empty cache.
    const devtools = await context.newCDPSession(page);
    await devtools.send('Network.enable');
    await devtools.send('Network.setCacheDisabled', { cacheDisabled: true });
    const problems: string[] = [];
    const sizes: Promise<number>[] = [];
    page.on('pageerror', (error) => problems.push(String(error)));
    page.on('console', (line) => line.type() === 'error' && problems.push(line.text()));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(origin) && !url.startsWith('data:')) problems.push(`requested ${url}`);
    });
    page.on('requestfinished', (request) => {
      sizes.push(request.sizes().then((responseSizes) => responseSizes.responseBodySize));
    });
    const go = async (path: string) => {
      sizes.length = 0;
      await page.goto(`${origin}/docs/${path}`, { waitUntil: 'networkidle' });
      // The buttons have names once the page is interactive.
      await page
        .locator('.VPSwitchAppearance[title^=Switch]')
        .first()
        .waitFor({ state: 'attached' });
      return (await Promise.all(sizes)).reduce((sum, bytes) => sum + bytes, 0);
    };
    return { page, problems, go, close: () => context.close() };
  }

  const readSmallestTextPx = (page: Page) =>
    page.evaluate(`Math.min(...[...document.querySelectorAll('.diagram text')].map((label) =>
      parseFloat(getComputedStyle(label).fontSize) * label.getScreenCTM().a))`);

  // Colors are independent of the size. The combinations cover both sizes and both color schemes.
  const VIEWS = [
    ['phone', 'dark'],
    ['desktop', 'light'],
  ] as const;

  it.each(VIEWS)('is accessible and small: %s, %s', { timeout: PAGES_MS }, async (size, theme) => {
    const { page, problems, go, close } = await openPage(size, theme);
    const view = VIEWS.findIndex(([name]) => name === size);
    for (const [index, name] of PAGES.entries()) {
      const views = variantsOf(VIEWS, index).map(([name]) => name);
      if (!views.includes(size)) continue;
      const bytes = await go(name);
      await screenshot(page, `site-${name.replace('/', '-') || 'home'}-${size}-${theme}`);
      expect(bytes, name).toBeLessThan(FIRST_VIEW_BYTES);
      expect(await page.evaluate("document.documentElement.classList.contains('dark')")).toBe(
        theme === 'dark',
      );
      // axe needs two seconds, so a short run examines each page in one view.
      if (views.length === 1 || index % VIEWS.length === view) await expectAccessible(page);
      await expectNoHorizontalScroll(page);
      expect(await readSmallestTextPx(page), name).toBeGreaterThanOrEqual(12);
    }
    expect(problems).toEqual([]);
    await close();
  });

  it('finds the common tasks', { timeout: PAGES_MS }, async () => {
    const { page, problems, go, close } = await openPage('desktop', 'light');
    await go('');
    const searches = [
      ['Mexico', '/docs/guides/payouts'],
      ['QUOTE_EXPIRED', '/docs/errors'],
      ['back up', '/docs/backups'],
      ['createQuote', '/docs/operations/createQuote'],
      ['POST /quotes', '/docs/operations/createQuote'],
      ['clabeNumber', '/docs/operations/createCustomerExternalAccount'],
      ['QUOTE_EXPIRED', '/docs/operations/executeQuote'],
      ['$success.usd', '/docs/operations/lookupUma'],
    ] as const;
    for (const [query, target] of searches) {
      await page.locator('.DocSearch-Button').first().click();
      await page.locator('#localsearch-input').fill(query);
      await page.locator(`.VPLocalSearchBox .result[href^="${target}"]`).first().waitFor();
      await page.keyboard.press('Escape');
    }
    const firstResults = [
      ['test values', '/docs/concepts/sandbox'],
      ['magic value', '/docs/concepts/sandbox'],
      ['how do refunds appear in the ledger', '/docs/concepts/payment#a-refund'],
      ['lockedCurrencySide', '/docs/operations/createQuote#request-body'],
      ['createQuote', '/docs/operations/createQuote'],
      ['POST /quotes', '/docs/operations/createQuote'],
      ['sandbox', '/docs/concepts/sandbox'],
      ['webhook signature', '/docs/concepts/webhooks'],
      ['create a customer', '/docs/operations/createCustomer#'],
    ] as const;
    for (const [query, target] of firstResults) {
      await page.locator('.DocSearch-Button').first().click();
      await page.locator('#localsearch-input').fill(query);
      const result = page.locator(`[role=option]:first-child > .result[href^="${target}"]`);
      await result.waitFor();
      await page.keyboard.press('Escape');
    }
    expect(problems).toEqual([]);
    await close();
  });

  it('shows the reference of the operator API', { timeout: PAGES_MS }, async () => {
    const { page, problems, go, close } = await openPage('desktop', 'light');
    await go('guides/operators');
    await page.getByRole('link', { name: 'Operator API', exact: true }).first().click();
    await page.getByRole('heading', { name: 'Railhead operator API' }).first().waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/operator-reference');
    await page.getByText('/operator/v1').first().waitFor();
    await screenshot(page, 'site-operator-reference');
    expect(problems).toEqual([]);
    await close();
  });

  it('opens an operation from the index', { timeout: PAGES_MS }, async () => {
    const { page, problems, go, close } = await openPage('desktop', 'light');
    await go('operations/');
    await page.evaluate('window.isSameDocument = true');
    await page.locator('.vp-doc').getByRole('link', { name: 'Execute a quote' }).first().click();
    await page.getByRole('heading', { name: 'Execute a quote', level: 1 }).waitFor();
    expect(new URL(page.url()).pathname).toBe('/docs/operations/executeQuote');
    expect(await page.evaluate('window.isSameDocument')).toBe(true);
    await page.getByText('Go', { exact: true }).click();
    await page.getByText('http.NewRequest').first().waitFor();
    expect(problems).toEqual([]);
    await close();
  });

  it('shows samples with the origin of the server', { timeout: PAGES_MS }, async () => {
    const { page, problems, go, close } = await openPage('desktop', 'light');
    const textOfPage = () => page.locator('.vp-doc').textContent();
    await go('operations/createQuote');
    await page.getByText(`${origin}/2025-10-13/quotes`).first().waitFor();
    expect(await textOfPage()).not.toContain('http://localhost:4000');
    // A page that is loaded without a new document.
    await page.evaluate('window.isSameDocument = true');
    await page.locator('.VPSidebar').getByRole('link', { name: 'Execute a quote' }).click();
    await page.getByText(`${origin}/2025-10-13/quotes/`).first().waitFor();
    expect(await textOfPage()).not.toContain('http://localhost:4000');
    expect(await page.evaluate('window.isSameDocument')).toBe(true);
    expect(problems).toEqual([]);
    await close();
  });

  it('switches the theme, has pager links and an edit date', { timeout: PAGES_MS }, async () => {
    const { page, problems, go, close } = await openPage('desktop', 'light');
    await go('guides/payouts');
    expect(await page.locator('.pager-link').count()).toBe(2);
    expect(await page.locator('.VPLastUpdated time').getAttribute('datetime')).toMatch(/^20\d\d-/);
    const background = 'getComputedStyle(document.body).backgroundColor';
    const backgroundBefore = await page.evaluate(background);
    await page.locator('.VPNavBar .VPSwitchAppearance').first().click();
    expect(await page.evaluate(background)).not.toBe(backgroundBefore);
    await page.locator('.pager-link.next').click();
    await page.waitForURL((url) => !url.pathname.endsWith('/guides/payouts'));
    expect(problems).toEqual([]);
    await close();
  });

  it('opens and closes groups of the sidebar by keyboard', { timeout: PAGES_MS }, async () => {
    const { page, go, close } = await openPage('desktop', 'light');
    await go('start');
    const groupButton = page.getByRole('button', { name: 'Decisions' });
    expect(await groupButton.getAttribute('aria-expanded')).toBe('false');
    for (const [key, isExpanded] of [
      ['Enter', 'true'],
      ['Space', 'false'],
    ] as const) {
      await groupButton.press(key);
      expect(await groupButton.getAttribute('aria-expanded')).toBe(isExpanded);
    }
    await close();
  });
});
