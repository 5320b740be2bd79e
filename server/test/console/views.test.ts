// Screens of the console: the environment of totals, the actions of each state, the visible
// columns, the menu, and the record of a search.
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createCustomer, createFundedCustomer, ok } from '../kit/app/fixtures.ts';
import { walletFixture } from '../kit/wallets/embedded-wallets.ts';
import { newPhoneNumber } from '../kit/wallets/one-time-codes.ts';
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
import { connectedProvider } from './provider-data.ts';
import { SCREENS } from './screens.ts';

const pathOf = (screen: string, id: string) => `/${screen}/${encodeURIComponent(id)}`;

/** Lists with the number of their decisive columns, which come first. */
const LISTS: Readonly<Record<string, number>> = {
  '/payments': 3,
  '/payouts': 3,
  '/accounts': 3,
  '/customers': 3,
  '/deliveries': 3,
  '/providers': 3,
  '/provider-routes': 3,
};

/** Runs in the page: the pixels by which each column of a list extends beyond its visible part. */
const columnOverflows = `[...document.querySelectorAll('.rows thead th')].map(
  (element) =>
    element.getBoundingClientRect().right - element.closest('.rows').getBoundingClientRect().right,
)`;

/** Runs in the page: types a text into the focused field, with a pause after each character. */
const typeText = `async (text) => {
  const input = document.activeElement;
  const { set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
  for (let length = 1; length <= text.length; length++) {
    set.call(input, text.slice(0, length));
    input.dispatchEvent(new Event('input', { bubbles: true }));
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}`;

