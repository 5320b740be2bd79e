// The pages for operators in a real browser with a virtual authenticator: enrollment by a link, sign-in,
// and the account. Each state is checked by axe in light and dark, on a phone and on a desktop.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { enrollment } from '../../src/features/staff/users/index.ts';
import { ok } from '../kit/app/fixtures.ts';
import { testApp } from '../kit/app/test-app.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { PASSWORD } from '../kit/operator/people.ts';
import { codeAt } from '../kit/sca/factors.ts';
import { browserPath, launch, SIZES, type Visit, visit } from './browser.ts';
import { inspect, press, TIMEOUT_MS, title } from './verification-fixture.ts';

const app = testApp();
let browser: Awaited<ReturnType<typeof launch>>;
let port: number;
let currentVisit: Visit;
/** Secrets of links and passwords that the test has used. */
const secrets: string[] = [PASSWORD];

const urlOf = (path: string, host = 'localhost') => `http://${host}:${port}/operator${path}`;

/** Problems except failed loads, because the browser also logs the error replies that a page shows. */
const readViolations = () =>
  currentVisit.problems.filter((problem) => !problem.startsWith('Failed to load'));

/** Adds a device that verifies its user. */
async function addDevice(transport: 'internal' | 'usb' = 'internal') {
  const cdp = await currentVisit.context.newCDPSession(currentVisit.page);
  await cdp.send('WebAuthn.enable');
  const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport, hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  return {
    /** Whether the user is verified, as with a fingerprint. */
    verify: (isUserVerified: boolean) =>
      cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    remove: () => cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId }),
  };
}

/** Inspects the state in every size and color scheme. */
async function inspectState(name: string): Promise<void> {
  const { page } = currentVisit;
  for (const size of [SIZES.phone, SIZES.desktop]) {
    await page.setViewportSize(size.viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await inspect(page, `operator-${name}-${size.viewport.width}-${colorScheme}`);
    }
  }
}

async function readFirstEnrollmentSecret(): Promise<string> {
  const link = await enrollment.firstAdministratorLink(app.runtime);
  if (!link) throw new Error('The first administrator has already enrolled. Use a new server.');
  secrets.push(link.secret);
  return link.secret;
}

async function invite(name: string, email: string): Promise<string> {
  const { call } = operatorClient(app);
  const body = { name, email, roles: ['support'], reason: 'new colleague' };
  const { link } = ok(await call('POST', '/operator-users', { body }), 201);
  secrets.push(link.secret);
  return link.secret;
}

const fill = (label: string, text: string) =>
  currentVisit.page.getByLabel(label, { exact: true }).fill(text);

/** Waits for the alert with the text, which must have the focus. */
async function waitForAlert(text: string | RegExp): Promise<void> {
  await currentVisit.page.getByRole('alert').filter({ hasText: text }).waitFor();
  expect(await currentVisit.page.evaluate('document.activeElement.getAttribute("role")')).toBe(
    'alert',
  );
}

const readFocusedName = (): Promise<string> =>
  currentVisit.page.evaluate('document.activeElement.name') as Promise<string>;

