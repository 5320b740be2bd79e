// Fixtures of the verification page tests: a server with a browser, customers with no or complete
// data, and the common actions on each screen.
import type { Page } from 'playwright-core';
import { ok } from '../kit/app/fixtures.ts';
import { startApp } from '../kit/app/harness.ts';
import { pdfFile, pngFile } from '../kit/http/documents.ts';
import { expectAccessible, expectNoHorizontalScroll, launch, screenshot } from './browser.ts';

/** Timeout for the inspection of many screens by axe on a busy machine. */
export const TIMEOUT_MS = 120_000;

export const REDIRECT_URL = 'http://localhost:9/finished?order=7';

/** A server that listens, and a browser. */
export async function openVerification() {
  const app = await startApp();
  await app.app.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.app.server.server.address() as { port: number };
  const browser = await launch();
  const platform = { platform: app.unregulated };
  return {
    app,
    browser,
    platform,
    origin: `http://127.0.0.1:${port}`,
    async linkFor(customerId: string, redirectUri?: string): Promise<string> {
      const path = `/customers/${customerId}/kyc-link`;
      return ok(await app.call('POST', path, { redirectUri }, platform), 201).kycUrl;
    },
    async close() {
      await browser.close();
      await app.close();
    },
  };
}

export const WITHOUT_DATA = {
  fullName: undefined,
  birthDate: undefined,
  nationality: undefined,
  address: undefined,
};

export const ADDRESS = {
  line1: '1 Main St',
  city: 'Austin',
  state: 'TX',
  postalCode: '78701',
  country: 'US',
};

export const COMPLETE_DATA = {
  fullName: 'Ada Lovelace',
  birthDate: '1990-01-15',
  nationality: 'US',
  idType: 'SSN',
  identifier: '123-45-6789',
  address: ADDRESS,
};

export const title = (page: Page, text: string) =>
  page.getByRole('heading', { level: 1, name: text }).waitFor();

export const press = (page: Page, name: string) =>
  page.getByRole('button', { name, exact: true }).click();

/** Opens the link and starts the verification. */
export async function openAndStart(page: Page, url: string): Promise<void> {
  await page.goto(url);
  await press(page, 'Start');
}

/** Checks the current screen against the rules for all screens. */
export async function inspect(page: Page, name: string): Promise<void> {
  await expectNoHorizontalScroll(page);
  await expectAccessible(page);
  await screenshot(page, name);
}

export const picture = (name: string) => ({
  name,
  mimeType: 'image/png',
  buffer: pngFile(800, 500),
});
export const documentFile = (name: string) => ({
  name,
  mimeType: 'application/pdf',
  buffer: pdfFile(),
});
