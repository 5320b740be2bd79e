// Changes in the console during failures: a concurrent change by another operator, a lost
// connection, an ended session, or a button that is pressed twice. Each change has one effect. The
// console shows the result of the server.
import type { Page, Request } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { createFundedCustomer, ok } from '../kit/app/fixtures.ts';
import {
  button,
  consoleForFile,
  dialogOf,
  isTestable,
  type Operator,
  TIMEOUT_MS,
  waitForTitle,
} from './console.ts';
import { waitingCheck } from './data.ts';

const pathOf = (screen: string, id: string) => `/${screen}/${encodeURIComponent(id)}`;

describe.runIf(isTestable)('a change', () => {
  const consoleFixture = consoleForFile();
  let tom: Operator;
  beforeAll(async () => {
    tom = await consoleFixture.operator('Tom Treasury', 'treasury');
    await tom.signIn();
  }, TIMEOUT_MS);

  /** Opens a new account, and fills in the form that freezes it. */
  async function openFreezeForm(reason: string) {
    const { account } = await createFundedCustomer(consoleFixture.app);
    const { page } = tom;
    await tom.go(pathOf('accounts', account.id));
    await waitForTitle(page, 'Account');
    await button(page, 'Freeze').click();
    await dialogOf(page).getByLabel('Reason').fill(reason);
    return { page, id: account.id as string, submit: button(dialogOf(page), 'Freeze') };
  }

  async function recordsOf(operationId: string, subject: string) {
    const path = `/audit-records?operationId=${operationId}&subject=${subject}`;
    return ok(await consoleFixture.client.call('GET', path), 200).data;
  }

  const requestsTo = (page: Page, pathEnd: string) => {
    const requests: Request[] = [];
    page.on('request', (request) => {
      if (request.method() === 'POST' && request.url().endsWith(pathEnd)) requests.push(request);
    });
    return requests;
  };

  /** Closes all connections of a browser, and prevents new connections. */
  async function interrupt({ page, context }: Operator): Promise<void> {
    await context.setOffline(true);
    consoleFixture.app.app.server.server.closeAllConnections();
    await page.getByText('Connection interrupted').waitFor();
  }

  it(
    'by two concurrent reviewers is accepted from one reviewer only',
    async () => {
      const { id } = await waitingCheck(consoleFixture, 'Mia Meyer');
      const [clara, carl] = [
        await consoleFixture.operator('Clara Compliance', 'compliance'),
        await consoleFixture.operator('Carl Compliance', 'compliance'),
      ];
      const submitButtons = [];
      for (const [person, action] of [
        [clara, 'Approve'],
        [carl, 'Reject'],
      ] as const) {
        await person.signIn(pathOf('verifications', id));
        await button(person.page, action).click();
        await dialogOf(person.page).getByLabel('Reason').fill('Seen the document');
        submitButtons.push(button(dialogOf(person.page), action));
      }
      await Promise.all(submitButtons.map((submit) => submit.click()));
      const outcomeOf = async ({ page }: Operator) => {
        const result = dialogOf(page).getByRole('status');
        const problem = dialogOf(page).getByRole('alert');
        await result.or(problem).waitFor();
        return (await result.isVisible()) ? 'done' : ((await problem.textContent()) as string);
      };
      const outcomes = await Promise.all([clara, carl].map(outcomeOf));
      const rejectedReviewer = outcomes[0] === 'done' ? carl : clara;
      expect(outcomes.filter((outcome) => outcome === 'done')).toHaveLength(1);
      const message = outcomes.find((outcome) => outcome !== 'done');
      expect(message).toMatch(/decided|status|final|already/i);
      const { data } = ok(
        await consoleFixture.client.call('GET', `/audit-records?subject=${id}`),
        200,
      );
      const decisions = data.filter(({ hasChanges }: { hasChanges: boolean }) => hasChanges);
      expect(decisions).toHaveLength(1);
      // The page shows the decision of the other reviewer.
      await button(dialogOf(rejectedReviewer.page), 'Cancel').click();
      const state = rejectedReviewer === carl ? 'Approved' : 'Rejected';
      await rejectedReviewer.page
        .locator('.screen-head')
        .getByText(state, { exact: true })
        .waitFor();
      rejectedReviewer.expectRejections(409);
      await clara.close();
      await carl.close();
    },
    TIMEOUT_MS,
  );

  it(
    'is sent again with the same key after a lost connection, and is made once',
    async () => {
      const { page, id, submit } = await openFreezeForm('The reply is lost');
      const requests = requestsTo(page, '/freeze');
      // The server commits the change, and the browser receives no reply.
      await page.route('**/freeze', async (route) => {
        await route.fetch();
        await route.abort('connectionreset');
      });
      await submit.click();
      await dialogOf(page).getByText('The result is unknown').waitFor();
      await expect.poll(() => dialogOf(page).getByLabel('Reason').isDisabled()).toBe(true);
      expect(await recordsOf('freezeAccount', id)).toHaveLength(1);
      await page.unroute('**/freeze');
      // Without any connection the result remains unknown.
      await interrupt(tom);
      await button(dialogOf(page), 'Send again').click();
      await button(dialogOf(page), 'Send again').and(page.locator(':enabled')).waitFor();
      await tom.context.setOffline(false);
      await button(dialogOf(page), 'Send again').click();
      await dialogOf(page).getByRole('status').getByText('Frozen').waitFor();
      const keys = requests.map((request) => request.headers()['idempotency-key']);
      expect(keys).toHaveLength(3);
      expect(new Set(keys).size).toBe(1);
      expect(await recordsOf('freezeAccount', id)).toHaveLength(1);
      await button(dialogOf(page), 'Close').click();
      tom.expectLostConnections();
    },
    TIMEOUT_MS,
  );

  it(
    'of another operator is shown after the stream was interrupted',
    async () => {
      const { page, context } = tom;
      const { account } = await createFundedCustomer(consoleFixture.app);
      await tom.go(pathOf('accounts', account.id));
      await waitForTitle(page, 'Account');
      await page.getByText('Live', { exact: true }).waitFor();
      await interrupt(tom);
      const body = { reason: 'Made while the browser was offline' };
      const path = `/accounts/${account.id}/freeze`;
      ok(await consoleFixture.client.call('POST', path, { body }), 200);
      await context.setOffline(false);
      await page.getByText('Live', { exact: true }).waitFor();
      await page.getByText(body.reason).waitFor();
      tom.expectLostConnections();
    },
    TIMEOUT_MS,
  );

  it(
    'is continued after a new sign-in when the session expires during the input',
    async () => {
      const { page, id, submit } = await openFreezeForm('Typed before the session expired');
      const { data } = ok(
        await consoleFixture.client.call('GET', '/operator-sessions?limit=100'),
        200,
      );
      const ownSession = data.find(
        (session: { operatorUserId: string; status: string }) =>
          session.operatorUserId === tom.id && session.status === 'ACTIVE',
      );
      ok(await consoleFixture.client.call('DELETE', `/operator-sessions/${ownSession.id}`), 200);
      const endedDialog = page.getByRole('alertdialog', { name: 'Your session has ended' });
      await endedDialog.waitFor();
      const whenTabOpened = tom.context.waitForEvent('page');
      await endedDialog.getByRole('link', { name: 'Sign in' }).click();
      await tom.signInOn(await whenTabOpened);
      await endedDialog.waitFor({ state: 'detached' });
      const reason = dialogOf(page).getByLabel('Reason');
      expect(await reason.inputValue()).toBe('Typed before the session expired');
      await submit.click();
      await dialogOf(page).getByRole('status').getByText('Frozen').waitFor();
      expect(await recordsOf('freezeAccount', id)).toHaveLength(1);
      await button(dialogOf(page), 'Close').click();
      await (await whenTabOpened).close();
      tom.expectRejections(401);
    },
    TIMEOUT_MS,
  );

  it(
    'is sent once by a double click',
    async () => {
      const { page, id, submit } = await openFreezeForm('Pressed twice');
      const requests = requestsTo(page, '/freeze');
      await submit.dblclick();
      await dialogOf(page).getByRole('status').getByText('Frozen').waitFor();
      expect(requests).toHaveLength(1);
      expect(await recordsOf('freezeAccount', id)).toHaveLength(1);
      await button(dialogOf(page), 'Close').click();
    },
    TIMEOUT_MS,
  );

  it(
    'that is invalid or rejected keeps the form and shows the error',
    async () => {
      const { page } = tom;
      const { account } = await createFundedCustomer(consoleFixture.app);
      await tom.go(pathOf('accounts', account.id));
      await button(page, 'Freeze').click();
      await button(dialogOf(page), 'Freeze').click();
      await dialogOf(page).getByText('This field is required.').waitFor();
      await page.keyboard.press('Escape');
      await dialogOf(page).waitFor({ state: 'detached' });
      // The focus returns to the button that opened the form.
      await button(page, 'Freeze').and(page.locator(':focus')).waitFor();
      await button(page, 'Freeze').click();
      // Another operator freezes the account first.
      const body = { reason: 'Faster' };
      ok(await consoleFixture.client.call('POST', `/accounts/${account.id}/freeze`, { body }), 200);
      await dialogOf(page).getByLabel('Reason').fill('Slower');
      await button(dialogOf(page), 'Freeze').click();
      await dialogOf(page)
        .getByRole('alert')
        .getByText(/Request ID/)
        .waitFor();
      await button(dialogOf(page), 'Cancel').click();
      tom.expectRejections(409);
    },
    TIMEOUT_MS,
  );

  it('violates no content security policy and logs no unexpected error', () => {
    expect(consoleFixture.problems()).toEqual([]);
  });
});
