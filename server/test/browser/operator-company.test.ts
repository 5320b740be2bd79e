// The sign-in with a company account in a real browser: the button, the pages of a real identity provider,
// and the account. The provider rejects people who cancel. This server rejects people without a role.
import { createServer } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { groupRolesOf } from '../../src/runtime/config/identity-provider.ts';
import { openForFile, testApp } from '../kit/app/test-app.ts';
import { operatorClient } from '../kit/operator/client.ts';
import { CLIENT, startIdentityProvider } from '../kit/operator/identity-provider.ts';
import { browserPath, launch, type Visit, visit } from './browser.ts';
import { press, TIMEOUT_MS } from './verification-fixture.ts';

/**
 * The port is selected in advance, because the address for redirects must be registered with the
 * provider.
 */
async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

let port = 0;
const provider = openForFile(async () => {
  port = await findFreePort();
  const callback = `http://localhost:${port}/operator/sign-in`;
  return startIdentityProvider('userinfo', { callback, hasPages: true });
});
// Tokens expire by the clock of the machine.
const app = testApp(() => ({
  start: Date.now(),
  operatorOidc: {
    issuer: provider.issuer,
    clientId: CLIENT.id,
    clientSecret: CLIENT.secret,
    roles: groupRolesOf('admins=administrator;ops=support'),
    groupsClaim: 'groups',
  },
}));
let browser: Awaited<ReturnType<typeof launch>>;
let currentVisit: Visit;

const urlOf = (path: string) => `http://localhost:${port}/operator${path}`;

const COMPANY_BUTTON = 'Sign in with your company account';

/** Signs in on the page of the provider, which accepts every password. */
async function signInAtProvider(account: string): Promise<void> {
  const { page } = currentVisit;
  await page.goto(urlOf('/sign-in'));
  await press(page, COMPANY_BUTTON);
  await page.waitForURL(`${provider.issuer}/interaction/**`);
  await page.locator('input[name=login]').fill(account);
  await page.locator('input[name=password]').fill('any');
  await page.locator('button[type=submit]').click();
}

const waitForAlert = (text: string) =>
  currentVisit.page.getByRole('alert').filter({ hasText: text }).waitFor();

describe.runIf(browserPath)('the sign-in with a company account', () => {
  beforeAll(async () => {
    await app.app.server.listen({ port, host: '127.0.0.1' });
    browser = await launch();
  }, TIMEOUT_MS);
  beforeEach(async () => {
    // The common prefix of the origins of this server and of the provider.
    currentVisit = await visit(browser, 'desktop', 'http://localhost:');
    return () => currentVisit.close();
  });
  afterAll(async () => {
    await browser?.close();
  });

  it(
    'leads to the provider and back to the account, with the roles of the groups',
    async () => {
      const details = { name: 'Olga Ops', email: 'olga@example.com', email_verified: true };
      provider.accounts.set('olga', { ...details, groups: ['ops'] });
      await signInAtProvider('olga');
      const { page } = currentVisit;
      // The heading is in the document before the script runs, so the test waits for the e-mail address.
      await page.getByText('olga@example.com').waitFor();
      await page.getByText('support', { exact: true }).waitFor();
      expect(page.url()).toBe(urlOf(''));
      await press(page, 'Sign out');
      // The session at the provider continues, so no input is required.
      await press(page, COMPANY_BUTTON);
      await page.getByText('olga@example.com').waitFor();
      const { body } = await operatorClient(app).call('GET', '/operator-users');
      const names = body.data.map(({ name }: { name: string }) => name);
      expect(names.filter((name: string) => name === 'Olga Ops')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  it(
    'is rejected for a person without a role',
    async () => {
      provider.accounts.set('norma', { name: 'Norma', groups: ['others'] });
      await signInAtProvider('norma');
      await waitForAlert('None of your groups at the identity provider has a role here.');
      expect(currentVisit.page.url()).toBe(urlOf('/sign-in'));
      await currentVisit.page.goto(urlOf(''));
      await currentVisit.page.getByRole('button', { name: COMPANY_BUTTON }).waitFor();
      expect(currentVisit.page.url()).toBe(urlOf('/sign-in'));
    },
    TIMEOUT_MS,
  );

  it(
    'is rejected if the person cancels at the provider',
    async () => {
      const { page } = currentVisit;
      await page.goto(urlOf('/sign-in'));
      await press(page, COMPANY_BUTTON);
      await page.waitForURL(`${provider.issuer}/interaction/**`);
      await page.getByRole('link', { name: /cancel/i }).click();
      await waitForAlert('not completed');
      expect(page.url()).toBe(urlOf('/sign-in'));
    },
    TIMEOUT_MS,
  );
});
