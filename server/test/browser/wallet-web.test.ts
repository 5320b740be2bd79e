// The web wallet example, started as in its README and used in a browser with a passkey device. The
// page works in both sizes. The backend relays only permitted requests.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { validateMnemonic } from '@scure/bip39';
import { wordlist } from '@scure/bip39/wordlists/english.js';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BASE_PATH } from '../../src/http/server.ts';
import { ok, readBalances } from '../kit/app/fixtures.ts';
import type { ApiResponse } from '../kit/app/harness.ts';
import { testApp } from '../kit/app/test-app.ts';
import {
  CODE,
  encryptOtp,
  generateKeys,
  signedHeaders,
  type WalletFixture,
  walletFixture,
} from '../kit/wallets/embedded-wallets.ts';
import { browserPath, launch, type Size, type Visit, visit } from './browser.ts';
import { inspect, press, TIMEOUT_MS } from './verification-fixture.ts';

const START_SCRIPT = path.resolve(import.meta.dirname, '../../../examples/wallet-web/start.mjs');
const TICK_MS = 50;

// The browser and the example's backend use the real clock.
const app = testApp({ start: Date.now() });
let fixture: WalletFixture;
let browser: Awaited<ReturnType<typeof launch>>;
let backend: ChildProcess;
let site: string;
let isClockRunning = true;
let clockPromise: Promise<void>;

/** Sets the clock of the effects to the real time and runs due work, until the tests end. */
async function runClock() {
  for (; isClockRunning; await sleep(TICK_MS)) {
    app.effects.set(Date.now());
    await app.settle();
  }
}

