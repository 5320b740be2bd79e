// The form of the documentation site that sends requests to a new server, in a browser. The requests
// are those of the recorded examples, and the credentials are those that the server printed. The
// tests are skipped without a built site.
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createDataFolder, type Running } from '../kit/crash/server.ts';
import {
  browserPath,
  expectAccessible,
  expectNoHorizontalScroll,
  launch,
  type Size,
  screenshot,
  type Visit,
  visit,
} from './browser.ts';
import { findReasonToSkipSite } from './built-site.ts';

const reasonToSkip = findReasonToSkipSite();
const dataFolder = createDataFolder('request-form');
const TIMEOUT_MS = 60_000;

let server: Running;
let browser: Browser;
let currentVisit: Visit;

async function openForm(operationId: string, size: Size = 'desktop'): Promise<Page> {
  currentVisit = await visit(browser, size, server.origin);
  const { page } = currentVisit;
  await page.goto(`${server.origin}/docs/operations/${operationId}`);
  await page.getByRole('link', { name: 'Try it' }).click();
  await page.getByRole('button', { name: 'Send request' }).waitFor();
  return page;
}

async function enterCredentials(page: Page, secret = server.credentials.clientSecret) {
  await page.getByLabel('Client ID').fill(server.credentials.clientId);
  await page.getByLabel('Client secret').fill(secret);
}

/** Sends the request and returns the status line and the reply. */
async function send(page: Page): Promise<{ status: string; reply: Record<string, unknown> }> {
  await page.getByRole('button', { name: 'Send request' }).click();
  const status = page.locator('dialog section p').first();
  await status.waitFor();
  const text = await page.getByLabel('Reply', { exact: true }).textContent();
  return { status: (await status.textContent()) ?? '', reply: JSON.parse(text ?? '{}') };
}

describe.runIf(browserPath && !reasonToSkip)('the form of an operation', () => {
  beforeAll(async () => {
    [server, browser] = await Promise.all([
      dataFolder.start([], { RAILHEAD_SAMPLE_CUSTOMER: 'create' }),
      launch(),
    ]);
  }, 120_000);
  afterEach(() => currentVisit.close());
  afterAll(async () => {
    await browser?.close();
    await dataFolder.remove();
  }, 60_000);

  it('creates a quote with the prefilled request', { timeout: TIMEOUT_MS }, async () => {
    const page = await openForm('createQuote');
    await enterCredentials(page);
    const { status, reply } = await send(page);
    await screenshot(page, 'request-form-create-quote');
    expect(status.trim()).toMatch(/^Success 201 after \d+ ms$/);
    expect(reply.status).toBe('PENDING');
    expect(currentVisit.problems).toEqual([]);
  });

  it('fills in another example, whose request succeeds', { timeout: TIMEOUT_MS }, async () => {
    const page = await openForm('createQuote');
    await enterCredentials(page);
    const example = page.getByRole('combobox', { name: 'Example' });
    await example.selectOption({
      label: 'From a balance in USD to a bank account in Mexico, which receives 2,000.00 MXN',
    });
    const { status, reply } = await send(page);
    expect([status.slice(0, 11), reply.receivingCurrency]).toMatchObject([
      'Success 201',
      { code: 'MXN' },
    ]);
  });

  it('executes the prepared quote and lists payments', { timeout: TIMEOUT_MS }, async () => {
    const page = await openForm('executeQuote');
    await enterCredentials(page);
    const execution = await send(page);
    expect(execution).toMatchObject({ reply: { status: 'PROCESSING' } });
    await page.getByRole('button', { name: 'Close' }).click();
    // The credentials remain on another page, which is loaded without a new document.
    await page.getByRole('button', { name: 'Transactions', exact: true }).click();
    await page.getByRole('link', { name: 'List transactions' }).first().click();
    await page.getByRole('heading', { name: 'List transactions', level: 1 }).waitFor();
    await page.getByRole('link', { name: 'Try it' }).click();
    const list = await send(page);
    expect(list.status).toContain('Success 200');
    expect(list.reply.data).not.toEqual([]);
  });

  it(
    'opens by its address and shows the error of a wrong secret',
    async () => {
      currentVisit = await visit(browser, 'phone', server.origin);
      const { page, problems } = currentVisit;
      await page.goto(`${server.origin}/docs/operations/listCustomers#try`);
      await enterCredentials(page, 'wrong');
      const { status, reply } = await send(page);
      expect([status.slice(0, 9), reply.code]).toEqual(['Error 401', 'UNAUTHORIZED']);
      await expectNoHorizontalScroll(page);
      await expectAccessible(page);
      await screenshot(page, 'request-form-error-phone');
      await page.keyboard.press('Escape');
      await page.locator('dialog').waitFor({ state: 'detached' });
      expect(new URL(page.url()).hash).toBe('');
      expect(problems).toEqual([expect.stringContaining('401')]);
    },
    TIMEOUT_MS,
  );

  it('names missing resources and invalid JSON', { timeout: TIMEOUT_MS }, async () => {
    const page = await openForm('createVerification');
    const body = page.getByRole('textbox', { name: 'Request body' });
    await body.fill('{"customerId": "Document:019b8d60-2a80-7000-8000-000000000001"');
    await page.getByText('this server does not have: Document').waitFor();
    expect(await page.getByRole('button', { name: 'Send request' }).isDisabled()).toBe(true);
    expect(await page.locator('#request-body-error').textContent()).toMatch(/JSON/);
    await expectAccessible(page);
  });

  it('has a new idempotency key for each opening', { timeout: TIMEOUT_MS }, async () => {
    const readKey = async () => {
      const page = await openForm('createStablecoinMint');
      return page.getByLabel('Idempotency-Key').inputValue();
    };
    const firstKey = await readKey();
    await currentVisit.close();
    expect(firstKey).toMatch(/^[0-9a-f-]{36}$/);
    expect(await readKey()).not.toBe(firstKey);
  });

  it('names a local server if no server is available', { timeout: TIMEOUT_MS }, async () => {
    currentVisit = await visit(browser, 'desktop', server.origin);
    const { page, context } = currentVisit;
    await context.route('**/docs/requests/**', (route) => route.fulfill({ status: 404 }));
    await page.goto(`${server.origin}/docs/operations/createQuote#try`);
    await page.getByRole('link', { name: /localhost:4000.*createQuote#try$/ }).waitFor();
  });
});
