// The card reveal page inside a platform's page, in Chromium, which enforces the headers. The frame shows the
// number once and only in a page of the platform. The framing page cannot read it.
import { createServer, type Server } from 'node:http';
import type { Frame, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../../src/features/tenancy/platform/store.ts';
import { ok } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';
import { cardFixture } from '../kit/cards/cards.ts';
import { browserPath, expectNoHorizontalScroll, launch, SIZES, type Size } from './browser.ts';
import { inspect } from './verification-fixture.ts';

const TIMEOUT_MS = 60_000;

interface Site {
  server: Server;
  origin: string;
}

const frameMarkup = (url: string) =>
  `<iframe title="Card" src="${url}" width="360" height="480"></iframe>`;
const prefetchMarkup = (url: string) => `<link rel="prefetch" href="${url}">`;

/** A platform's page, which frames or prefetches the URL in its query. */
async function openSite(host: string): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://site');
    const content = (pathname === '/prefetch' ? prefetchMarkup : frameMarkup)(
      searchParams.get('url') ?? '',
    );
    const page = `<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
      <title>Shop</title>
      <main><h1>Your card</h1>${content}</main>`;
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).end(page);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, origin: `http://${host}:${port}` };
}

const app = testApp();
let cardId: string;
let last4: string;
let platformSite: Site;
let otherSite: Site;
let browser: Awaited<ReturnType<typeof launch>>;

const createLink = async (): Promise<string> =>
  ok(await app.call('POST', `/cards/${cardId}/reveal`), 200).panEmbedUrl;

/** Opens a page of a site with the link in its frame. */
async function openFrame(site: Site, url: string, size: Size = 'desktop') {
  const context = await browser.newContext({ ...SIZES[size], reducedMotion: 'reduce' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => problems.push(message.text()));
  await page.goto(`${site.origin}/?url=${encodeURIComponent(url)}`);
  const [frame] = page.frames().slice(1) as [Frame];
  return { page, frame, problems, close: () => context.close() };
}

const NUMBER = /^\d{4} \d{4} \d{4} (\d{4})$/;
const readFrameText = (frame: Frame, label: string) =>
  frame.locator(`dt:text-is("${label}") + dd .code`).textContent({ timeout: 5_000 });

describe.runIf(browserPath)('the page of a card in a browser', () => {
  beforeAll(async () => {
    await app.app.server.listen({ port: 0, host: '127.0.0.1' });
    [platformSite, otherSite] = [await openSite('localhost'), await openSite('localhost')];
    const fixture = cardFixture(app);
    ({ id: cardId, last4 } = await fixture.createCard(await fixture.createCardholder()));
    await app.operate(async (ctx) => {
      const row = await ctx.read(platforms, app.platform.id);
      const frameOrigins = ['https://shop.example', platformSite.origin];
      const card_program = { maxLive: 10, maxLivePerHolder: 10, frameOrigins };
      if (row) ctx.update(platforms, row, { card_program });
    });
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    for (const site of [platformSite, otherSite]) site?.server.close();
  });

  it.each(['desktop', 'phone'] as const)(
    'can be framed by a page of the platform and shows the number once (%s)',
    async (size) => {
      const url = await createLink();
      const firstView = await openFrame(platformSite, url, size);
      expect(NUMBER.exec((await readFrameText(firstView.frame, 'Card number')) ?? '')?.[1]).toBe(
        last4,
      );
      expect(await readFrameText(firstView.frame, 'Security code')).toMatch(/^\d{3}$/);
      expect(await readFrameText(firstView.frame, 'Valid until')).toMatch(/^\d\d\/\d\d$/);
      // The framing page cannot read the frame.
      const readExpression = "document.querySelector('iframe').contentDocument === null";
      expect(await firstView.page.evaluate(readExpression)).toBe(true);
      expect(firstView.problems).toEqual([]);
      await inspect(firstView.page, `card-${size}`);
      await firstView.close();

      const secondView = await openFrame(platformSite, url, size);
      await secondView.frame.getByText('This link no longer works').waitFor();
      expect(await secondView.frame.locator('dd').count()).toBe(0);
      await secondView.close();
    },
    TIMEOUT_MS,
  );

  it(
    'cannot be framed by a page of another origin',
    async () => {
      const { frame, problems, close } = await openFrame(otherSite, await createLink());
      await expect.poll(() => problems.join('\n')).toContain('frame-ancestors');
      expect(await frame.locator('dd').count()).toBe(0);
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(['desktop', 'phone'] as const)(
    'works without a frame, and a click selects the number (%s)',
    async (size) => {
      const context = await browser.newContext(SIZES[size]);
      const page = await context.newPage();
      await page.goto(await createLink());
      const number = page.locator('dd .code').first();
      await number.click({ position: { x: 5, y: 5 } });
      expect(await page.evaluate('getSelection().toString().trim()')).toMatch(NUMBER);
      await expectNoHorizontalScroll(page);
      await inspect(page, `card-alone-${size}`);
      await context.close();
    },
    TIMEOUT_MS,
  );

  it(
    'copies the number without spaces, inside and outside a frame',
    async () => {
      const pasteFrom = async (page: Page, from: Page | Frame) => {
        await from.getByRole('button', { name: 'Copy card number' }).click();
        await from.getByText('Card number copied').waitFor();
        await page.goto(`${platformSite.origin}/`);
        await page.setContent('<textarea></textarea>');
        await page.locator('textarea').focus();
        await page.keyboard.press('Control+V');
        return page.locator('textarea').inputValue();
      };
      const cardFrame = await openFrame(platformSite, await createLink());
      const number = await readFrameText(cardFrame.frame, 'Card number');
      expect(await pasteFrom(cardFrame.page, cardFrame.frame)).toBe(number?.replaceAll(' ', ''));
      await cardFrame.close();
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(await createLink());
      const code = await page.locator('dd .code').last().textContent();
      await page.getByRole('button', { name: 'Copy security code' }).click();
      await page.getByText('Security code copied').waitFor();
      expect(code).toMatch(/^\d{3}$/);
      expect(await pasteFrom(page, page)).toBe(number?.replaceAll(' ', ''));
      await context.close();
    },
    TIMEOUT_MS,
  );

  it(
    'removes the details from the page after five minutes',
    async () => {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.clock.install();
      await page.goto(await createLink());
      const number = (await page.locator('dd .code').first().textContent()) ?? '';
      expect(number).toMatch(NUMBER);
      await page.clock.runFor(4 * 60_000);
      await page.getByText(/^Hidden in (1:0\d|0:5\d)$/).waitFor();
      await page.clock.runFor(61_000);
      await page.getByText('The card details are hidden now.').waitFor();
      expect(await page.locator('dd').count()).toBe(0);
      expect(await page.evaluate('document.body.innerText')).not.toContain(number.slice(-4));
      await context.close();
    },
    TIMEOUT_MS,
  );

  it(
    'shows the number after a prefetch',
    async () => {
      const url = await createLink();
      const purposes: unknown[] = [];
      app.app.server.server.on('request', ({ headers }) => purposes.push(headers['sec-purpose']));
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(`${platformSite.origin}/prefetch?url=${encodeURIComponent(url)}`);
      await expect.poll(() => purposes, { timeout: 10_000 }).toEqual(['prefetch']);
      await page.goto(url);
      expect(await page.locator('dd').count()).toBe(3);
      await context.close();
    },
    TIMEOUT_MS,
  );
});
