// The API reference of a new server, in a browser. The main operations run from the page with the printed
// credentials. The search finds the expected operations. The page loads files of this server only.
import type { Browser, Page, Response } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDataFolder, type Running } from '../kit/crash/server.ts';
import {
  browserPath,
  expectAccessible,
  launch,
  SIZES,
  screenshot,
  type Visit,
  visit,
} from './browser.ts';

const dataFolder = createDataFolder('reference');
const TIMEOUT_MS = 60_000;

/** A search text, and an operation that must be among the results. */
const SEARCHES = [
  ['createQuote', 'Create a quote'],
  ['clabeNumber', 'external account'],
  ['QUOTE_EXPIRED', 'Execute a quote'],
  ['$success.usd', 'UMA'],
] as const;

/**
 * Rules of axe that the markup of Scalar violates, with the element. Scalar has no option to correct
 * them.
 */
const SCALAR_VIOLATIONS = {
  'aria-input-field-name': 'the editable field of the user name has no name',
  'aria-required-attr': 'the same field is a combobox without a list',
  'button-name': 'the buttons that copy a code sample have an icon alone',
  'link-name': 'the link to the documentation has an icon alone',
  'nested-interactive': 'the row of a response is a button with a button inside',
  'scrollable-region-focusable': 'the list of operations of a tag scrolls on a phone',
};

let server: Running;
let browser: Browser;
let currentVisit: Visit;
let page: Page;

beforeAll(async () => {
  if (!browserPath) return;
  [server, browser] = await Promise.all([
    dataFolder.start([], { RAILHEAD_SAMPLE_CUSTOMER: 'create' }),
    launch(),
  ]);
  currentVisit = await visit(browser, 'desktop', server.origin);
  page = currentVisit.page;
  page.setDefaultTimeout(TIMEOUT_MS);
  await page.goto(`${server.origin}/docs/reference`);
  await page.getByRole('heading', { name: 'Railhead', exact: true }).first().waitFor();
}, 120_000);

afterAll(async () => {
  await currentVisit?.close();
  await browser?.close();
  await dataFolder.remove();
}, 60_000);

/** Opens an operation, sends its request unchanged, and returns the response. */
async function send(anchor: string, heading: string, path: string): Promise<Response> {
  await page.keyboard.press('Escape');
  await page.evaluate(`location.hash = ${JSON.stringify(anchor)}`);
  const title = page.getByRole('heading', { name: heading, exact: true }).first();
  await title.waitFor();
  const section = page.locator('section').filter({ has: title }).last();
  await section
    .getByRole('button', { name: /Test Request/ })
    .first()
    .click();
  const dialog = page.getByRole('dialog').last();
  const { clientId, clientSecret } = server.credentials;
  const userField = dialog.locator('[data-placeholder=janedoe]');
  if ((await userField.textContent()) === '') {
    await userField.click();
    await page.keyboard.type(clientId);
    await dialog.getByPlaceholder('********').fill(clientSecret);
  }
  const whenResponded = page.waitForResponse(
    (response) => response.url().includes(path) && response.request().method() === 'POST',
  );
  await dialog.getByRole('button', { name: /^Send/ }).first().click();
  return whenResponded;
}

describe.runIf(browserPath)('the API reference', () => {
  it('finds operations, fields, codes and sandbox values', { timeout: TIMEOUT_MS }, async () => {
    await page
      .getByRole('button', { name: /Search/ })
      .first()
      .click();
    const input = page
      .getByRole('dialog')
      .getByRole('combobox')
      .or(page.getByRole('searchbox'))
      .first();
    const results = page.getByRole('listbox').getByRole('option');
    for (const [text, expectedResult] of SEARCHES) {
      await input.fill(text);
      await results.filter({ hasText: expectedResult }).first().waitFor();
    }
  });

  it('creates a quote with the prefilled request', { timeout: TIMEOUT_MS * 2 }, async () => {
    const response = await send(
      'tag/cross-currency-transfers/POST/quotes',
      'Create a quote',
      '/quotes',
    );
    await screenshot(page, 'reference-create-quote');
    expect(response.status()).toBe(201);
  });

  it('executes a quote with the prefilled request', { timeout: TIMEOUT_MS * 2 }, async () => {
    const anchor = 'tag/cross-currency-transfers/POST/quotes/{quoteId}/execute';
    const response = await send(anchor, 'Execute a quote', '/execute');
    await screenshot(page, 'reference-execute-quote');
    expect([response.status(), (await response.json()).status]).toEqual([200, 'PROCESSING']);
  });

  // Colors are independent of the size.
  it.each([
    ['desktop', 'dark'],
    ['phone', 'light'],
  ] as const)('is accessible: %s, %s', { timeout: TIMEOUT_MS * 2 }, async (size, colorScheme) => {
    const context = await browser.newContext({ ...SIZES[size], colorScheme });
    const page = await context.newPage();
    await page.goto(`${server.origin}/docs/reference#tag/cross-currency-transfers/POST/quotes`);
    const heading = page.getByRole('heading', { name: 'Create a quote', exact: true });
    await heading.first().waitFor({ timeout: TIMEOUT_MS });
    await expectAccessible(page, Object.keys(SCALAR_VIOLATIONS));
    await context.close();
  });

  it('has samples in four languages', async () => {
    const reply = await fetch(`${server.origin}/docs/reference/start.js`);
    const languages = ['shell', 'js', 'python', 'go'];
    const { hiddenClients } = JSON.parse(
      /createApiReference\('#reference', (.*)\);/.exec(await reply.text())?.[1] ?? '',
    );
    expect(languages.filter((language) => hiddenClients[language] === true)).toEqual([]);
    expect(hiddenClients).toMatchObject({ julia: true, node: true });
  });

  it('loads files of this server only', () => {
    expect(currentVisit.problems.filter((problem) => problem.startsWith('requested '))).toEqual([]);
  });
});
