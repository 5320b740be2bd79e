// Providers in the console. An operator adds and checks a provider, adds its routes, and pauses it
// with approval. The console explains the choice of a route, filters messages, and shows
// differences.
import { text as textOf } from 'node:stream/consumers';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../kit/app/fixtures.ts';
import { type Adapter, addProvider, startAdapter } from '../kit/providers/adapter.ts';
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
import { BANK, fillProvider } from './provider-data.ts';

/** HTML that a provider offers as a currency. */
const HTML_CURRENCY = '<img src=x onerror="top.hasRun=true">';

describe.runIf(isTestable)('in the console', () => {
  const consoleFixture = consoleForFile();
  let adapter: Adapter;
  let tom: Operator;
  let page: Page;
  beforeAll(async () => {
    await fillProvider(consoleFixture);
    adapter = await startAdapter(consoleFixture.app);
    tom = await consoleFixture.operator('Tom Treasury', 'treasury');
    await tom.signIn('/providers');
    page = tom.page;
  }, TIMEOUT_MS);
  afterAll(() => adapter?.close());

  const region = (name: string) => page.getByRole('region', { name, exact: true });
  const field = (name: string) => dialogOf(page).getByLabel(name, { exact: true });

  async function send(name: string): Promise<void> {
    await button(dialogOf(page), name).click();
    await dialogOf(page).getByRole('status').waitFor();
  }

  async function close(label = 'Close'): Promise<void> {
    await button(dialogOf(page), label).click();
    await dialogOf(page).waitFor({ state: 'detached' });
  }

  const openProvider = async (name: string) => {
    await tom.go(`/providers/${name}`);
    await waitForTitle(page, 'Provider');
    await page.locator('.figure', { hasText: name }).waitFor();
  };

  it(
    'treasury adds a provider, and each invalid field has its reason',
    async () => {
      await waitForTitle(page, 'Providers');
      await rowOf(page, BANK).getByText('Payouts, Refunds').waitFor();
      await button(page, 'Add provider').click();
      await button(dialogOf(page), 'Add provider').click();
      await expect.poll(() => dialogOf(page).getByText('This field is required.').count()).toBe(4);
      await field('Provider').fill('euro-bank');
      await field('Environment').selectOption('production');
      await field('URL').fill('ftp://bank.example');
      await field('Public key (PEM)').fill('no key');
      await button(dialogOf(page), 'Add provider').click();
      await dialogOf(page).getByText('must be an http or https URL without a query').waitFor();
      expect(await dialogOf(page).locator('.field-error').count()).toBe(2);
      tom.expectRejections(400);
      await field('URL').fill(adapter.url);
      await field('Public key (PEM)').fill(adapter.publicKeyPem);
      await dialogOf(page).getByLabel('Private address allowed').selectOption('true');
      await send('Add provider');
      await close('Continue');
      await page.locator('.figure', { hasText: 'euro-bank' }).waitFor();
      await page
        .getByText('This provider receives no transfers until a check has read its offers.')
        .waitFor();
      await region('Keys of Railhead').getByText('Signs calls', { exact: true }).waitFor();
      await region('Address for messages of this provider')
        .getByText(`${consoleFixture.origin}/connectors/euro-bank`)
        .waitFor();
      const path = '/audit-records?operationId=createProvider';
      const { data } = ok(await consoleFixture.client.call('GET', path), 200);
      expect(data[0]).toMatchObject({ actor: { name: tom.name }, outcome: 'SUCCEEDED' });
    },
    TIMEOUT_MS,
  );

  it(
    'a check shows the offers of the provider as sentences, with HTML as text',
    async () => {
      await openProvider('euro-bank');
      const { ownKeys } = ok(await consoleFixture.client.call('GET', '/providers/euro-bank'), 200);
      adapter.accept(ownKeys);
      const transfers = [
        { kinds: ['payout'], rails: ['SEPA'], currencies: ['EUR', HTML_CURRENCY] },
      ];
      const offer = { protocol: '1', transfers, services: ['sms'] };
      adapter.replies['/capabilities'] = () => ({ body: offer });
      await button(page, 'Check').click();
      await send('Check');
      await close();
      const offers = region('Offers').getByRole('listitem');
      await expect
        .poll(() => offers.allTextContents())
        .toEqual([
          `Payouts in EUR and ${HTML_CURRENCY} over SEPA.`,
          'Transfers cannot be canceled.',
          'Sends text messages.',
        ]);
      expect(await page.locator('main img').count()).toBe(0);
      expect(await page.evaluate('window.hasRun === true')).toBe(false);
      await page
        .getByText('This provider receives the transfers for which a route selects it.')
        .waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'routes are added, explained for a transfer, filtered and deleted',
    async () => {
      await openProvider('euro-bank');
      await button(region('Routes'), 'Add route').click();
      await field('Priority').fill('7');
      await dialogOf(page).getByLabel('Currency').fill('EUR');
      await dialogOf(page).getByLabel('Largest amount').fill('50.00');
      await send('Add route');
      await close();
      await rowOf(region('Routes'), 'All transfers in EUR, up to 50.00 EUR').waitFor();

      await tom.go('/provider-choice');
      await waitForTitle(page, 'Explain routing');
      const form = region('Transfer');
      await form.getByLabel('Platform', { exact: true }).fill(consoleFixture.platform.id);
      await form.getByLabel('Currency', { exact: true }).fill('eur');
      await button(form, 'Explain').click();
      await form.getByText('This field is required.').waitFor();
      expect(await form.getByLabel('Environment', { exact: true }).inputValue()).toBe('production');
      await form.getByLabel('Amount', { exact: true }).fill('20');
      await button(form, 'Explain').click();
      const result = region('Result');
      await result.getByText('euro-bank would execute this transfer.').waitFor();
      const verdicts = async () => (await result.getByRole('listitem').allInnerTexts()).join('\n');
      expect(await verdicts()).toContain('Applies to other transfers: e-mails.');
      await form.getByLabel('Amount', { exact: true }).fill('80');
      await button(form, 'Explain').click();
      await result.getByText(`${BANK} would execute this transfer.`).waitFor();
      expect(await verdicts()).toContain('Applies to other transfers: those up to 50.00 EUR.');

      await tom.go('/provider-routes');
      await waitForTitle(page, 'Provider routes');
      await rowOf(page, 'E-mails').waitFor();
      await page.getByLabel('For', { exact: true }).selectOption('transfers');
      await expect.poll(() => rowOf(page, 'E-mails').count()).toBe(0);
      await button(page, 'Add route').click();
      await field('Environment').selectOption('production');
      await field('Provider').selectOption({ label: 'Built-in rail' });
      await field('Priority').fill('9999');
      await send('Add route');
      await close();
      await rowOf(page, '9,999').getByText('Built-in rail').waitFor();
      await rowOf(page, '9,999')
        .getByRole('button', { name: /^Delete/ })
        .click();
      await dialogOf(page).getByText('Transfers that were sent keep their provider.').waitFor();
      await send('Delete');
      await close();
      await expect.poll(() => rowOf(page, '9,999').count()).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    'changed terms are shown as sentences, and a payment names its provider',
    async () => {
      await openProvider('euro-bank');
      await region('Limits and times').getByText('No limits').waitFor();
      await button(page, 'Change terms').click();
      await dialogOf(page).getByLabel('Window minutes').selectOption('60');
      await dialogOf(page).getByLabel('Minimum').fill('20');
      await dialogOf(page).getByLabel('Error percent').fill('50');
      await button(dialogOf(page), 'Add to limits').click();
      await dialogOf(page).getByLabel('Currency').fill('EUR');
      await dialogOf(page).getByLabel('Per transfer').fill('5000.50');
      await dialogOf(page).getByText('Amount in EUR · 500050 minor units of EUR').waitFor();
      await send('Change terms');
      await dialogOf(page).getByText('5,000.50 EUR').waitFor();
      await close();
      const { terms } = ok(await consoleFixture.client.call('GET', '/providers/euro-bank'), 200);
      expect(terms.limits).toEqual([{ currency: 'EUR', perTransfer: 5_000_50 }]);
      await region('Limits and times')
        .getByText('At most 5,000.50 EUR for each transfer.')
        .waitFor();
      await region('Limits and times')
        .getByText('if more than 50 % of at least 20 calls within 1 hour fail.')
        .waitFor();
      await region('Health').getByRole('row').filter({ hasText: '1 hour' }).waitFor();
      const { data } = ok(
        await consoleFixture.client.call(
          'GET',
          `/provider-messages?providerId=${BANK}&result=APPLIED`,
        ),
        200,
      );
      await tom.go(`/payments/${encodeURIComponent(data[0].transactionId)}`);
      await waitForTitle(page, 'Payment');
      await region('Provider').getByText(`${BANK}, by the route with priority 10`).waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'changed settings apply to the days and fees of a provider',
    async () => {
      await openProvider('euro-bank');
      const panel = region('Statements');
      await panel
        .getByText('Days of this provider end at midnight in the time zone UTC.')
        .waitFor();
      await button(panel, 'Change').click();
      await dialogOf(page).getByLabel('Time zone').fill('Europe/Atlantis');
      await button(dialogOf(page), 'Change').click();
      await dialogOf(page)
        .getByText('must be an IANA time zone, such as Europe/Berlin', { exact: true })
        .waitFor();
      tom.expectRejections(400);
      await dialogOf(page).getByLabel('Time zone').fill('Europe/Berlin');
      await dialogOf(page).getByLabel('Fees expected').selectOption('true');
      await send('Change');
      await close();
      await panel
        .getByText('Days of this provider end at midnight in the time zone Europe/Berlin.')
        .waitFor();
      await panel.getByText('Fees of this provider are posted as expenses immediately.').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'providers and routes are exported as a file, compared and imported',
    async () => {
      await tom.go('/provider-file');
      await waitForTitle(page, 'Import and export');
      const download = page.waitForEvent('download');
      await button(page, 'Export file').click();
      const stream = await (await download).createReadStream();
      const file = JSON.parse(await textOf(stream));
      const choose = (content: object | string) =>
        page.getByLabel('File', { exact: true }).setInputFiles({
          ...{ name: 'providers.json', mimeType: 'application/json' },
          buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
        });
      await choose(file);
      await page.getByText('The file contains no changes.').waitFor();
      await choose('no JSON');
      await page.getByText('The input is not valid JSON.').waitFor();
      const [route] = file.routes;
      await choose({ routes: [{ ...route, priority: 0 }] });
      await page.getByRole('listitem').filter({ hasText: 'routes.0.priority' }).waitFor();
      tom.expectRejections(400);
      await choose({ routes: [...file.routes, { ...route, priority: 8_000 }] });
      await page.getByText('1 change of providers, keys and routes:').waitFor();
      await page.getByText('priority=8000', { exact: false }).waitFor();
      const { data: routesBefore } = ok(
        await consoleFixture.client.call('GET', '/provider-routes'),
        200,
      );
      await button(page, 'Import file').click();
      await dialogOf(page).getByLabel('Reason').fill('New bank');
      await send('Import file');
      await close();
      const { data: routesAfter } = ok(
        await consoleFixture.client.call('GET', '/provider-routes'),
        200,
      );
      expect(routesAfter.length).toBe(routesBefore.length + 1);
      expect(routesAfter.some((route: { priority: number }) => route.priority === 8_000)).toBe(
        true,
      );
    },
    TIMEOUT_MS,
  );

  it(
    'a pause needs approval, and the page of the provider shows the pending request',
    async () => {
      const policy = { operationId: 'pauseProvider', hours: 24, reason: 'Four eyes' };
      ok(await consoleFixture.client.call('POST', '/approval-policies', { body: policy }), 201);
      await openProvider('euro-bank');
      await button(page, 'Pause').click();
      await dialogOf(page).getByText('1 route selects this provider.').waitFor();
      await dialogOf(page).getByLabel('Reason').fill('Outage');
      await send('Pause');
      await dialogOf(page).getByText('needs the approval of another operator').waitFor();
      await close();
      await page.getByRole('link', { name: 'Pause: pending approval' }).waitFor();
      await page.getByRole('status').filter({ hasText: 'Pause a provider' }).waitFor();
      const { data } = ok(
        await consoleFixture.client.call('GET', '/approvals?subject=euro-bank'),
        200,
      );
      ok(
        await consoleFixture.client.call('POST', `/approvals/${data[0].id}/approve`, {
          body: { reason: 'Agreed' },
        }),
        200,
      );
      await page
        .getByText('This provider is paused and receives no new transfers.', { exact: false })
        .waitFor();
      await button(page, 'Resume').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'the return of a settled payout is requested once from a provider that offers it',
    async () => {
      const recallAdapter = await startAdapter(consoleFixture.app);
      const offer = recallAdapter.replies['/capabilities']?.({})?.body as object;
      recallAdapter.replies['/capabilities'] = () => ({ body: { ...offer, recall: true } });
      recallAdapter.replies['/transfers/recall'] = () => ({ body: { state: 'requested' } });
      const providerId = 'recall-bank';
      const write = async (path: string, body?: object) => {
        const reply = await consoleFixture.client.call('POST', path, { body });
        return ok(reply, reply.status === 201 ? 201 : 200);
      };
      await addProvider((_, path, body) => write(path, body), recallAdapter, providerId);
      await write(`/providers/${providerId}/check`);
      await write('/provider-routes', { providerId, environment: 'production', priority: 1 });
      const { id } = await consoleFixture.createPayment();
      await tom.go(`/payments/${encodeURIComponent(id)}`);
      await waitForTitle(page, 'Payment');
      await page.getByText(providerId).first().waitFor();
      expect(await button(page, 'Request return').count()).toBe(0);
      const transfer = { state: 'settled', reference: 'BANK-9' };
      await recallAdapter.send(providerId, { type: 'transfer.updated', transferId: id, transfer });
      await button(page, 'Request return').click();
      await field('Cause').selectOption('DUPLICATE');
      await send('Request return');
      await close();
      await expect.poll(() => button(page, 'Request return').count()).toBe(0);
      await consoleFixture.app.settle();
      expect(recallAdapter.calls).toContain('/transfers/recall');
      const path = '/audit-records?operationId=recallTransfer';
      const { data } = ok(await consoleFixture.client.call('GET', path), 200);
      expect(data[0]).toMatchObject({ actor: { name: tom.name }, outcome: 'SUCCEEDED' });
      const vera = await consoleFixture.operator('Vera Viewer', 'viewer');
      await vera.signIn(`/payments/${encodeURIComponent(id)}`);
      await waitForTitle(vera.page, 'Payment');
      expect(await button(vera.page, 'Request return').count()).toBe(0);
      await recallAdapter.close();
    },
    TIMEOUT_MS,
  );

  it(
    'messages are filtered by provider and result',
    async () => {
      await tom.go('/provider-messages');
      await waitForTitle(page, 'Provider messages');
      await rowOf(page, 'transfer.updated').getByText('Applied').waitFor();
      await page.getByLabel('Result', { exact: true }).selectOption('CONTRADICTORY');
      await rowOf(page, 'Payment reference not found.').getByText('deposit.received').waitFor();
      await expect.poll(() => rowOf(page, 'transfer.updated').count()).toBe(0);
      await page.getByLabel('Provider', { exact: true }).selectOption('euro-bank');
      await page.getByText('No entries match these filters.').waitFor();
    },
    TIMEOUT_MS,
  );

  it(
    'a difference between a statement and the ledger is assigned and decided',
    async () => {
      await tom.go('/differences');
      await waitForTitle(page, 'Reconciliation');
      await rowOf(page, 'Missing in the ledger').getByRole('link').first().click();
      await waitForTitle(page, 'Difference');
      await button(page, 'Assign to me').click();
      await send('Assign to me');
      await close();
      await expect.poll(() => button(page, 'Assign to me').count()).toBe(0);
      await button(page, 'Record fee').click();
      await dialogOf(page).getByText('The amount is posted as an expense.').waitFor();
      await dialogOf(page).getByLabel('Reason').fill('Monthly fee');
      await send('Record fee');
      await close();
      await page.locator('.screen-head').getByText('Decided').waitFor();
      await region('Decision').getByText('Monthly fee').waitFor();
    },
    TIMEOUT_MS,
  );

  it('the pages violate no content security policy and log no error', () => {
    expect(consoleFixture.problems()).toEqual([]);
  });
});
