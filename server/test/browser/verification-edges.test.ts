// Special cases of the hosted verification page: keyboard only, dark mode on a narrow phone, a
// rejected document, and an expired link.
import { describe, expect, it } from 'vitest';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { documentForm, pdfFile } from '../kit/http/documents.ts';
import { browserPath, expectAccessible, screenshot, visit } from './browser.ts';
import {
  ADDRESS,
  COMPLETE_DATA,
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

const fixture = openForFile(openVerification);

describe.runIf(browserPath)('the verification page', () => {
  it(
    'can be completed with the keyboard only',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        address: ADDRESS,
        nationality: 'US',
      });
      const { page, close } = await visit(fixture.browser, 'desktop', fixture.origin);
      // The test waits for the file chooser from the start, so that the browser returns the selection.
      const chooserPromise = page.waitForEvent('filechooser', { timeout: TIMEOUT_MS });
      await openAndStart(page, await fixture.linkFor(person.id));
      await title(page, 'About you');
      const { keyboard } = page;
      await keyboard.press('Tab');
      await keyboard.type('Mary Jackson');
      await keyboard.press('Tab');
      await keyboard.type('04091921');
      await keyboard.press('Enter');
      await title(page, 'Your identification number');
      expect(await page.evaluate('document.activeElement.tagName')).toBe('H1');
      await keyboard.press('Tab');
      await keyboard.press('ArrowDown');
      await keyboard.press('Tab');
      await keyboard.type('12');
      await keyboard.press('Enter');
      await page.getByRole('alert').waitFor();
      await page.waitForFunction("document.activeElement.getAttribute('role') === 'alert'");
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await keyboard.press('Control+A');
      await keyboard.type('123-45-6789');
      await keyboard.press('Enter');
      await title(page, 'Documents');
      await keyboard.press('Tab');
      await keyboard.press('ArrowDown');
      await keyboard.press('Tab');
      await keyboard.press('Tab');
      await keyboard.type('P1');
      await keyboard.press('Tab');
      await keyboard.type('State Department');
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      const chooser = await chooserPromise;
      await chooser.setFiles(picture('passport.png'));
      await keyboard.press('Tab');
      await keyboard.press('Enter');
      await page.getByText('Done').waitFor();
      for (let tabs = 0; tabs < 3; tabs++) {
        await keyboard.press('Tab');
        if ((await page.evaluate('document.activeElement.textContent')) === 'Continue') break;
      }
      await keyboard.press('Enter');
      await title(page, 'Review and submit');
      for (let tabs = 0; tabs < 8; tabs++) {
        await keyboard.press('Tab');
        if ((await page.evaluate('document.activeElement.textContent')) === 'Submit') break;
      }
      await keyboard.press('Enter');
      await title(page, 'You are verified');
      await page.getByText('You can close this page.').waitFor();
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'remains open when more data is required, and accepts a replacement of a rejected file',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        ...COMPLETE_DATA,
        fullName: 'Bad Scan 003',
      });
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      const link = await fixture.linkFor(person.id);
      await openAndStart(page, link);
      await title(page, 'Documents');
      await page.getByLabel('Document type').selectOption('PASSPORT');
      await page.getByLabel('Document number').fill('P1');
      await page.getByLabel('Issuing authority').fill('State Department');
      await page.getByLabel('File').setInputFiles(picture('dark.png'));
      await press(page, 'Upload');
      await page.getByText('Done').waitFor();
      await press(page, 'Continue');
      await title(page, 'Review and submit');
      await press(page, 'Submit');
      await title(page, 'Documents');
      await page.getByText('More information is needed').waitFor();
      await inspect(page, 'phone-more-is-needed');
      // The result is also shown after a reload.
      await page.goto(link);
      await page.getByText('More information is needed').waitFor();
      fixture.app.effects.set(fixture.app.effects.now() + 1);
      await page.getByLabel('File').setInputFiles(picture('bright.png'));
      await press(page, 'Replace');
      await page.getByText('Done').waitFor();
      const { body } = await fixture.app.call(
        'GET',
        `/documents?documentHolder=${person.id}`,
        undefined,
        fixture.platform,
      );
      expect(body.data.map((document: { fileName: string }) => document.fileName)).toEqual([
        'bright.png',
      ]);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'runs an action once when its button is pressed twice',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        ...COMPLETE_DATA,
      });
      const form = documentForm(
        { documentHolder: person.id, documentType: 'BANK_STATEMENT', country: 'US' },
        { bytes: pdfFile() },
      );
      ok(await fixture.app.call('POST', '/documents', form, fixture.platform), 201);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      await openAndStart(page, await fixture.linkFor(person.id));
      await title(page, 'Documents');
      const requestMethods: string[] = [];
      page.on('request', (request) => requestMethods.push(request.method()));
      await page.getByRole('button', { name: /^Remove / }).dblclick();
      await page.getByRole('button', { name: /^Remove / }).waitFor({ state: 'detached' });
      expect(requestMethods.filter((method) => method === 'DELETE')).toHaveLength(1);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'is accessible in dark mode on a narrow phone',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      await page.emulateMedia({ colorScheme: 'dark' });
      await page.setViewportSize({ width: 320, height: 640 });
      await openAndStart(page, await fixture.linkFor(person.id));
      await title(page, 'About you');
      await press(page, 'Continue');
      await page.getByRole('alert').waitFor();
      await inspect(page, 'phone-dark-320');
      await close();
    },
    TIMEOUT_MS,
  );

  it.each([
    ['phone', 'Ada Lovelace', 'The verification is complete.'],
    ['desktop', 'Ada Lovelace 002', 'The verification is complete and did not succeed.'],
  ] as const)(
    'shows that no action is needed after the verification (%s, %s)',
    async (device, fullName, line) => {
      const { app, browser, origin } = fixture;
      const person = await createCustomer(app, {}, { ...COMPLETE_DATA, fullName });
      const path = `/customers/${person.id}/kyc-link`;
      const { page, close } = await visit(browser, device, origin);
      await page.goto(ok(await app.call('POST', path, {}), 201).kycUrl);
      await title(page, 'No action is needed');
      await page.getByText(line).waitFor();
      await page.getByText('You can close this page.').waitFor();
      expect(await page.getByRole('button').count()).toBe(0);
      await inspect(page, `${device}-no-action`);
      await page.goto(ok(await app.call('POST', path, { redirectUri: REDIRECT_URL }), 201).kycUrl);
      await title(page, 'No action is needed');
      const backLink = page.getByRole('link', { name: /^Back to / });
      expect(await backLink.getAttribute('href')).toBe(REDIRECT_URL);
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'shows an error when the link was used, has expired or is unknown',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, {
        ...WITHOUT_DATA,
        ...COMPLETE_DATA,
      });
      const form = documentForm(
        {
          documentHolder: person.id,
          documentType: 'PASSPORT',
          country: 'US',
          documentNumber: 'P1',
          issuingAuthority: 'State Department',
        },
        { bytes: pdfFile() },
      );
      ok(await fixture.app.call('POST', '/documents', form, fixture.platform), 201);
      const link = await fixture.linkFor(person.id);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      const laterCustomer = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const secondLink = await fixture.linkFor(laterCustomer.id);
      await openAndStart(page, link);
      await title(page, 'Review and submit');
      await press(page, 'Submit');
      await title(page, 'You are verified');
      const expectEnded = async (url: string) => {
        const reply = await page.goto(url);
        expect(reply?.status()).toBe(410);
        await title(page, 'This link no longer works');
        await expectAccessible(page);
      };
      await expectEnded(link);
      await screenshot(page, 'phone-ended');
      await expectEnded(`${fixture.origin}/verify/unknown-token`);
      await openAndStart(page, secondLink);
      await title(page, 'About you');
      fixture.app.effects.set(fixture.app.effects.now() + 24 * 3_600_000);
      await expectEnded(secondLink);
      await close();
    },
    TIMEOUT_MS,
  );
});