describe.runIf(browserPath)('the pages for operators', () => {
  beforeAll(async () => {
    await app.app.server.listen({ port: 0, host: '127.0.0.1' });
    ({ port } = app.app.server.server.address() as { port: number });
    browser = await launch();
  }, TIMEOUT_MS);
  beforeEach(async () => {
    currentVisit = await visit(browser, 'desktop', `http://localhost:${port}`);
    return () => currentVisit.close();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it(
    'explain the address at which a link works, and keep the link',
    async () => {
      await currentVisit.close();
      currentVisit = await visit(browser, 'desktop', 'http://');
      const secret = await readFirstEnrollmentSecret();
      await currentVisit.page.goto(urlOf(`/enroll#${secret}`, '127.0.0.1'));
      await title(currentVisit.page, 'Open this page at another address');
      await inspectState('wrong-address');
      await currentVisit.page
        .getByRole('link', { name: `Open at http://localhost:${port}` })
        .click();
      await title(currentVisit.page, 'Set up your sign-in');
      expect(currentVisit.page.url()).toBe(urlOf('/enroll'));
      await currentVisit.page.goto(urlOf('/sign-in', '127.0.0.1'));
      await title(currentVisit.page, 'Open this page at another address');
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'enroll the first administrator, who signs out, signs in and changes passkeys',
    async () => {
      const { page } = currentVisit;
      const device = await addDevice();
      await page.goto(urlOf(`/enroll#${await readFirstEnrollmentSecret()}`));
      await title(page, 'Set up your sign-in');
      expect(page.url()).toBe(urlOf('/enroll'));
      expect(await page.getByLabel('Name of this device').inputValue()).toMatch(/Chrome on Linux/);
      await inspectState('enroll');

      await press(page, 'Create a passkey');
      await waitForAlert('Enter your name');
      await inspectState('enroll-missing');
      await page.getByRole('link', { name: 'Enter your e-mail address' }).click();
      expect(await readFocusedName()).toBe('email');
      await fill('Your name', 'Ada Admin');
      await fill('E-mail address', 'ada@');
      await press(page, 'Create a passkey');
      await waitForAlert('Enter an e-mail address such as');
      await fill('E-mail address', 'ada@example.com');
      await device.verify(false);
      await press(page, 'Create a passkey');
      await waitForAlert('No passkey was used');
      await device.verify(true);
      await press(page, 'Create a passkey');
      await title(page, 'Your account');
      await page.getByText('ada@example.com').waitFor();
      await page.getByText('administrator', { exact: true }).waitFor();
      await inspectState('account');

      await press(page, 'Sign out');
      await title(page, 'Sign in');
      await inspectState('sign-in');
      await page.goto(urlOf(''));
      await title(page, 'Sign in');
      expect(page.url()).toBe(urlOf('/sign-in'));
      // The button has the focus, so the keyboard presses it. The document has the heading before the script
      // runs.
      await page.locator('button:focus').waitFor();
      await page.keyboard.press('Enter');
      await title(page, 'Your account');

      const secondDevice = await addDevice('usb');
      await press(page, 'Add a passkey');
      await title(page, 'Add a passkey');
      await fill('Name of this device', 'Security key');
      await inspectState('add-passkey');
      await press(page, 'Create a passkey');
      await page.getByText('The passkey “Security key” was added.').first().waitFor();
      await inspectState('account-two-passkeys');
      await press(page, 'Remove the passkey “Security key”');
      await inspectState('account-remove');
      await press(page, 'Remove passkey');
      await page.getByText('The passkey “Security key” was removed.').first().waitFor();
      await secondDevice.remove();
      await page.getByRole('button', { name: /^Remove the passkey/ }).click();
      await press(page, 'Remove passkey');
      await waitForAlert('This is the only sign-in method.');
      await inspectState('account-conflict');
      await press(page, 'End other sessions');
      await page.getByText('All other sessions were ended.').first().waitFor();

      await app.advance(11 * 60_000);
      await press(page, 'Add a passkey');
      await press(page, 'Create a passkey');
      await waitForAlert('Sign in again to change a sign-in method.');
      await inspectState('account-not-recent');
      await page.getByRole('link', { name: 'Sign in again' }).click();
      await title(page, 'Sign in');
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'enroll a user with a password and an authenticator app, who signs in with them',
    async () => {
      const { page } = currentVisit;
      const link = urlOf(`/enroll#${await invite('Carl Support', 'carl@example.com')}`);
      await page.goto(link);
      await page.getByText('For Carl Support (carl@example.com).').waitFor();
      await inspectState('enroll-invited');
      await press(page, 'Use a password and an authenticator app');
      await title(page, 'Set a password');
      const secretOf = async () =>
        `${await page.locator('dd .code').first().textContent()}`.replaceAll(' ', '');
      const readCurrentCode = async () => codeAt(await secretOf(), app.effects.now());
      const autocompleteOf = (label: string) =>
        page.getByLabel(label, { exact: true }).getAttribute('autocomplete');
      expect(await autocompleteOf('New password')).toBe('new-password');
      expect(await autocompleteOf('Code')).toBe('one-time-code');
      expect(await autocompleteOf('E-mail address')).toBe('username');
      await inspectState('enroll-password');
      await fill('New password', 'password1234');
      await fill('Code', '12345');
      await press(page, 'Set password');
      await waitForAlert('Enter the six digits of the code');
      await fill('Code', await readCurrentCode());
      await press(page, 'Set password');
      await waitForAlert('New password is common or easy to guess');
      await inspectState('enroll-password-weak');
      await fill('New password', PASSWORD);
      const totpSecret = await secretOf();
      secrets.push(totpSecret);
      await press(page, 'Set password');
      await title(page, 'Your account');
      await page.getByText('You have no passkey.').waitFor();

      await press(page, 'Sign out');
      await press(page, 'Use a password and a code');
      await title(page, 'Sign in with a password');
      expect(await autocompleteOf('Password')).toBe('current-password');
      await inspectState('sign-in-password');
      await fill('E-mail address', 'carl@example.com');
      await fill('Password', 'wrong');
      await fill('Code', '000000');
      await press(page, 'Sign in');
      await waitForAlert('The e-mail address, the password or the code is wrong.');
      await inspectState('sign-in-rejected');
      await app.advance(30_000);
      await fill('Password', PASSWORD);
      await fill('Code', codeAt(totpSecret, app.effects.now()));
      await page.keyboard.press('Enter');
      await title(page, 'Your account');

      await page.goto(link);
      await title(page, 'This link no longer works');
      await inspectState('enroll-ended');
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'show when attempts are limited',
    async () => {
      const { page } = currentVisit;
      await page.goto(urlOf('/sign-in'));
      await press(page, 'Use a password and a code');
      await fill('E-mail address', 'unknown@example.com');
      await fill('Password', 'wrong');
      await fill('Code', '000000');
      for (let attempt = 0; attempt < 5; attempt++) {
        await press(page, 'Sign in');
        await waitForAlert('is wrong');
      }
      await press(page, 'Sign in');
      await waitForAlert('Too many attempts. Try again in 15 minutes.');
      await inspectState('sign-in-limited');
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'register and use passkeys in browsers without JSON options',
    async () => {
      const { page } = currentVisit;
      await addDevice();
      await page.addInitScript(`
        delete PublicKeyCredential.parseCreationOptionsFromJSON;
        delete PublicKeyCredential.parseRequestOptionsFromJSON;`);
      await page.goto(urlOf(`/enroll#${await invite('Dora', 'dora@example.com')}`));
      await press(page, 'Create a passkey');
      await title(page, 'Your account');
      await press(page, 'Sign out');
      await press(page, 'Sign in with a passkey');
      await title(page, 'Your account');
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'send the stored state with the callback of a company account, and show its rejection',
    async () => {
      const { page } = currentVisit;
      const postedBodies: unknown[] = [];
      await page.route('**/operator/v1/sign-in/oidc*', async (route) => {
        const isOptions = route.request().url().endsWith('-options');
        if (!isOptions) postedBodies.push(route.request().postDataJSON());
        const authorizationUrl = urlOf('/sign-in?code=one&state=two');
        return isOptions
          ? route.fulfill({ json: { state: 'sealed', authorizationUrl } })
          : route.fulfill({ status: 401, json: { status: 401, code: 'UNAUTHORIZED', reason: '' } });
      });
      await page.goto(urlOf('/sign-in'));
      await title(page, 'Sign in');
      await page.getByRole('button', { name: 'Sign in with your company account' }).waitFor();
      await inspectState('sign-in-company');
      await press(page, 'Sign in with your company account');
      await waitForAlert('The sign-in with your company account was not completed.');
      expect(page.url()).toBe(urlOf('/sign-in'));
      const callbackUrl = urlOf('/sign-in?code=one&state=two');
      expect(postedBodies).toEqual([{ state: 'sealed', callbackUrl }]);
      expect(readViolations()).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it('have strict headers, and write no secret to the log', async () => {
    for (const path of ['', '/sign-in', '/enroll']) {
      const { headers } = await fetch(urlOf(path, '127.0.0.1'));
      expect(headers.get('cache-control')).toBe('no-store');
      expect(headers.get('referrer-policy')).toBe('no-referrer');
      expect(headers.get('x-frame-options')).toBe('DENY');
      const policy = headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toContain('unsafe');
    }
    const log = app.log.join('\n');
    for (const secret of secrets) expect(log).not.toContain(secret);
  });
});
