// Every hosted page and its states in phone and desktop width, in light and dark colors. axe finds no
// violation. Each page has the platform's brand and no horizontal scrolling. A logo that fails to load leaves
// the page usable.
import { createServer, type Server } from 'node:http';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platforms } from '../../src/features/tenancy/platform/store.ts';
import { createCustomer, ok } from '../kit/app/fixtures.ts';
import type { TestPlatform } from '../kit/app/harness.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { cardFixture } from '../kit/cards/cards.ts';
import { nextSecret, startOwnership } from '../kit/customers/ownership.ts';
import { documentForm, pdfFile } from '../kit/http/documents.ts';
import { createPhoneVerifiedCustomer } from '../kit/sca/strong-customers.ts';
import { evmWallet } from '../kit/wallets/chain-wallets.ts';
import { browserPath, launch, SIZES, type Size } from './browser.ts';
import {
  COMPLETE_DATA,
  inspect,
  press,
  TIMEOUT_MS,
  title,
  WITHOUT_DATA,
} from './verification-fixture.ts';

const LOGO = `<svg xmlns="http://www.w3.org/2000/svg" width="340" height="124" viewBox="0 0 340 124">
  <rect width="340" height="124" rx="24" fill="#0f766e"/>
  <path d="M40 92V32l64 60V32" stroke="#fff" stroke-width="14" fill="none"/></svg>`;

interface LogoSite {
  server: Server;
  origin: string;
  referrers: (string | undefined)[];
}

