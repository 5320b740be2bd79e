// The hosted verification page from the link to the result, for a person and a business, with typical input
// errors. A short run uses a desktop or a phone for each. A long run uses both.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { variantsOf } from '../kit/length.ts';
import { browserPath, type Size, visit } from './browser.ts';
import {
  documentFile,
  inspect,
  openAndStart,
  openVerification,
  picture,
  press,
  REDIRECT_URL,
  TIMEOUT_MS,
  title,
  WITHOUT_DATA,
} from './verification-fixture.ts';

const SCREENS: readonly Size[] = ['desktop', 'phone'];

const fixture = openForFile(openVerification);

describe.runIf(browserPath)('the verification page', () => {
  it.each(variantsOf(SCREENS, 0))(
    'verifies a person, on a %s',
    async (size) => {
      const person = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const {
        page,
        context,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, size, fixture.origin);
      const redirectUrls: string[] = [];
      await context.route(`${new URL(REDIRECT_URL).origin}/**`, (route) => {
        redirectUrls.push(route.request().url());
        return route.fulfill({ contentType: 'text/html', body: '<title>Shop</title>' });
      });
      await openAndStart(page, await fixture.linkFor(person.id, REDIRECT_URL));

      await title(page, 'About you');
      await page.getByText('Step 1 of 5').waitFor();
      await inspect(page, `${size}-1-person`);
      await press(page, 'Continue');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').getByRole('link').allTextContents()).toEqual([
        'Enter your full name',
        'Enter your date of birth',
        'Select your nationality',
      ]);
      await inspect(page, `${size}-2-person-empty`);
      await page.getByRole('alert').getByRole('link').first().click();
      expect(await page.getByLabel('Full name').evaluate('document.activeElement.name')).toBe(
        'fullName',
      );
      await page.getByLabel('Full name').fill('Ada  %Lovelace');
      await page.getByLabel('Date of birth').fill('1990-01-15');
      await page.getByLabel('Nationality').selectOption('US');
      await press(page, 'Continue');
      const invalidFields = page.locator('.field.bad');
      await invalidFields.waitFor();
      expect(await invalidFields.textContent()).toContain('Full name may contain only letters');
      expect(await page.getByLabel('Full name').getAttribute('aria-invalid')).toBe('true');
      await page.getByLabel('Full name').fill('Ada Lovelace');
      await press(page, 'Continue');

      await title(page, 'Where you live');
      await page.getByLabel('Country').selectOption('US');
      await page.getByLabel('Street and number').fill('1 Main St');
      await page.getByLabel('City or town').fill('Austin');
      await page.getByLabel('Postal code').fill('78701');
      await press(page, 'Continue');
      expect(await page.getByRole('alert').getByRole('link').allTextContents()).toEqual([
        'Enter the state, province or region',
      ]);
      await page.getByLabel('State, province or region').fill('TX');
      await inspect(page, `${size}-3-address`);
      await press(page, 'Continue');

      await title(page, 'Your identification number');
      await page.getByLabel('Type of number').selectOption('SSN');
      await page.getByLabel('Number', { exact: true }).fill('123');
      await press(page, 'Continue');
      await page.locator('.field.bad').waitFor();
      await inspect(page, `${size}-4-number-wrong`);
      await page.getByLabel('Number', { exact: true }).fill('123-45-6789');
      await press(page, 'Continue');

      await title(page, 'Documents');
      await inspect(page, `${size}-5-documents`);
      await page.getByLabel('Document type').selectOption('DRIVERS_LICENSE');
      await page.getByLabel('Document number').fill('D1234567');
      await page.getByLabel('Issuing authority').fill('State of Texas');
      await page.getByLabel('Front side').setInputFiles(picture('front-EXPIRED.png'));
      await page.getByLabel('Back side').setInputFiles(documentFile('back.pdf'));
      await inspect(page, `${size}-6-documents-chosen`);
      await press(page, 'Upload');
      await page.getByRole('alert').waitFor();
      expect(await page.getByRole('alert').textContent()).toContain('has expired');
      await page.getByLabel('Front side').setInputFiles(picture('front.png'));
      await press(page, 'Upload');
      await page.getByText('Done').waitFor();
      await inspect(page, `${size}-7-documents-done`);
      await press(page, 'Continue');

      await title(page, 'Review and submit');
      expect(await page.locator('main').textContent()).not.toContain('123-45-6789');
      await inspect(page, `${size}-8-review`);
      await press(page, 'Submit');
      await title(page, 'You are verified');
      await inspect(page, `${size}-9-approved`);
      const { body } = await fixture.app.call(
        'GET',
        `/customers/${person.id}`,
        undefined,
        fixture.platform,
      );
      expect(body).toMatchObject({ kycStatus: 'APPROVED', fullName: 'Ada Lovelace' });
      const documents = await fixture.app.call(
        'GET',
        `/documents?documentHolder=${person.id}`,
        undefined,
        fixture.platform,
      );
      expect(documents.body.data.map((document: { side: string }) => document.side).sort()).toEqual(
        ['BACK', 'FRONT'],
      );
      await page.getByRole('link', { name: 'Back to Unregulated' }).click();
      await page.waitForURL(REDIRECT_URL);
      expect(redirectUrls).toEqual([REDIRECT_URL]);
      // The browser reports each error reply. Any other message is a defect.
      expect(pageErrors.filter((error) => !error.includes('status of 400'))).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(variantsOf(SCREENS, 1))(
    'verifies a business, on a %s',
    async (size) => {
      const body = {
        customerType: 'BUSINESS',
        businessInfo: {
          legalName: 'Acme Inc',
          country: 'US',
          taxId: '12-3456789',
          incorporatedOn: '2020-01-15',
        },
      };
      const business = ok(
        await fixture.app.call('POST', '/customers', body, fixture.platform),
        201,
      );
      const {
        page,
        problems: pageErrors,
        close,
      } = await visit(fixture.browser, size, fixture.origin);
      await openAndStart(page, await fixture.linkFor(business.id));

      await title(page, 'About the business');
      expect(await page.getByLabel('Legal name').count()).toBe(0);
      await page.getByLabel('Registration number').fill('HRB 1000');
      await page.getByLabel('Legal form').selectOption({ label: 'LLC' });
      await page.getByLabel('Sector').selectOption({ label: 'Information' });
      await inspect(page, `${size}-business-1`);
      await press(page, 'Continue');

      await title(page, 'Address of the business');
      await page.getByLabel('Country').selectOption('US');
      await page.getByLabel('Street and number').fill('2 Side St');
      await page.getByLabel('City or town').fill('Austin');
      await page.getByLabel('State, province or region').fill('TX');
      await page.getByLabel('Postal code').fill('78702');
      await press(page, 'Continue');

      await title(page, 'What the business does');
      await page.getByLabel('Where does the business operate?').selectOption('US');
      await page.getByRole('button', { name: 'Add the country' }).click();
      await page.getByLabel('Where does the business operate?').selectOption('MX');
      await page.getByLabel('Where does the money of the business come from?').fill('Sales');
      await page.getByLabel('What is the main purpose of the account?').selectOption('OTHER');
      await press(page, 'Continue');
      expect(await page.getByRole('alert').textContent()).toContain('Enter a description');
      await page.getByLabel('Description').fill('Paying artists');
      await inspect(page, `${size}-business-2-activity`);
      await press(page, 'Continue');

      await title(page, 'Owners and control persons');
      await press(page, 'Continue');
      await page.getByRole('alert').waitFor();
      await inspect(page, `${size}-business-3-no-owner`);
      await press(page, 'Add a person');
      await page.getByLabel('Beneficial owner').check();
      await page.getByLabel('Control person').check();
      await page.getByLabel('Share of the business').fill('60');
      await page.getByLabel('Given name').fill('Grace');
      await page.getByLabel('Family name').fill('Hopper');
      await page.getByLabel('Date of birth').fill('1970-12-09');
      await page.getByLabel('Nationality').selectOption('US');
      await page.getByLabel('Country', { exact: true }).selectOption('US');
      await page.getByLabel('Street and number').fill('3 Navy Rd');
      await page.getByLabel('City or town').fill('Arlington');
      await page.getByLabel('State, province or region').fill('VA');
      await page.getByLabel('Postal code').fill('22201');
      await page.getByLabel('Type of number').selectOption('SSN');
      await page.getByLabel('Number', { exact: true }).fill('98-1');
      await press(page, 'Add this person');
      await page.locator('.field.bad').waitFor();
      await inspect(page, `${size}-business-4-owner-wrong`);
      await page.getByLabel('Number', { exact: true }).fill('987-65-4321');
      await press(page, 'Add this person');
      await page.getByText('Grace Hopper').waitFor();
      await page.getByRole('button', { name: 'Change Grace Hopper' }).click();
      expect(await page.content()).not.toMatch(/4321["<]/);
      await page.getByLabel('Share of the business').fill('70');
      await press(page, 'Save changes');
      await page.getByText('70 %').waitFor();
      await inspect(page, `${size}-business-5-owner`);
      await press(page, 'Continue');

      await title(page, 'Documents');
      await inspect(page, `${size}-business-6-documents`);
      const cards = page.locator('section.card');
      for (let index = 0; index < (await cards.count()); index++) {
        const card = cards.nth(index);
        const kind = card.getByLabel('Document type');
        await kind.selectOption({ index: 1 });
        const number = card.getByLabel('Document number');
        if (await number.isVisible()) {
          await number.fill('P100');
          await card.getByLabel('Issuing authority').fill('State Department');
        }
        await card.getByLabel('File').setInputFiles(documentFile(`document-${index}.pdf`));
        await card.getByRole('button', { name: 'Upload' }).click();
        await card.getByText('Done').waitFor();
      }
      await inspect(page, `${size}-business-7-documents-done`);
      await page.getByRole('button', { name: 'Remove document-0.pdf' }).click();
      await cards.first().getByLabel('Document type').waitFor();
      await press(page, 'Continue');
      await page.getByRole('alert').waitFor();
      const emptiedCard = cards.first();
      await emptiedCard.getByLabel('Document type').selectOption({ index: 1 });
      if (await emptiedCard.getByLabel('Document number').isVisible()) {
        await emptiedCard.getByLabel('Document number').fill('P100');
        await emptiedCard.getByLabel('Issuing authority').fill('State Department');
      }
      await emptiedCard.getByLabel('File').setInputFiles(picture('again.png'));
      await emptiedCard.getByRole('button', { name: 'Upload' }).click();
      await emptiedCard.getByText('Done').waitFor();
      await press(page, 'Continue');

      await title(page, 'Review and submit');
      await inspect(page, `${size}-business-8-review`);
      await press(page, 'Submit');
      await title(page, 'The business is verified');
      const { body: verifiedBusiness } = await fixture.app.call(
        'GET',
        `/customers/${business.id}`,
        undefined,
        fixture.platform,
      );
      expect(verifiedBusiness).toMatchObject({
        kybStatus: 'APPROVED',
        businessInfo: { countriesOfOperation: ['US', 'MX'], registrationNumber: 'HRB 1000' },
        beneficialOwners: [{ ownershipPercentage: 70, kycStatus: 'APPROVED' }],
      });
      expect(pageErrors.filter((error) => !error.includes('status of 400'))).toEqual([]);
      await close();
    },
    TIMEOUT_MS,
  );
});