/** Starts the backend. Returns the address that it prints. */
async function startBackend(): Promise<string> {
  const { port } = app.app.server.server.address() as { port: number };
  const { clientId, clientSecret } = app.platform;
  backend = spawn(process.execPath, [START_SCRIPT], {
    env: {
      PATH: process.env.PATH,
      PORT: '0',
      API_BASE_URL: `http://127.0.0.1:${port}${BASE_PATH}`,
      API_CLIENT_ID: clientId,
      API_CLIENT_SECRET: clientSecret,
      BUNDLE_KEY: app.connectorsOf('sandbox').custody?.publicKeys().bundles,
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface({ input: backend.stdout! })) {
    const [url] = /http:\S+/.exec(line) ?? [];
    if (url) return url;
  }
  throw new Error('The example does not start.');
}

async function openPage(size: Size): Promise<Visit> {
  const tab = await visit(browser, size, `${site}/`);
  const cdp = await tab.context.newCDPSession(tab.page);
  await cdp.send('WebAuthn.enable');
  await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  await tab.page.goto(site);
  return tab;
}

const waitForHeading = (page: Page, name: string) => page.getByRole('heading', { name }).waitFor();
const waitForMessage = (page: Page, expectedText: string) =>
  page.getByRole('status').filter({ hasText: expectedText }).waitFor();
const waitForBalance = (page: Page, sum: string) =>
  page.locator('#balance').getByText(sum, { exact: true }).waitFor();

async function openWallet(page: Page, email: string) {
  await waitForHeading(page, 'Sign in');
  await page.getByLabel('E-mail address').fill(email);
  await press(page, 'Continue');
  await waitForHeading(page, 'How do you want to sign in?');
}

async function enterCode(page: Page, code: string) {
  await page.getByLabel('The code that we sent you').fill(code);
  await press(page, 'Sign in');
}

async function signInByCode(page: Page, email: string) {
  await openWallet(page, email);
  await press(page, 'Send me a code');
  await enterCode(page, '000000');
  await waitForHeading(page, 'Your balance');
}

async function walletOf(email: string): Promise<string> {
  const { data } = ok(await app.call('GET', '/customers?limit=100'), 200);
  const person = data.find((customer: ApiResponse['body']) => customer.email === email);
  return (await fixture.walletOf(person.id)).id;
}

/** Every function of the example, with its effect checked on the server. */
async function useWallet({ page }: Visit, size: Size) {
  const email = `${size}@example.com`;
  const inspectState = (name: string) => inspect(page, `wallet-${size}-${name}`);
  await page.emulateMedia({ colorScheme: size === 'phone' ? 'dark' : 'light' });
  await waitForHeading(page, 'Sign in');
  await inspectState('1-welcome');
  await signInByCode(page, ` ${email} `.toUpperCase());
  const accountId = await walletOf(email);
  await press(page, 'Add 100 test USDB');
  await waitForBalance(page, '100.00');

  await page.getByLabel('Name of this device').fill("Ada's phone");
  await press(page, 'Add a passkey');
  await waitForMessage(page, 'The passkey was added.');
  await page.getByText("Passkey: Ada's phone").waitFor();
  const credentials = await fixture.credentialsOf(accountId);
  expect(credentials.map(({ type }) => type).sort()).toEqual(['EMAIL_OTP', 'PASSKEY']);
  await inspectState('2-wallet');

  await press(page, 'Sign out');
  await waitForMessage(page, 'You are signed out.');
  expect(await fixture.sessionsOf(accountId)).toEqual([]);

  await openWallet(page, email);
  await inspectState('3-methods');
  await press(page, "Passkey: Ada's phone");
  await waitForHeading(page, 'Your balance');
  expect(await fixture.sessionsOf(accountId)).toMatchObject([{ type: 'PASSKEY' }]);

  await page.getByLabel('Amount in USDB').fill('12.345678');
  await press(page, 'See the price');
  await page.getByText('12.345678 USDB').waitFor();
  await inspectState('4-offer');
  await press(page, 'Sign and send');
  await waitForMessage(page, 'The payment was sent.');
  await waitForBalance(page, '87.654322');
  expect(await readBalances(app, accountId)).toEqual({ balance: 87_654_322, total: 87_654_322 });
  const { data } = ok(await app.call('GET', `/transactions?accountIdentifier=${accountId}`), 200);
  const outgoingPayments = data.filter(({ type }: ApiResponse['body']) => type === 'OUTGOING');
  expect(outgoingPayments).toMatchObject([
    { status: 'COMPLETED', sentAmount: { amount: 12_345_678 } },
  ]);

  await press(page, 'Show the words');
  await page.locator('#words li').last().waitFor();
  const phrase = await page.locator('#words li').allTextContents();
  expect(phrase).toHaveLength(12);
  expect(validateMnemonic(phrase.join(' '), wordlist)).toBe(true);
  await inspectState('5-words');
  await press(page, 'Hide the words');
  expect(await page.locator('#words li').count()).toBe(0);
  return accountId;
}

/** Opens a session on another device and revokes it in the list. */
async function revokeOtherSession({ page }: Visit, accountId: string) {
  await fixture.openEmailSession(accountId);
  await press(page, 'Add 100 test USDB');
  await waitForBalance(page, '187.654322');
  await press(page, 'Revoke');
  await waitForMessage(page, 'The session was revoked.');
  expect(await fixture.sessionsOf(accountId)).toMatchObject([{ type: 'PASSKEY' }]);
}

interface RelayedRequest {
  body?: object;
  cookie?: string;
  headers?: Record<string, string>;
}

/** Sends a request to the backend as its page does, unless overridden. */
async function sendRelayed(
  method: string,
  route: string,
  { body, cookie = '', headers }: RelayedRequest = {},
) {
  const reply = await fetch(site + route, {
    method,
    headers: { origin: site, cookie, 'content-type': 'application/json', ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await reply.text();
  const [newCookie = cookie] = reply.headers.get('set-cookie')?.split(';') ?? [];
  return { status: reply.status, body: text ? JSON.parse(text) : undefined, cookie: newCookie };
}

/** Starts a visit without a sign-in. */
async function startVisit(email: string) {
  const { body, cookie } = await sendRelayed('POST', '/api/visit', { body: { email } });
  return { cookie, accountId: body.data[0].accountId, credential: body.data[0] };
}

/** Starts a visit and signs in. */
async function signIn(email: string) {
  const { cookie, accountId, credential } = await startVisit(email);
  const route = `/api/credentials/${credential.id}`;
  const challenge = await sendRelayed('POST', `${route}/challenge`, { cookie });
  const keys = generateKeys();
  const { otpEncryptionTargetBundle: bundle } = challenge.body;
  const encryptedOtpBundle = await encryptOtp(CODE, bundle, keys.publicKey);
  const signInRequest = { body: { type: 'EMAIL_OTP', encryptedOtpBundle }, cookie };
  const firstReply = await sendRelayed('POST', `${route}/verify`, signInRequest);
  const headers = await signedHeaders(firstReply.body, keys);
  const sessionReply = await sendRelayed('POST', `${route}/verify`, { ...signInRequest, headers });
  expect(sessionReply.status).toBe(200);
  return {
    previousCookie: cookie,
    cookie: sessionReply.cookie,
    accountId,
    session: sessionReply.body,
  };
}

const statusAndCode = ({ status, body }: { status: number; body: { code: string } }) => [
  status,
  body.code,
];

describe.runIf(browserPath)('the web wallet example', () => {
  beforeAll(async () => {
    fixture = walletFixture(app);
    await app.app.server.listen({ port: 0, host: '127.0.0.1' });
    clockPromise = runClock();
    [browser, site] = await Promise.all([launch(), startBackend()]);
  }, TIMEOUT_MS);
  afterAll(async () => {
    if (backend && backend.exitCode === null) {
      backend.kill();
      await once(backend, 'exit');
    }
    await browser?.close();
    isClockRunning = false;
    await clockPromise;
  });

  it.each(['desktop', 'phone'] as const)(
    'signs in, pays and shows the seed phrase: %s',
    async (size) => {
      const tab = await openPage(size);
      const accountId = await useWallet(tab, size);
      await revokeOtherSession(tab, accountId);
      expect(tab.problems).toEqual([]);
      await tab.close();
    },
    TIMEOUT_MS,
  );

  it(
    'shows rejections, and requires a sign-in after the session was revoked on another device',
    async () => {
      const { page, close } = await openPage('desktop');
      await openWallet(page, 'rejected@example.com');
      await press(page, 'Send me a code');
      await enterCode(page, '123456');
      await page.getByRole('alert').getByText('The one-time code is incorrect.').waitFor();
      await inspect(page, 'wallet-desktop-6-code');
      await enterCode(page, '000000');
      await waitForHeading(page, 'Your balance');

      await page.getByLabel('Amount in USDB').fill('1');
      await press(page, 'See the price');
      await press(page, 'Sign and send');
      await page
        .getByRole('alert')
        .filter({ hasText: 'balance of the account is too low' })
        .waitFor();
      await inspect(page, 'wallet-desktop-7-rejected');

      const accountId = await walletOf('rejected@example.com');
      const [pageSession] = await fixture.sessionsOf(accountId);
      const otherSession = await fixture.openEmailSession(accountId);
      const deleteResponse = await fixture.callSigned(
        'DELETE',
        `/auth/sessions/${pageSession.id}`,
        undefined,
        otherSession,
      );
      expect(deleteResponse.status).toBe(204);
      await press(page, 'Add 100 test USDB');
      await page.getByRole('alert').getByText('Please sign in again.').waitFor();
      await waitForHeading(page, 'Sign in');
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'relays only permitted requests',
    async () => {
      const { cookie, session } = await signIn('listed@example.com');
      expect((await sendRelayed('GET', '/api/account', { cookie })).status).toBe(200);
      const forbiddenRequests = [
        ['GET', '/api/customers'],
        ['GET', '/api/config'],
        ['POST', '/api/tokens'],
        ['DELETE', '/api/account'],
        ['GET', '/api/account/x'],
        ['GET', `/api/sessions/${session.id}`],
        ['POST', `/api/sessions/${session.id}/refresh`],
        ['GET', '/api/sessions/..%2f..%2ftokens'],
        ['GET', '/api/../../tokens'],
        ['GET', '/../package.json'],
        ['GET', '/backend.mjs'],
      ] as const;
      for (const [method, route] of forbiddenRequests) {
        expect([route, ...statusAndCode(await sendRelayed(method, route, { cookie }))]).toEqual([
          ...[route, 404, 'NOT_FOUND'],
        ]);
      }
    },
    TIMEOUT_MS,
  );

  it(
    'isolates visits, and limits each visit to the wallet of its sign-in',
    async () => {
      const ownVisit = await signIn('own@example.com');
      const otherVisit = await signIn('other@example.com');
      const { cookie } = ownVisit;
      const { id } = otherVisit.session;
      const [credential] = await fixture.credentialsOf(otherVisit.accountId);
      await sendRelayed('POST', '/api/fund', { cookie: otherVisit.cookie });
      const quoteRequest = { cookie: otherVisit.cookie, body: { amount: 1_000_000 } };
      const { body: quote } = await sendRelayed('POST', '/api/quotes', quoteRequest);
      expect(quote.status).toBe('PENDING');
      const foreignRequests = [
        ['DELETE', `/api/sessions/${id}`],
        ['POST', `/api/credentials/${credential.id}/challenge`],
        ['POST', `/api/credentials/${credential.id}/verify`],
        ['GET', `/api/quotes/${quote.id}`],
        ['POST', `/api/quotes/${quote.id}/execute`],
      ] as const;
      for (const [method, route] of foreignRequests) {
        const reply = await sendRelayed(method, route, { cookie });
        expect([route, ...statusAndCode(reply)]).toEqual([route, 404, 'NOT_FOUND']);
      }
      const { body } = await sendRelayed('GET', '/api/account', { cookie });
      expect(body.id).toBe(ownVisit.accountId);
    },
    TIMEOUT_MS,
  );

  it(
    'rejects requests without a session, with an old session or from another site',
    async () => {
      const guestVisit = await startVisit('guest@example.com');
      const { previousCookie, cookie } = await signIn('guest@example.com');
      expect(previousCookie).not.toBe(cookie);
      for (const invalidCookie of ['', 'visit=made-up', previousCookie, guestVisit.cookie]) {
        for (const route of ['/api/account', '/api/credentials', '/api/sessions']) {
          const reply = await sendRelayed('GET', route, { cookie: invalidCookie });
          expect(statusAndCode(reply)).toEqual([401, 'SIGN_IN']);
        }
      }
      const origin = 'http://localhost:9';
      const crossOriginReply = await sendRelayed('POST', '/api/fund', {
        cookie,
        headers: { origin },
      });
      expect(statusAndCode(crossOriginReply)).toEqual([403, 'WRONG_ORIGIN']);
      const otherHostStatus = await fetch(site.replace('localhost', '127.0.0.1')).then(
        ({ status }) => status,
        () => 'closed',
      );
      expect([421, 'closed']).toContain(otherHostStatus);
    },
    TIMEOUT_MS,
  );

  it('keeps the API secret in the backend, and has a strict content security policy', async () => {
    for (const route of ['/', '/app.js', '/style.css']) {
      const reply = await fetch(site + route);
      expect(reply.status).toBe(200);
      expect(await reply.text()).not.toContain(app.platform.clientSecret);
      const policy = reply.headers.get('content-security-policy');
      expect(policy).toContain("default-src 'none'");
      expect(policy).not.toContain('unsafe');
    }
  });
});
