// The hosted verification page for residents outside the United States. The country of residence determines
// the required number. Residents of a country without such a number submit a document only.
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { browserPath, visit } from './browser.ts';
import {
  inspect,
  openAndStart,
  openVerification,
  picture,
  press,
  TIMEOUT_MS,
  title,
  WITHOUT_DATA,
} from './verification-fixture.ts';

const fixture = openForFile(openVerification);

const request = (method: string, path: string, body?: object) =>
  fixture.app.call(method, path, body, fixture.platform);

/** A person without identity data. */
async function createPerson(overrides: object = {}) {
  const { id } = await createCustomer(fixture.app, fixture.platform, {
    ...WITHOUT_DATA,
    ...overrides,
  });
  return id as string;
}

async function createResidentOf(region: string) {
  const contacts = { email: 'erika@example.com', phoneNumber: '+4915123456789' };
  const id = await createPerson({ region, ...contacts });
  for (const channel of ['email', 'phone']) {
    const path = `/customers/${id}/verify-${channel}`;
    await request('POST', path);
    ok(await request('POST', `${path}/confirm`, { code: '123456' }), 200);
  }
  return id;
}

async function fillPersonalData(page: Page, name: string, nationality: string) {
  await title(page, 'About you');
  await page.getByLabel('Full name').fill(name);
  await page.getByLabel('Date of birth').fill('1990-01-15');
  await page.getByLabel('Nationality').selectOption(nationality);
  await press(page, 'Continue');
}

async function fillAddress(page: Page, country: string, city: string, postalCode = '51147') {
  await title(page, 'Where you live');
  await page.getByLabel('Country').selectOption(country);
  await page.getByLabel('Street and number').fill('1 Main St');
  await page.getByLabel('City or town').fill(city);
  await page.getByLabel('Postal code').fill(postalCode);
  await press(page, 'Continue');
}

async function uploadPassport(page: Page) {
  await title(page, 'Documents');
  await page.getByLabel('Document type').selectOption('PASSPORT');
  await page.getByLabel('Document number').fill('P100');
  await page.getByLabel('Issuing authority').fill('Passport office');
  await page.getByLabel('File').setInputFiles(picture('passport.png'));
  await press(page, 'Upload');
  await page.getByText('Done').waitFor();
  await press(page, 'Continue');
  await title(page, 'Review and submit');
}

/** The visible options of a list. */
const optionsOf = (page: Page, label: string) =>
  page
    .getByLabel(label)
    .locator('option:not([hidden])')
    .evaluateAll((options) =>
      options.map((option) => (option as unknown as { value: string }).value),
    );