describe.runIf(isTestable)('a screen', () => {
  const consoleFixture = consoleForFile();
  let ann: Operator;
  beforeAll(async () => {
    ann = await consoleFixture.operator('Ann Admin', 'administrator');
    await ann.signIn();
  }, TIMEOUT_MS);

  const requestsOf = (page: Page, pathPart: string) => {
    const requests: Request[] = [];
    page.on('request', (request) => {
      if (request.url().includes(pathPart)) requests.push(request);
    });
    return requests;
  };

  const recordsOf = async (query: string) =>
    ok(await consoleFixture.client.call('GET', `/audit-records?limit=100&${query}`), 200).data as {
      actor: { name: string };
      outcome: string;
    }[];

  it(
    'with totals shows one environment, production by default',
    async () => {
      const { page } = ann;
      await createFundedCustomer(consoleFixture.app);
      const totalRequests = requestsOf(page, '/metrics/payments');
      const overviewRequests = requestsOf(page, '/overview?');
      await ann.go('/audit');
      await waitForTitle(page, 'Audit log');
      await ann.go('/');
      await waitForTitle(page, 'Overview');
      await complete(page);
      const pressedMode = page.getByRole('button', {
        pressed: true,
        name: /^(?:Production|Sandbox)$/,
      });
      await expect.poll(() => pressedMode.allTextContents()).toEqual(['Production']);
      const isNonEmpty = ({ length }: { length: number }) => length > 0;
      await expect.poll(() => [totalRequests, overviewRequests].every(isNonEmpty)).toBe(true);
      const modes = () =>
        new Set(
          [...totalRequests, ...overviewRequests].map((request) =>
            new URL(request.url()).searchParams.get('mode'),
          ),
        );
      expect([...modes()]).toEqual(['production']);
      await button(page, 'Sandbox').click();
      await page.locator('.screen-head').getByText('Sandbox', { exact: true }).first().waitFor();
      await expect.poll(() => [...modes()]).toEqual(['production', 'sandbox']);
      await page.getByText('Open work').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'with the search palette records each search once',
    async () => {
      const { page } = ann;
      const { id } = await createCustomer(consoleFixture.app);
      const countBefore = (await recordsOf('operationId=searchResources')).length;
      await page.keyboard.press('Control+k');
      await page.locator('[role=dialog] input:focus').waitFor();
      await page.evaluate(`(${typeText})(${JSON.stringify(id)})`);
      await page.getByRole('option').filter({ hasText: 'found by' }).first().waitFor();
      // The new audit record must not start another search.
      await page.waitForTimeout(2_500);
      expect(await recordsOf('operationId=searchResources')).toHaveLength(countBefore + 1);
      await page.keyboard.press('Escape');
      await dialogOf(page).waitFor({ state: 'detached' });
    },
    TIMEOUT_MS,
  );

  it(
    'of an account offers the actions of its state, and the audit log shows the failed change',
    async () => {
      const { page } = ann;
      const { account } = await createFundedCustomer(consoleFixture.app);
      await ann.go(pathOf('accounts', account.id));
      await waitForTitle(page, 'Account');
      await button(page, 'Freeze').waitFor();
      expect(await button(page, 'Unfreeze').count()).toBe(0);
      const body = { reason: 'Court order' };
      await button(page, 'Freeze').click();
      // Another operator freezes the account first.
      ok(await consoleFixture.client.call('POST', `/accounts/${account.id}/freeze`, { body }), 200);
      await dialogOf(page).getByLabel('Reason').fill('Court order as well');
      await button(dialogOf(page), 'Freeze').click();
      await dialogOf(page).getByRole('alert').waitFor();
      await button(dialogOf(page), 'Cancel').click();
      await button(page, 'Unfreeze').waitFor();
      expect(await button(page, 'Freeze').count()).toBe(0);
      ann.expectRejections(409);
      const records = await recordsOf(`subject=${account.id}&operationId=freezeAccount`);
      expect(records.map(({ outcome }) => outcome)).toEqual(['CONFLICT', 'SUCCEEDED']);
      await ann.go(`/audit?subject=${account.id}`);
      await waitForTitle(page, 'Audit log');
      const failedRecord = rowOf(page, 'Failed: conflict');
      await failedRecord.getByText('Freeze an account').waitFor();
      await failedRecord.getByText('freezeAccount').waitFor();
      await rowOf(page, 'Succeeded').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'of an identity check requires the reason for a rejection',
    async () => {
      const { page } = ann;
      const { id } = await waitingCheck(consoleFixture, 'Mia Meyer');
      await ann.go(pathOf('verifications', id));
      await button(page, 'Reject').click();
      await button(dialogOf(page), 'Reject').click();
      await dialogOf(page).getByText('This field is required.').waitFor();
      await dialogOf(page).getByLabel('Reason').fill('The passport is forged');
      await button(dialogOf(page), 'Reject').click();
      await dialogOf(page).getByRole('status').getByText('Rejected').first().waitFor();
      await button(dialogOf(page), 'Next check').click();
    },
    TIMEOUT_MS,
  );

  it(
    'of a payment names the event and the endpoints to which it can be sent again',
    async () => {
      const { page } = ann;
      const { id } = await consoleFixture.createPayment();
      await ann.go(pathOf('payments', id));
      await waitForTitle(page, 'Payment');
      await button(page, 'Resend last event').click();
      await dialogOf(page)
        .getByText(/^OUTGOING_PAYMENT\./)
        .waitFor();
      const endpoints = dialogOf(page).getByLabel('Endpoint').locator('option');
      await expect
        .poll(() => endpoints.allTextContents())
        .toEqual([
          'All endpoints that receive this type of event',
          'https://hooks.example.com/shop',
        ]);
      await button(dialogOf(page), 'Cancel').click();
    },
    TIMEOUT_MS,
  );

  it(
    'of wallets lists them, and links to each wallet',
    async () => {
      const { page } = ann;
      const wallets = walletFixture(consoleFixture.app);
      const { accountId } = await wallets.createWalletCustomer({ phoneNumber: newPhoneNumber() });
      await ann.go('/wallets');
      await waitForTitle(page, 'Wallets');
      const link = page.locator(`tbody a[href$="${encodeURIComponent(accountId)}"]`).first();
      await link.click();
      await waitForTitle(page, 'Wallet');
      await button(page, 'Start recovery').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'of the ledger leads from the trial balance to postings, and from an account to the ledger',
    async () => {
      const { page } = ann;
      const { account } = await createFundedCustomer(consoleFixture.app);
      await ann.go('/ledger');
      await waitForTitle(page, 'Ledger');
      const balance = page.getByRole('region', { name: 'Trial balance', exact: true });
      await balance.getByRole('link', { name: 'Customer' }).first().click();
      await expect.poll(() => page.url()).toContain('type=CUSTOMER');
      const systemLinks = balance
        .getByRole('link')
        .filter({ hasNotText: /^(?:Customer|Platform)$/ });
      await systemLinks.first().click();
      await waitForTitle(page, 'Ledger account');
      await page.getByRole('region', { name: 'Postings', exact: true }).waitFor();
      await ann.go(pathOf('accounts', account.id));
      await page.getByRole('link', { name: 'Ledger account' }).click();
      await waitForTitle(page, 'Ledger account');
    },
    TIMEOUT_MS,
  );

  it(
    'of a list shows its decisive columns without scrolling, at 1440 and 390 pixels',
    async () => {
      const { page } = ann;
      await consoleFixture.createPayment();
      await (await connectedProvider(consoleFixture)).close();
      const hiddenColumns: string[] = [];
      for (const width of [1_440, 390]) {
        await page.setViewportSize({ width, height: 844 });
        for (const [path, decisiveColumnCount] of Object.entries(LISTS)) {
          await ann.go(path);
          await waitForTitle(page, SCREENS[path]?.title as string);
          await complete(page);
          await page.locator('.rows thead th').first().waitFor();
          const overflows = (await page.evaluate(columnOverflows)) as number[];
          if (overflows.slice(0, decisiveColumnCount).some((overflow) => overflow > 1))
            hiddenColumns.push(`${path} at ${width}`);
        }
      }
      expect(hiddenColumns).toEqual([]);
      await page.setViewportSize({ width: 1_280, height: 800 });
    },
    TIMEOUT_MS,
  );
});

describe.runIf(isTestable)('the menu', () => {
  const consoleFixture = consoleForFile();

  it(
    'has at most 8 groups, expands the current group, and lists the pages of the palette',
    async () => {
      const ann = await consoleFixture.operator('Ann Admin', 'administrator');
      await ann.signIn();
      const { page } = ann;
      const menu = page.getByRole('navigation', { name: 'Console' });
      const groups = menu.getByRole('button');
      expect(await groups.count()).toBeLessThanOrEqual(8);
      const isOpen = async (name: string) =>
        (await menu.getByRole('button', { name }).getAttribute('aria-expanded')) === 'true';
      await ann.go('/audit');
      await waitForTitle(page, 'Audit log');
      await menu.getByRole('link', { name: 'Audit log' }).waitFor();
      expect([await isOpen('Administration'), await isOpen('Money')]).toEqual([true, false]);
      await menu.getByRole('button', { name: 'Money' }).focus();
      await page.keyboard.press('Enter');
      await menu.getByRole('link', { name: 'Ledger' }).focus();
      await page.keyboard.press('Enter');
      await waitForTitle(page, 'Ledger');
      const names: string[] = [];
      for (const group of await groups.all()) {
        if ((await group.getAttribute('aria-expanded')) === 'false') await group.click();
      }
      names.push(...(await menu.getByRole('link').allTextContents()));
      expect(names.length).toBeGreaterThanOrEqual(36);
      await page.keyboard.press('Control+k');
      await page.locator('[role=dialog] input:focus').waitFor();
      const optionTexts = await page.getByRole('option').allTextContents();
      expect(optionTexts.map((text) => text.trim()).sort()).toEqual(names.sort());
      await page.keyboard.press('Escape');
      expect(consoleFixture.problems()).toEqual([]);
      await ann.close();
    },
    TIMEOUT_MS,
  );
});
