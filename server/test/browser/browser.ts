// A real browser for tests of pages: headless Chromium that may send requests only to the test
// server. Without a browser these tests are skipped with a message. Screenshots are stored in the folder
// RAILHEAD_SCREENSHOTS, if it is set.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core';
import { expect } from 'vitest';

const CANDIDATES = [
  process.env.CHROME_PATH,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
];

export const browserPath = CANDIDATES.find((file) => file && existsSync(file));

if (!browserPath) {
  const remedy = 'Install Chromium, or set CHROME_PATH.';
  process.stderr.write(`No browser was found. The tests in a browser are skipped. ${remedy}\n`);
}

export const launch = (): Promise<Browser> =>
  chromium.launch({
    executablePath: browserPath as string,
    headless: true,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

export const SIZES = {
  desktop: { viewport: { width: 1280, height: 800 } },
  phone: { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true },
} as const;
export type Size = keyof typeof SIZES;

export interface Visit {
  page: Page;
  context: BrowserContext;
  /** Console errors, and requests to other origins. */
  problems: string[];
  close(): Promise<void>;
}

/** Opens a page that may only request `origin`. Other requests are blocked and recorded. */
export async function visit(browser: Browser, size: Size, origin: string): Promise<Visit> {
  const context = await browser.newContext({ ...SIZES[size], reducedMotion: 'reduce' });
  const page = await context.newPage();
  const problems: string[] = [];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) problems.push(message.text());
  });
  page.on('pageerror', (error) => problems.push(String(error)));
  await context.route('**/*', (route) => {
    const url = route.request().url();
    if (url.startsWith(origin) || url.startsWith('blob:') || url.startsWith('data:')) {
      return route.continue();
    }
    problems.push(`requested ${url}`);
    return route.abort();
  });
  return { page, context, problems, close: () => context.close() };
}

const axeSource = readFileSync(
  createRequire(import.meta.url).resolve('axe-core/axe.min.js'),
  'utf8',
);

interface Violation {
  id: string;
  nodes: { html: string; failureSummary: string }[];
}

/** Fails with the accessibility violations of the page, except those of `ignoredRules`. */
export async function expectAccessible(
  page: Page,
  ignoredRules: readonly string[] = [],
): Promise<void> {
  const rules = Object.fromEntries(ignoredRules.map((rule) => [rule, { enabled: false }]));
  const options = JSON.stringify({ resultTypes: ['violations'], rules });
  // Evaluated as by a debugger, because the page's content security policy permits no script.
  if (await page.evaluate('typeof axe === "undefined"')) await page.evaluate(axeSource);
  const result = (await page.evaluate(`axe.run(document, ${options})`)) as {
    violations: Violation[];
  };
  const violations = result.violations.map(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`).join('\n'),
  );
  expect(violations).toEqual([]);
}

/**
 * Expects a page without horizontal scrolling. `innerWidth` cannot be used, because a phone zooms out to fit.
 */
export async function expectNoHorizontalScroll(page: Page): Promise<void> {
  const root = 'document.documentElement';
  const overflow = await page.evaluate(`${root}.scrollWidth - ${root}.clientWidth`);
  expect(overflow).toBeLessThanOrEqual(0);
}

export async function screenshot(page: Page, name: string): Promise<void> {
  const folder = process.env.RAILHEAD_SCREENSHOTS;
  if (!folder) return;
  mkdirSync(folder, { recursive: true });
  await page.screenshot({ path: path.join(folder, `${name}.png`), fullPage: true });
}
