// Protection of the console. Personal data is hidden until it is requested. Texts and documents of
// customers are never executed. The tests also cover the size of the first view and the use by
// keyboard.
import { beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import { documentForm } from '../kit/http/documents.ts';
import {
  button,
  complete,
  consoleForFile,
  dialogOf,
  isTestable,
  type Operator,
  rowOf,
  TIMEOUT_MS,
  waitForTitle,
} from './console.ts';
import { waitingCheck } from './data.ts';

const FIRST_VIEW_BYTES = 300_000;
/** Sets `hasRun` of the page if the script runs. */
const SCRIPT = '<script>top.hasRun = true</script>';
const NAME = `Eve <img src=x onerror="top.hasRun=true"> ${SCRIPT}`;
const SVG = `<svg xmlns="http://www.w3.org/2000/svg" onload="top.hasRun = true">${SCRIPT}</svg>`;

/** A document with a script, which the PDF viewer of a browser would run. */
const SCRIPTED_PDF = [
  '%PDF-1.4',
  '1 0 obj<</Type/Catalog/Pages 2 0 R/OpenAction<</S/JavaScript/JS(app.alert\\(1\\))>>>>endobj',
  '2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj',
  '3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]>>endobj',
  'trailer<</Root 1 0 R/Size 4>>',
  '%%EOF',
].join('\n');

const pathOf = (screen: string, id: string) => `/${screen}/${encodeURIComponent(id)}`;

describe.runIf(isTestable)('the console', () => {
  const consoleFixture = consoleForFile();
  let clara: Operator;
  beforeAll(async () => {
    clara = await consoleFixture.operator('Clara Compliance', 'compliance');
    await clara.signIn();
  }, TIMEOUT_MS);

  const hasRun = () => clara.page.evaluate('window.hasRun === true');

  it(
    'loads at most 300 kB for the first view',
    async () => {
      const { page } = clara;
      await page.reload();
      await complete(page);
      await page.getByText('Open work').waitFor();
      const bytes = await page.evaluate(`[
        ...performance.getEntriesByType('navigation'),
        ...performance.getEntriesByType('resource'),
      ].filter(({ name }) => name.includes('/console'))
        .reduce((sum, { encodedBodySize }) => sum + encodedBodySize, 0)`);
      expect(bytes).toBeGreaterThan(50_000);
      expect(bytes).toBeLessThan(FIRST_VIEW_BYTES);
    },
    TIMEOUT_MS,
  );

  it(
    'hides personal data until it is requested, and records the request',
    async () => {
      const { page } = clara;
      const { id } = await createCustomer(consoleFixture.app, {}, { fullName: 'Greta Geheim' });
      await clara.go(pathOf('customers', id));
      await waitForTitle(page, 'Customer');
      await complete(page);
      expect(await page.content()).not.toContain('Geheim');
      const readRecordedOperations = async () =>
        ok(await consoleFixture.client.call('GET', `/audit-records?subject=${id}`), 200).data.map(
          ({ operationId }: { operationId: string }) => operationId,
        );
      expect(await readRecordedOperations()).not.toContain('exportCustomerData');
      await button(page, 'Show the personal data').click();
      await page.getByText('Greta Geheim').first().waitFor();
      expect(await readRecordedOperations()).toContain('exportCustomerData');
      await button(page, 'Hide').click();
      await page.getByText('Greta Geheim').first().waitFor({ state: 'detached' });
      await clara.go('/audit?operationId=exportCustomerData');
      await waitForTitle(page, 'Audit log');
      await rowOf(page, 'exportCustomerData').getByText('Clara Compliance').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'shows the names of the customers of a list on request, and records the request once',
    async () => {
      const { page } = clara;
      await createCustomer(consoleFixture.app, {}, { fullName: 'Nora Named' });
      await clara.go('/customers');
      await waitForTitle(page, 'Customers');
      await complete(page);
      expect(await page.content()).not.toContain('Nora Named');
      await button(page, 'Show names').click();
      await rowOf(page, 'Nora Named').waitFor();
      const path = '/audit-records?operationId=revealCustomerNames';
      expect(ok(await consoleFixture.client.call('GET', path), 200).data).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'shows a name with HTML as text',
    async () => {
      const { page } = clara;
      const body = { name: NAME, permissions: ['VIEW'] };
      ok(await consoleFixture.app.call('POST', '/tokens', body), 201);
      await clara.go('/tokens');
      await page.getByText(NAME, { exact: true }).waitFor();
      expect(await page.locator('main img').count()).toBe(0);
      expect(await hasRun()).toBe(false);
    },
    TIMEOUT_MS,
  );

  it(
    'never runs a script in a document of a customer',
    async () => {
      const { page } = clara;
      const { app, callOptions } = consoleFixture;
      const { id } = await waitingCheck(consoleFixture, 'Paula Picture', 'pdf');
      const fields = { documentHolder: id, documentType: 'OTHER', country: 'US' };
      for (const text of [SVG, `<!doctype html>${SCRIPT}`]) {
        const form = documentForm(fields, { bytes: Buffer.from(text), name: 'id.svg' });
        expect((await app.call('POST', '/documents', form, callOptions)).status).toBe(400);
      }
      const dialogs: string[] = [];
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message());
        void dialog.dismiss();
      });
      // A script must not run even if the server sends it.
      for (const [text, format] of [
        [SVG, 'PNG'],
        [`<!doctype html>${SCRIPT}`, 'PDF'],
        [SCRIPTED_PDF, 'PDF'],
        [SVG, 'SVG'],
      ] as const) {
        await page.route('**/documents/*/content', async (route) => {
          const response = await route.fetch();
          const content = Buffer.from(text).toString('base64');
          await route.fulfill({ response, json: { ...(await response.json()), content, format } });
        });
        await clara.go('/verifications');
        await waitForTitle(page, 'Identity checks');
        await clara.go(pathOf('verifications', id));
        await button(page, 'Show document').click();
        await button(page, 'Hide').waitFor();
        if (text === SCRIPTED_PDF) await page.locator('.document canvas').waitFor();
        else if (format === 'PDF') await page.getByText('This file cannot be shown.').waitFor();
        expect(await hasRun()).toBe(false);
        expect(dialogs).toEqual([]);
        await page.unroute('**/documents/*/content');
      }
      const { headers } = await fetch(`${consoleFixture.origin}/console/`);
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
      clara.problems.splice(0);
    },
    TIMEOUT_MS,
  );

  it(
    'can be used by keyboard, and returns the focus after the palette or a dialog closes',
    async () => {
      const { page } = clara;
      const isFocusInDialog = () =>
        page.evaluate('document.activeElement.closest("[role=dialog]") !== null');
      await clara.go('/customers');
      await waitForTitle(page, 'Customers');
      const searchButton = page.getByRole('button', { name: /^Search/ });
      await searchButton.focus();
      await page.keyboard.press('Control+k');
      await page.locator('[role=dialog] input:focus').waitFor();
      await page.keyboard.press('Tab');
      await page.keyboard.press('Tab');
      // The dialog moves the focus back into the dialog.
      await expect.poll(isFocusInDialog).toBe(true);
      await page.keyboard.press('Escape');
      await dialogOf(page).waitFor({ state: 'detached' });
      await searchButton.and(page.locator(':focus')).waitFor();
      await page.keyboard.press('Enter');
      await page.locator('[role=dialog] input:focus').fill('audit');
      await page.getByRole('option', { name: 'Audit log' }).waitFor();
      await page.keyboard.press('Enter');
      await waitForTitle(page, 'Audit log');
      await dialogOf(page).waitFor({ state: 'detached' });

      await createCustomer(consoleFixture.app);
      await clara.go('/customers');
      await waitForTitle(page, 'Customers');
      // A concurrent test can add a customer at the top of the list.
      const href = (await page.locator('tbody a').first().getAttribute('href')) as string;
      await page.locator(`tbody a[href="${href}"]`).first().focus();
      await page.keyboard.press('Enter');
      await waitForTitle(page, 'Customer');
      expect(page.url()).toContain(href);
      const eraseButton = button(page, 'Erase personal data');
      await eraseButton.focus();
      await page.keyboard.press('Enter');
      await page.locator('[role=dialog] :is(input, select, textarea):focus').waitFor();
      for (let step = 0; step < 8; step++) {
        await page.keyboard.press('Tab');
        await expect.poll(isFocusInDialog).toBe(true);
      }
      await page.keyboard.press('Escape');
      await eraseButton.and(page.locator(':focus')).waitFor();
    },
    TIMEOUT_MS,
  );

  it('violates no content security policy', () => {
    expect(consoleFixture.problems()).toEqual([]);
  });
});