describe.runIf(browserPath)('the verification page outside the US', () => {
  it(
    'requests the German tax number from a resident of Germany',
    async () => {
      const id = await createResidentOf('DE');
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, 'phone', fixture.origin);
      await openAndStart(page, await fixture.linkFor(id));
      await fillPersonalData(page, 'Erika Mustermann', 'DE');
      await fillAddress(page, 'DE', 'Köln');

      await title(page, 'Your identification number');
      expect(await optionsOf(page, 'Type of number')).toEqual(['', 'SSN', 'ITIN', 'NON_US_TAX_ID']);
      const issuer = page.getByLabel('Country that issued the number');
      expect(await issuer.isVisible()).toBe(false);
      await page.getByLabel('Type of number').selectOption('NON_US_TAX_ID');
      expect(await issuer.inputValue()).toBe('DE');
      await page.getByText('Identifikationsnummer (IdNr.), for example 86 095 742 719.').waitFor();
      await page.getByLabel('Number', { exact: true }).fill('123-45-6789');
      await press(page, 'Continue');
      await page.locator('.field.bad').waitFor();
      expect(await page.locator('.field.bad').textContent()).toContain(
        'Number is not a well-formed Steuerliche Identifikationsnummer (IdNr.) of Germany',
      );
      await inspect(page, 'abroad-1-number-wrong');
      await page.getByLabel('Number', { exact: true }).fill('65 929 970 489');
      await press(page, 'Continue');

      await uploadPassport(page);
      const review = await page.locator('main').textContent();
      expect(review).toContain('On file');
      expect(review).not.toContain('970 489');
      await press(page, 'Submit');
      await title(page, 'You are verified');
      expect(ok(await request('GET', `/customers/${id}`), 200)).toMatchObject({
        kycStatus: 'APPROVED',
        idType: 'NON_US_TAX_ID',
        countryOfIssuance: 'DE',
      });
      expect(pageErrors.filter((error) => !error.includes('status of 400'))).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'requests a document and no number from a resident of the United Arab Emirates',
    async () => {
      const id = await createPerson();
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, 'desktop', fixture.origin);
      await openAndStart(page, await fixture.linkFor(id));
      await fillPersonalData(page, 'Amna Al Suwaidi', 'AE');
      await fillAddress(page, 'AE', 'Dubai', '00000');
      // Navigation back skips the optional number as well.
      await title(page, 'Documents');
      await press(page, 'Back');
      await title(page, 'Where you live');
      await press(page, 'Continue');
      await uploadPassport(page);
      await press(page, 'Submit');
      await title(page, 'You are verified');
      expect(ok(await request('GET', `/customers/${id}`), 200)).not.toHaveProperty('idType');
      expect(pageErrors).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(['phone', 'desktop'] as const)(
    'shows a hint where a country has no postal codes: %s',
    async (size) => {
      const id = await createPerson();
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, size, fixture.origin);
      await openAndStart(page, await fixture.linkFor(id));
      await fillPersonalData(page, 'Amna Al Suwaidi', 'AE');
      await title(page, 'Where you live');
      const hint = page.getByText('This country has no postal codes. Enter 00000.');
      expect(await hint.count()).toBe(0);
      await page.getByLabel('Country').selectOption('AE');
      await hint.waitFor();
      expect(await page.getByLabel('Postal code').getAttribute('aria-describedby')).toBe(
        await hint.getAttribute('id'),
      );
      await inspect(page, `abroad-3-no-postal-codes-${size}`);
      await page.getByLabel('Country').selectOption('DE');
      expect(await hint.count()).toBe(0);
      expect(pageErrors).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'offers a US citizen abroad only US numbers',
    async () => {
      const id = await createPerson();
      const { page, close } = await visit(fixture.browser, 'desktop', fixture.origin);
      await openAndStart(page, await fixture.linkFor(id));
      await fillPersonalData(page, 'Ada Lovelace', 'US');
      await fillAddress(page, 'AE', 'Dubai');
      await title(page, 'Your identification number');
      expect(await optionsOf(page, 'Type of number')).toEqual(['', 'SSN', 'ITIN']);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'adapts the form to the data of an owner',
    async () => {
      const body = {
        customerType: 'BUSINESS',
        address: { line1: '2 Side St', postalCode: 'EC2V 8AU', country: 'GB' },
        businessInfo: {
          ...{ legalName: 'Acme Ltd', country: 'GB', taxId: '1234567890' },
          ...{ incorporatedOn: '2020-01-15', registrationNumber: 'REG-1000' },
          ...{ entityType: 'LLC', businessType: 'INFORMATION', countriesOfOperation: ['GB'] },
          ...{ purposeOfAccount: 'SUPPLIER_PAYMENTS', sourceOfFunds: 'Sales' },
        },
      };
      const business = ok(await request('POST', '/customers', body), 201);
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, 'phone', fixture.origin);
      await openAndStart(page, await fixture.linkFor(business.id));
      await title(page, 'Owners and control persons');
      await press(page, 'Add a person');
      await page.getByLabel('Beneficial owner').check();
      await page.getByLabel('Control person').check();
      await page.getByLabel('Share of the business').fill('60');
      await page.getByLabel('Given name').fill('Erika');
      await page.getByLabel('Family name').fill('Mustermann');
      await page.getByLabel('Date of birth').fill('1970-12-09');
      await page.getByLabel('Nationality').selectOption('DE');
      const country = page.getByLabel('Country', { exact: true });
      const number = page.getByLabel('Number', { exact: true });
      await country.selectOption('AE');
      await page.getByLabel('Type of number (optional)').waitFor();
      expect(await number.isVisible()).toBe(false);
      await country.selectOption('DE');
      await page.getByLabel('Type of number', { exact: true }).waitFor();
      await page.getByLabel('Street and number').fill('Heidestr. 17');
      await page.getByLabel('Postal code').fill('51147');
      await page.getByLabel('Type of number').selectOption('NON_US_TAX_ID');
      await number.fill('65 929 970 489');
      await press(page, 'Add this person');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').getByRole('link').allTextContents()).toEqual([
        'Select the country that issued the number',
      ]);
      await page.getByLabel('Country that issued the number').selectOption('DE');
      await inspect(page, 'abroad-2-owner');
      await press(page, 'Add this person');
      await page.getByText('Erika Mustermann').waitFor();
      const { beneficialOwners } = ok(await request('GET', `/customers/${business.id}`), 200);
      expect(beneficialOwners).toMatchObject([
        { personalInfo: { idType: 'NON_US_TAX_ID', countryOfIssuance: 'DE' } },
      ]);
      expect(pageErrors).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );
});
