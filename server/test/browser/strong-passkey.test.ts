// A passkey as second factor on a platform's page. API replies and Chromium's output are passed on unchanged.
// A production platform is used, because it verifies every part of the passkey. The page has the origin that
// the platform has configured.
import type { CDPSession } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { receiveFunds } from '../../src/features/payments/quotes/index.ts';
import { findInternalAccount, ok, quoteBody } from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import { createEuropeanCustomer } from '../kit/customers/contacts.ts';
import { factorFixture, setPasskeySite } from '../kit/sca/factors.ts';
import { loginFixture } from '../kit/sca/login.ts';
import { ADDRESS, authorize, execute } from '../kit/sca/strong-customers.ts';
import { browserPath, launch, type Visit, visit } from './browser.ts';

const TIMEOUT_MS = 60_000;

const ORIGIN = 'https://pay.shop.example.com';
const SITE = { rpId: 'shop.example.com', origins: [ORIGIN] };
/** An origin that the browser permits for the same passkeys and the platform rejects. */
const OTHER_ORIGIN = 'https://blog.shop.example.com';

const PAGE = `<!doctype html><title>Shop</title><script>
  const { credentials } = navigator;
  async function register(options) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(options);
    return (await credentials.create({ publicKey })).toJSON();
  }
  async function prove(options) {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(options);
    return (await credentials.get({ publicKey })).toJSON();
  }
</script>`;

const app = testApp();
let browser: Awaited<ReturnType<typeof launch>>;
let shopVisit: Visit;
let cdp: CDPSession;
let authenticatorId: string;
const productionOptions = () => ({ platform: app.production });

/** Opens the site, whose hosts all serve its page, with a device that verifies its user. */
async function openShop(): Promise<void> {
  shopVisit = await visit(browser, 'phone', ORIGIN);
  await shopVisit.context.route(/^https:\/\/\w+\.shop\.example\.com\/$/, (route) =>
    route.fulfill({ contentType: 'text/html', body: PAGE }),
  );
  cdp = await shopVisit.context.newCDPSession(shopVisit.page);
  await cdp.send('WebAuthn.enable');
  ({ authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  }));
  await shopVisit.page.goto(`${ORIGIN}/`);
}

const callInPage = (name: 'register' | 'prove', options: object): Promise<object> =>
  shopVisit.page.evaluate(`${name}(${JSON.stringify(options)})`) as Promise<object>;

/** An approved customer with a passkey of the page's device, and the created factor. */
async function createCustomerWithPasskey() {
  const person = await createEuropeanCustomer(app, productionOptions());
  await app.runtime.db.query(
    `update customers set status = 'APPROVED', version = version + 1 where id = $1`,
    [person.id],
  );
  const fixture = factorFixture(app, productionOptions());
  const enrollment = ok(await fixture.startEnrollment(person.id, 'PASSKEY'), 200);
  expect(enrollment.allowedOrigins).toEqual(SITE.origins);
  const credential = await callInPage('register', enrollment.options);
  const body = { type: 'PASSKEY', origin: ORIGIN, credential };
  const { factor } = ok(await fixture.confirmEnrollment(person.id, body), 200);
  expect(await fixture.readFactors(person.id)).toEqual(['PASSKEY']);
  return { id: person.id as string, factor };
}

/** Starts a login and submits the page's assertion. */
async function logIn(id: string): Promise<ApiResponse> {
  const fixture = loginFixture(app, productionOptions());
  const { passkeyOptions } = ok(await fixture.start(id, 'PASSKEY'), 200);
  const passkeyAssertion = await callInPage('prove', passkeyOptions);
  return fixture.complete(id, { factor: 'PASSKEY', passkeyAssertion, origin: ORIGIN });
}

/** Payouts of a hundred euros each that require authorization. */
async function createWaitingQuotes(
  customerId: string,
  count: number,
): Promise<ApiResponse['body'][]> {
  const account = await findInternalAccount(app, customerId, 'EUR', productionOptions());
  const deposit = { accountId: account.id, currency: 'EUR', amount: 1_000_00n };
  await app.operate((ctx) => receiveFunds(ctx, deposit), app.production);
  const beneficiary = { beneficiaryType: 'INDIVIDUAL', fullName: 'Grace Hopper' };
  const accountInfo = {
    ...{ accountType: 'EUR_ACCOUNT', iban: 'DE89370400440532013000' },
    beneficiary: { ...beneficiary, countryOfResidence: 'DE' },
  };
  const payee = { customerId, currency: 'EUR', accountInfo };
  const target = ok(
    await app.call('POST', '/customers/external-accounts', payee, productionOptions()),
    201,
  );
  const quotes: ApiResponse['body'][] = [];
  for (let index = 0; index < count; index++) {
    const body = quoteBody(account.id, target.id, 100_00);
    const { id } = ok(await app.call('POST', '/quotes', body, productionOptions()), 201);
    quotes.push(ok(await execute(app, id, { scaFactor: 'PASSKEY' }, productionOptions()), 200));
  }
  return quotes;
}

const assertionOptionsOf = ({ scaChallenge }: ApiResponse['body']) =>
  scaChallenge.passkeyAssertionOptions;

const submitAssertion = (quoteId: string, passkeyAssertion: object) =>
  authorize(
    app,
    quoteId,
    { passkeyAssertion, origin: ORIGIN, endUserIpAddress: ADDRESS },
    productionOptions(),
  );

/** Expects the rejection of an incorrect proof. */
const expectIncorrectProof = ({ status, body }: ApiResponse) =>
  expect([status, body.reason]).toEqual([400, 'passkeyAssertion: is incorrect']);

describe.runIf(browserPath)('a passkey of a browser as second factor', () => {
  beforeAll(async () => {
    await setPasskeySite(app, app.production, SITE);
    browser = await launch();
    await openShop();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
  });

  it(
    'is enrolled, logs in and authorizes only the payment that it signed',
    async () => {
      const { id, factor } = await createCustomerWithPasskey();
      expect(factor.credentialId).toMatch(/^ScaFactor:/);
      expect(ok(await logIn(id), 200).status).toBe('SUCCESS');

      const [firstQuote, secondQuote] = await createWaitingQuotes(id, 2);
      const assertion = await callInPage('prove', assertionOptionsOf(firstQuote));
      expectIncorrectProof(await submitAssertion(secondQuote.id, assertion));
      expect(ok(await submitAssertion(firstQuote.id, assertion), 200).status).toBe('PROCESSING');
      expect((await submitAssertion(firstQuote.id, assertion)).status).toBe(409);
      const otherAssertion = await callInPage('prove', assertionOptionsOf(secondQuote));
      expect(ok(await submitAssertion(secondQuote.id, otherAssertion), 200).status).toBe(
        'PROCESSING',
      );
      expect(shopVisit.problems).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    'is rejected at another host of the site, although the browser permits it there',
    async () => {
      const { id } = await createCustomerWithPasskey();
      await shopVisit.page.goto(`${OTHER_ORIGIN}/`);
      expectIncorrectProof(await logIn(id));
      await shopVisit.page.goto(`${ORIGIN}/`);
      ok(await logIn(id), 200);
    },
    TIMEOUT_MS,
  );

  it(
    'is rejected by a browser whose device does not verify its user',
    async () => {
      const { id } = await createCustomerWithPasskey();
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
      await expect(logIn(id)).rejects.toThrow('NotAllowedError');
    },
    TIMEOUT_MS,
  );
});