async function openLogoSite(): Promise<LogoSite> {
  const referrers: (string | undefined)[] = [];
  const server = createServer(({ url, headers }, response) => {
    referrers.push(headers.referer);
    if (url !== '/logo.svg') return response.writeHead(404).end();
    return response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(LOGO);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return { server, origin: `http://127.0.0.1:${port}`, referrers };
}

const ownership = openForFile(startOwnership);
let logoSite: LogoSite;
let browser: Awaited<ReturnType<typeof launch>>;
let cardId: string;

async function setBrand(platform: TestPlatform, logo: string, color: string | null = null) {
  await ownership.app.operate(async (ctx) => {
    const row = await ctx.read(platforms, platform.id);
    const wallet_config = { logoUrl: `${logoSite.origin}${logo}` };
    if (row) ctx.update(platforms, row, { name: 'Northwind', wallet_config, brand_color: color });
  }, platform);
}

const createKycLink = async (id: string): Promise<string> =>
  ok(
    await ownership.app.call(
      'POST',
      `/customers/${id}/kyc-link`,
      {},
      { platform: ownership.app.unregulated },
    ),
    201,
  ).kycUrl;

const createPerson = (fields: object) =>
  createCustomer(
    ownership.app,
    { platform: ownership.app.unregulated },
    { ...WITHOUT_DATA, ...fields },
  );

async function upload(documentHolder: string) {
  const documentFields = { documentType: 'PASSPORT', country: 'US', documentNumber: 'P1' };
  const form = documentForm(
    { documentHolder, ...documentFields, issuingAuthority: 'State Department' },
    { bytes: pdfFile() },
  );
  ok(
    await ownership.app.call('POST', '/documents', form, { platform: ownership.app.unregulated }),
    201,
  );
}

async function createOwnershipLink(): Promise<string> {
  const { id } = await ownership.add('ETHEREUM_WALLET', evmWallet(nextSecret()).address);
  return ok(await ownership.challenge(id, 'LIVENESS'), 201).verificationLink;
}

async function createResetLink(): Promise<string> {
  const { id } = await createPhoneVerifiedCustomer(ownership.app);
  const path = `/sca/factors/reset?customerId=${id}`;
  return ok(await ownership.app.call('POST', path, { factor: 'SMS_OTP' }), 201).verificationLink;
}

async function createInvitationLink(): Promise<string> {
  const { umaAddress: inviterUma } = await createCustomer(ownership.app);
  const expiresAt = new Date(ownership.app.effects.now() + 86_400_000).toISOString();
  const body = { inviterUma, firstName: 'Grace', amountToSend: 125_000, expiresAt };
  return ok(await ownership.app.call('POST', '/invitations', body), 201).url;
}

const createCardLink = async (): Promise<string> =>
  ok(await ownership.app.call('POST', `/cards/${cardId}/reveal`), 200).panEmbedUrl;

type Theme = 'light' | 'dark';
/** Colors are independent of the size. The combinations cover both sizes and both color schemes. */
const VIEWS = [
  ['phone', 'dark'],
  ['desktop', 'light'],
] as const;

async function openPage(size: Size, colorScheme: Theme) {
  const context = await browser.newContext({
    ...SIZES[size],
    colorScheme,
    reducedMotion: 'reduce',
  });
  const page = await context.newPage();
  const { width } = SIZES[size].viewport;
  return {
    page,
    inspectState: (name: string) => inspect(page, `${name}-${width}-${colorScheme}`),
    close: () => context.close(),
  };
}

const expectBrand = async (page: Page) => {
  await page.locator('header .platform', { hasText: 'Northwind' }).waitFor();
  await page.getByText('test data only').waitFor();
};

const readLogoWidth = (page: Page): Promise<number> =>
  page.evaluate("document.querySelector('.logo').getBoundingClientRect().width");

describe.runIf(browserPath)('hosted pages', () => {
  beforeAll(async () => {
    await ownership.app.app.server.listen({ port: 0, host: '127.0.0.1' });
    logoSite = await openLogoSite();
    for (const platform of [ownership.app.platform, ownership.platform, ownership.app.unregulated])
      await setBrand(platform, '/logo.svg', '#0f766e');
    const fixture = cardFixture(ownership.app);
    ({ id: cardId } = await fixture.createCard(await fixture.createCardholder()));
    browser = await launch();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    logoSite?.server.close();
  });

  it.each(VIEWS)(
    'confirm that a wallet belongs to a customer (%s, %s)',
    async (size, theme) => {
      const { page, inspectState, close } = await openPage(size, theme);
      await page.goto(await createOwnershipLink());
      await title(page, 'Is this wallet yours?');
      await expectBrand(page);
      expect(await readLogoWidth(page)).toBeGreaterThan(50);
      await inspectState('ownership');
      await page.getByRole('link', { name: 'This is not my wallet' }).click();
      await title(page, 'Wallet not confirmed');
      await inspectState('ownership-declined');
      await page.getByRole('link', { name: 'Back' }).click();
      await press(page, 'Confirm wallet');
      await title(page, 'Wallet confirmed');
      await inspectState('ownership-confirmed');
      await page.reload();
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(VIEWS)(
    'confirm the identity for the reset of a factor (%s, %s)',
    async (size, theme) => {
      const { page, inspectState, close } = await openPage(size, theme);
      await page.goto(await createResetLink());
      await title(page, 'Confirm that it is you');
      await expectBrand(page);
      await inspectState('reset');
      await press(page, 'Confirm identity');
      await title(page, 'Identity confirmed');
      await inspectState('reset-confirmed');
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(VIEWS)(
    'show an invitation (%s, %s)',
    async (size, theme) => {
      const { page, inspectState, close } = await openPage(size, theme);
      const link = await createInvitationLink();
      await page.goto(link);
      await title(page, 'You are invited, Grace');
      await expectBrand(page);
      await inspectState('invitation');
      await ownership.app.call('POST', `/invitations/${link.split('/').at(-1)}/cancel`);
      await page.reload();
      await title(page, 'This invitation was canceled');
      await inspectState('invitation-cancelled');
      await page.goto(link.replace(/[^/]+$/, '00000000'));
      await title(page, 'Invitation not found');
      await inspectState('invitation-unknown');
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(VIEWS)(
    'show a card (%s, %s)',
    async (size, theme) => {
      const { page, inspectState, close } = await openPage(size, theme);
      const link = await createCardLink();
      await page.goto(link);
      await title(page, 'Your card');
      await expectBrand(page);
      await page.getByText(/^Hidden in [45]:\d\d$/).waitFor();
      await inspectState('card');
      await page.reload();
      await title(page, 'This link no longer works');
      await expectBrand(page);
      await inspectState('link-ended');
      await close();
    },
    TIMEOUT_MS,
  );

  it.each(VIEWS)(
    'verify a person (%s, %s)',
    async (size, theme) => {
      const { page, inspectState, close } = await openPage(size, theme);
      const { id } = await createPerson({ ...COMPLETE_DATA, birthDate: undefined });
      const links = [await createKycLink(id), await createKycLink(id)] as const;
      await page.goto(links[0]);
      await title(page, 'Verify your identity');
      await expectBrand(page);
      await inspectState('verify-start');
      await press(page, 'Start');
      await title(page, 'About you');
      await inspectState('verify-step');
      await press(page, 'Continue');
      await page.getByRole('alert').waitFor();
      expect(await page.title()).toMatch(/^Error: About you – Northwind$/);
      await inspectState('verify-error');
      await page.getByLabel('Date of birth').fill('1990-01-15');
      await press(page, 'Continue');
      await title(page, 'Documents');
      await inspectState('verify-documents');
      await upload(id);
      await page.reload();
      await press(page, 'Continue');
      await title(page, 'Review and submit');
      await inspectState('verify-review');
      await press(page, 'Submit');
      await title(page, 'You are verified');
      await inspectState('verify-done');
      await page.goto(links[1]);
      await title(page, 'No action is needed');
      await inspectState('verify-no-action');
      await page.goto(links[0]);
      await title(page, 'This link no longer works');
      await expectBrand(page);
      await inspectState('verify-ended');
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'load the logo without a referrer, and work without the logo',
    async () => {
      expect(logoSite.referrers.length).toBeGreaterThan(0);
      expect(logoSite.referrers.filter((referrer) => referrer !== undefined)).toEqual([]);
      await setBrand(ownership.platform, '/missing.png');
      const { page, inspectState, close } = await openPage('phone', 'light');
      await page.goto(await createOwnershipLink());
      await title(page, 'Is this wallet yours?');
      await expectBrand(page);
      expect(await readLogoWidth(page)).toBe(0);
      await inspectState('ownership-without-logo');
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'fit a window of 195 pixels, as at 200 % zoom of a phone',
    async () => {
      const { page, close } = await openPage('phone', 'light');
      await page.setViewportSize({ width: 195, height: 422 });
      for (const link of [
        await createOwnershipLink(),
        await createInvitationLink(),
        await createCardLink(),
      ]) {
        await page.goto(link);
        await inspect(page, 'narrow');
      }
      await close();
    },
    TIMEOUT_MS,
  );
});
