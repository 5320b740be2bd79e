// The steps of the verification page. A reload keeps the step and its number. The Back button returns to the
// previous step.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { browserPath, visit } from './browser.ts';
import {
  ADDRESS,
  openAndStart,
  openVerification,
  press,
  TIMEOUT_MS,
  title,
  WITHOUT_DATA,
} from './verification-fixture.ts';

const fixture = openForFile(openVerification);

const stepOf = (page: Page) => page.locator('.step').textContent();

async function fillPerson(page: Page) {
  await page.getByLabel('Full name').fill('Ada Lovelace');
  await page.getByLabel('Date of birth').fill('1990-01-15');
  await page.getByLabel('Nationality').selectOption('US');
  await press(page, 'Continue');
}

async function fillAddress(page: Page) {
  await page.getByLabel('Country').selectOption('US');
  await page.getByLabel('Street and number').fill('1 Main St');
  await page.getByLabel('City or town').fill('Austin');
  await page.getByLabel('State, province or region').fill('TX');
  await page.getByLabel('Postal code').fill('78701');
  await press(page, 'Continue');
}

describe.runIf(browserPath)('the steps of the verification page', () => {
  it(
    'keep their numbers while data is entered, after a reload and in another tab',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      const link = await fixture.linkFor(person.id);
      await openAndStart(page, link);
      await title(page, 'About you');
      expect(await stepOf(page)).toBe('Step 1 of 5');
      await fillPerson(page);
      await title(page, 'Where you live');
      expect(await stepOf(page)).toBe('Step 2 of 5');
      await fillAddress(page);
      await title(page, 'Your identification number');
      expect(await stepOf(page)).toBe('Step 3 of 5');
      await page.reload();
      await title(page, 'Your identification number');
      expect(await stepOf(page)).toBe('Step 3 of 5');
      await close();
      const secondVisit = await visit(fixture.browser, 'phone', fixture.origin);
      await openAndStart(secondVisit.page, link);
      await title(secondVisit.page, 'Your identification number');
      expect(await stepOf(secondVisit.page)).toBe('Step 3 of 5');
      await secondVisit.close();
    },
    TIMEOUT_MS,
  );

  it(
    'return step by step to the start, by the Back button of the page and of the browser',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        address: ADDRESS,
      });
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, 'desktop', fixture.origin);
      await openAndStart(page, await fixture.linkFor(person.id));
      await title(page, 'About you');
      await fillPerson(page);
      await title(page, 'Your identification number');
      expect(await stepOf(page)).toBe('Step 3 of 5');
      await press(page, 'Back');
      await title(page, 'Where you live');
      expect(await page.getByLabel('Street and number').inputValue()).toBe('1 Main St');
      await press(page, 'Back');
      await title(page, 'About you');
      expect(await page.getByLabel('Full name').inputValue()).toBe('Ada Lovelace');
      expect(await stepOf(page)).toBe('Step 1 of 5');
      await press(page, 'Back');
      await title(page, 'Verify your identity');
      expect(await page.getByRole('button', { name: 'Back' }).count()).toBe(0);
      await page.goBack();
      await title(page, 'About you');
      await page.goBack();
      await title(page, 'Where you live');
      await page.goBack();
      await title(page, 'Your identification number');
      await page.goForward();
      await title(page, 'Where you live');
      expect(pageErrors).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'begin with a page that lists the required data, its reason, its recipients and the expiry',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        address: ADDRESS,
      });
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      await page.goto(await fixture.linkFor(person.id));
      await title(page, 'Verify your identity');
      const text = (await page.locator('main').textContent()) ?? '';
      for (const sentence of [
        'Unregulated is required by law to know who it provides payments to.',
        'Your name, date of birth and nationality',
        'Photos or scans of documents',
        'Who sees your answers',
        'What happens next',
        'this link works until 6 January 2026',
      ]) {
        expect(text).toContain(sentence);
      }
      // The address is on file.
      expect(text).not.toContain('Your home address');
      await close();
    },
    TIMEOUT_MS,
  );
});
