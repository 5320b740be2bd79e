// The main task of each role in the console, from the sign-in with a passkey to the audit record.
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createExternalAccount, createFundedCustomer, ok, quoteBody } from '../kit/app/fixtures.ts';
import { type Receiver, startReceiver } from '../kit/http/webhook-receiver.ts';
import {
  button,
  consoleForFile,
  dialogOf,
  isTestable,
  type Operator,
  rowOf,
  TIMEOUT_MS,
  waitForTitle,
} from './console.ts';
import { waitingCheck } from './data.ts';

describe.runIf(isTestable)('in the console', () => {
  const consoleFixture = consoleForFile();
  let receiver: Receiver;
  let ann: Operator;
  beforeAll(async () => {
    receiver = await startReceiver();
    ok(await consoleFixture.app.call('PATCH', '/config', { webhookEndpoint: receiver.url }), 200);
    ann = await consoleFixture.operator('Ann Admin', 'administrator');
    await ann.signIn();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await receiver?.close();
  });

  /** Executes a payment to an account with this suffix. Returns the ID of its transaction. */
  async function createPayout(suffix: string): Promise<string> {
    const { app } = consoleFixture;
    const { person, account } = await createFundedCustomer(app);
    const payee = await createExternalAccount(app, person.id, 'EUR', suffix);
    const quote = ok(
      await app.call('POST', '/quotes', quoteBody(account.id, payee.id, 250_00)),
      201,
    );
    const headers = { 'idempotency-key': quote.id };
    ok(await app.call('POST', `/quotes/${quote.id}/execute`, undefined, { headers }), 200);
    await app.advance(5_000);
    return quote.transactionId;
  }

  /** Expects the record of a change in the audit log of the administrator. */
  async function expectRecord(
    operationId: string,
    operatorName: string,
    reason: string,
  ): Promise<void> {
    const { page } = ann;
    await ann.go(`/audit?operationId=${operationId}`);
    await waitForTitle(page, 'Audit log');
    const records = page
      .getByRole('row')
      .filter({ hasText: operationId })
      .filter({ hasText: operatorName });
    await records.filter({ hasText: reason }).first().waitFor();
  }

  const isFocused = async (page: Page, name: string) =>
    (await page.evaluate('document.activeElement.textContent')) === name;

  /** Fills the form of a change and sends it. Waits for the result of the server. */
  async function send(page: Page, name: string, fields: Record<string, string>): Promise<void> {
    for (const [label, value] of Object.entries(fields))
      await dialogOf(page).getByLabel(label).fill(value);
    await button(dialogOf(page), name).click();
    await dialogOf(page).getByRole('status').waitFor();
  }

  const closeDialog = async (page: Page) => {
    await button(dialogOf(page), 'Close').click();
    await dialogOf(page).waitFor({ state: 'detached' });
  };

  it(
    'support finds why a payout failed, and resends its webhook',
    async () => {
      const { app, client } = consoleFixture;
      const id = await createPayout('004');
      const { reference } = ok(await client.call('GET', `/payments/${id}`), 200);
      const sam = await consoleFixture.operator('Sam Support', 'support');
      await sam.signIn();
      const { page } = sam;
      await page.keyboard.press('Control+k');
      await page.locator('input:focus').fill(reference);
      await page.getByRole('option').filter({ hasText: 'found by reference' }).waitFor();
      await page.keyboard.press('Enter');
      await waitForTitle(page, 'Payment');
      const timeline = page.getByRole('region', { name: 'Timeline' });
      await timeline.getByText('COUNTERPARTY_POST_TX_FAILED').first().waitFor();

      const countBefore = receiver.arrivals.length;
      await button(page, 'Resend last event').click();
      await send(page, 'Resend last event', { Reason: 'The shop was not reachable' });
      await app.settle();
      expect(receiver.arrivals).toHaveLength(countBefore + 1);
      const resentWebhook = receiver.arrivals.at(-1);
      expect(receiver.arrivals.slice(0, countBefore).map((arrival) => arrival.id)).toContain(
        resentWebhook?.id,
      );
      expect(JSON.parse(resentWebhook?.body ?? '').data.id).toBe(id);
      await closeDialog(page);
      await timeline.getByText('2 attempts').waitFor();
      await expectRecord('resendEventOfPlatform', sam.name, 'The shop was not reachable');
      await sam.close();
    },
    TIMEOUT_MS,
  );

  it(
    'compliance decides three identity checks with the keyboard',
    async () => {
      const customerNames = ['Mia Meyer', 'Noah Nguyen', 'Olga Orlova'];
      for (const name of customerNames) {
        await waitingCheck(consoleFixture, name);
        consoleFixture.app.effects.set(consoleFixture.app.effects.now() + 60_000);
      }
      const clara = await consoleFixture.operator('Clara Compliance', 'compliance');
      await clara.signIn('/verifications');
      const { page } = clara;
      const waitForName = (name: string) => page.getByText(name, { exact: true }).first().waitFor();
      await page.locator('tbody a').first().focus();
      await page.keyboard.press('Enter');
      await waitForName('Mia Meyer');
      await page.keyboard.press('n');
      await waitForName('Noah Nguyen');
      await page.keyboard.press('p');
      await waitForName('Mia Meyer');
      // The document is shown next to the data.
      await button(page, 'Show document').focus();
      await page.keyboard.press('Enter');
      const document = page.getByRole('img', { name: /^Document: Passport/ });
      const [picture, data] = await Promise.all([
        document.boundingBox(),
        page.getByRole('region', { name: 'Submitted data' }).boundingBox(),
      ]);
      expect(picture?.width).toBeGreaterThan(300);
      expect((picture?.x ?? 0) + (picture?.width ?? 0)).toBeLessThanOrEqual(data?.x ?? 0);

      const decide = async (key: string, action: string, reason: string) => {
        await page.keyboard.press(key);
        await dialogOf(page).locator('textarea:focus').waitFor();
        await page.keyboard.type(reason);
        const submit = button(dialogOf(page), action);
        for (let step = 0; step < 5 && !(await isFocused(page, action)); step++)
          await page.keyboard.press('Tab');
        await submit.and(page.locator(':focus')).waitFor();
        await page.keyboard.press('Enter');
        await button(dialogOf(page), 'Next check').and(page.locator(':focus')).waitFor();
        await page.keyboard.press('Enter');
        await dialogOf(page).waitFor({ state: 'detached' });
      };
      await decide('a', 'Approve', 'Passport seen');
      await waitForName('Noah Nguyen');
      await decide('r', 'Reject', 'The document is not genuine');
      await waitForName('Olga Orlova');
      await decide('a', 'Approve', 'Passport seen as well');
      await page.getByText('No identity check needs a decision.').waitFor();
      await expectRecord('approveVerification', clara.name, 'Passport seen as well');
      await expectRecord('rejectVerification', clara.name, 'The document is not genuine');
      await expectRecord('getDocumentContent', clara.name, '');
      await clara.close();
    },
    TIMEOUT_MS,
  );

  it(
    'treasury settles a manual payout that a second person approves',
    async () => {
      const { id } = await consoleFixture.createPayment();
      await ann.go('/policies');
      await waitForTitle(ann.page, 'Approval policies');
      await button(ann.page, 'Create policy').click();
      const policy = { Operation: 'settleTransfer', Hours: '24', Reason: 'Four eyes' };
      await send(ann.page, 'Create policy', policy);
      await closeDialog(ann.page);
      await rowOf(ann.page, 'settleTransfer').waitFor();

      const tom = await consoleFixture.operator('Tom Treasury', 'treasury');
      await tom.signIn('/payouts');
      await button(tom.page, 'Settle').click();
      await send(tom.page, 'Settle', { Reference: 'BANK-77', Reason: 'Statement of today' });
      await dialogOf(tom.page).getByText('needs the approval of another operator').waitFor();
      await dialogOf(tom.page).getByRole('link', { name: 'Open the approval' }).click();
      await waitForTitle(tom.page, 'Approval');
      await tom.page.getByText('Statement of today').waitFor();
      await expect.poll(() => button(tom.page, 'Approve').count()).toBe(0);
      // The queue and the payment show the pending approval instead of a second request.
      await tom.go('/payouts');
      await waitForTitle(tom.page, 'Payouts');
      await tom.page.getByRole('link', { name: 'Settle: pending approval' }).waitFor();
      expect(await button(tom.page, 'Settle').count()).toBe(0);
      await tom.go(`/payments/${encodeURIComponent(id)}`);
      await waitForTitle(tom.page, 'Payment');
      await tom.page
        .getByRole('status')
        .filter({ hasText: 'Record a settled transfer, requested by Tom Treasury' })
        .waitFor();

      const uma = await consoleFixture.operator('Uma Treasury', 'treasury');
      await uma.signIn('/approvals');
      await rowOf(uma.page, 'Record a settled transfer').getByRole('link').first().click();
      await waitForTitle(uma.page, 'Approval');
      expect(await uma.page.locator('.lead').textContent()).toMatch(
        /^Tom Treasury asks to record a settled transfer: payment \S+ of [\d,.]+ EUR\.$/,
      );
      await uma.page.getByText('BANK-77').first().waitFor();
      const changes = uma.page.getByRole('region', { name: 'Changed data' });
      const status = changes.getByRole('row').filter({ hasText: 'Status' }).first();
      expect(await status.getByRole('cell').allTextContents()).toEqual(['Processing', 'Completed']);
      // The exact rows are shown on request.
      const rows = changes.getByText('transactions', { exact: true }).first();
      expect(await rows.isVisible()).toBe(false);
      await changes.getByText('Details: exact rows and postings').click();
      await rows.waitFor();
      await button(uma.page, 'Approve').click();
      await send(uma.page, 'Approve', { Reason: 'Seen on the statement' });
      await dialogOf(uma.page).getByText('Completed').first().waitFor();
      await closeDialog(uma.page);
      await uma.page.locator('.screen-head').getByText('Approved').waitFor();

      await tom.go(`/payments/${encodeURIComponent(id)}`);
      await waitForTitle(tom.page, 'Payment');
      await tom.page.locator('.screen-head').getByText('Completed').waitFor();
      await tom.page.getByText('BANK-77').first().waitFor();
      await expectRecord('settleTransfer', tom.name, 'Statement of today');
      await expectRecord('settleTransfer', uma.name, 'Seen on the statement');
      await tom.close();
      await uma.close();
    },
    TIMEOUT_MS,
  );

  it(
    'a developer advances the clock of a sandbox platform until a payment is returned',
    async () => {
      const id = await createPayout('008');
      const dora = await consoleFixture.operator('Dora Developer', 'developer');
      await dora.signIn(`/payments/${encodeURIComponent(id)}`);
      const { page } = dora;
      await page.locator('.screen-head').getByText('Completed').waitFor();
      await page.getByLabel('Platform', { exact: true }).selectOption({ label: 'Main (Sandbox)' });
      await page.getByRole('banner').getByText('Sandbox', { exact: true }).waitFor();
      await dora.go('/sandbox');
      await waitForTitle(page, 'Sandbox');
      await button(page, 'Advance clock').click();
      await send(page, 'Advance clock', { Advance: 'P3D', Reason: 'See the return' });
      await closeDialog(page);
      await page.locator('.clock-notice').getByText('was advanced to', { exact: false }).waitFor();
      await page.goBack();
      await waitForTitle(page, 'Payment');
      await page.locator('.screen-head').getByText('Failed').waitFor();
      await page.getByText('PAYOUT_RETURNED').first().waitFor();
      await expectRecord('changePlatformClock', dora.name, 'See the return');
      await dora.close();
    },
    TIMEOUT_MS,
  );

  it(
    'an administrator adds a user and ends the session of another user, whose page shows the end at once',
    async () => {
      const { page } = ann;
      const vera = await consoleFixture.operator('Vera Viewer', 'viewer');
      await vera.signIn('/payments');
      await ann.go('/users');
      await waitForTitle(page, 'Users');
      await button(page, 'Add user').click();
      await dialogOf(page).getByRole('checkbox', { name: 'Support' }).check();
      const user = { Name: 'Nils New', Email: 'nils.new@example.com', Reason: 'New colleague' };
      await send(page, 'Add user', user);
      const link = await dialogOf(page)
        .getByText(/\/operator\/enroll#/)
        .textContent();
      await closeDialog(page);
      await rowOf(page, 'Nils New').getByText('Invited').waitFor();
      const nils = await consoleFixture.operator('Nils New', 'support', { link: link as string });
      await nils.signIn('/customers');
      await waitForTitle(nils.page, 'Customers');

      await ann.go('/sessions');
      await waitForTitle(page, 'Sessions');
      await button(rowOf(page, 'Vera Viewer'), 'End session').click();
      await send(page, 'End session', { Reason: 'Lost laptop' });
      await vera.page
        .getByRole('alertdialog', { name: 'Your session has ended' })
        .waitFor({ timeout: 3_000 });
      await closeDialog(page);
      await expectRecord('createOperatorUser', ann.name, 'New colleague');
      await expectRecord('endOperatorSession', ann.name, 'Lost laptop');
      await vera.close();
      // The page uses the revoked session until it is reloaded.
      vera.expectRejections(401);
      await nils.close();
    },
    TIMEOUT_MS,
  );

  it('the pages violate no content security policy and log no error', () => {
    expect(consoleFixture.problems()).toEqual([]);
  });
});
