// Fixtures of the tests of the console: a server with the console, a browser, and operators who
// enroll with a virtual authenticator. The tests are skipped where the console is not built from
// the present sources. .ci/run builds the console and requires the tests.
import type { BrowserContext, CDPSession, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { enrollment } from '../../src/features/staff/users/index.ts';
import { browserPath, launch, SIZES, type Size, visit } from '../browser/browser.ts';
import { ok } from '../kit/app/fixtures.ts';
import { startProduction } from '../kit/app/production.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { operatorClient } from '../kit/operator/client.ts';

const state = new URL('../../../packages/console/scripts/state.mjs', import.meta.url);
const { isBuilt } = (await import(state.href)) as { isBuilt(): boolean };

const isRequired = process.env.RAILHEAD_BUILT_CONSOLE === 'required';

function canRun(): boolean {
  if (isBuilt()) return browserPath !== undefined;
  const problem = 'packages/console/dist is not built from the present sources.';
  if (isRequired)
    throw new Error(
      `${problem} Run \`npm run console\`, because RAILHEAD_BUILT_CONSOLE requires it.`,
    );
  process.stderr.write(`The tests of the console are skipped. ${problem} Run: npm run console\n`);
  return false;
}

/** Whether there is a browser and a current build. */
export const isTestable = canRun();

/** Timeout for many screens on a busy machine. */
export const TIMEOUT_MS = 240_000;

type Role = 'viewer' | 'support' | 'compliance' | 'treasury' | 'developer' | 'administrator';

/** An authenticator in a page, which verifies its user. */
interface Device {
  session: CDPSession;
  authenticatorId: string;
}

const VIRTUAL_AUTHENTICATOR = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
  automaticPresenceSimulation: true,
} as const;

async function addDevice(context: BrowserContext, page: Page): Promise<Device> {
  const session = await context.newCDPSession(page);
  await session.send('WebAuthn.enable');
  const options = { options: VIRTUAL_AUTHENTICATOR };
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', options);
  return { session, authenticatorId };
}

/** The browser has the time of the server, so that periods contain the data of the test. */
const clockScript = (time: number) => `{
  const offsetMs = ${time} - Date.now();
  const RealDate = Date;
  globalThis.Date = class extends RealDate {
    constructor(...parts) {
      if (parts.length === 0) super(RealDate.now() + offsetMs);
      else super(...parts);
    }
    static now() {
      return RealDate.now() + offsetMs;
    }
  };
}`;

const WALLET_RECOVERY_MS = 48 * 3_600_000;

/** Waits until the screen shows its title and no loading state. */
export const complete = (page: Page) => page.locator('main:has(h1):not(:has(.skeleton))').waitFor();

/** Opens another page of the console without loading it again. */
async function go(page: Page, path: string): Promise<void> {
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(`/console${path}`)})`);
}

interface Options {
  size?: Size;
  /** The link that the page opens. By default an enrollment link of a new user. */
  link?: string;
}

async function openConsole() {
  const service = await startProduction({ console: true, walletRecoveryMs: WALLET_RECOVERY_MS });
  const { app } = service;
  await app.app.server.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.app.server.server.address() as { port: number };
  const origin = `http://localhost:${port}`;
  const client = operatorClient(app);
  const browser = await launch();
  const people: { problems: string[] }[] = [];

  async function linkFor(name: string, email: string, role: Role): Promise<string> {
    const body = { name, email, roles: [role], reason: 'New colleague' };
    const { link } = ok(await client.call('POST', '/operator-users', { body }), 201);
    return `${origin}/operator/enroll#${link.secret}`;
  }

  async function idOf(email: string): Promise<string> {
    const { data } = ok(await client.call('GET', '/operator-users?limit=100'), 200);
    return data.find((user: { email: string }) => user.email === email).id;
  }

  /** An operator who has enrolled, in a separate browser context. */
  async function operator(name: string, role: Role, { size = 'desktop', link }: Options = {}) {
    const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
    const { page, context, problems, close } = await visit(browser, size, origin);
    await context.addInitScript(clockScript(app.effects.now()));
    const device = await addDevice(context, page);
    await page.goto(link ?? (await linkFor(name, email, role)));
    await page.getByRole('button', { name: 'Create a passkey' }).click();
    await page.getByRole('heading', { level: 1, name: 'Your account' }).waitFor();
    people.push({ problems });

    /** Opens a page of the console without a session, and signs in with the passkey. */
    async function signIn(path = '/') {
      // An open page would show that its session has expired.
      await page.goto('about:blank');
      await context.clearCookies();
      // The console opens the sign-in page, which aborts an awaited navigation.
      await page.evaluate(`location.assign('${origin}/console${path}')`);
      await page.locator('button:focus', { hasText: 'Sign in with a passkey' }).waitFor();
      await page.keyboard.press('Enter');
      await page.waitForURL(`${origin}/console${path}`);
      await complete(page);
      // Without a session and an identity provider, two requests are rejected before the sign-in.
      expectRejections(401, 501);
    }

    /** Removes the problems that match. Fails if no problem matches. */
    function expectProblems(pattern: RegExp): void {
      expect(problems.filter((problem) => pattern.test(problem))).not.toEqual([]);
      problems.splice(0, problems.length, ...problems.filter((problem) => !pattern.test(problem)));
    }

    const expectRejections = (...statuses: readonly number[]) =>
      expectProblems(new RegExp(`^Failed to load resource: .* (?:${statuses.join('|')}) `));

    return {
      id: await idOf(email),
      name,
      expectRejections,
      expectLostConnections: () => expectProblems(/net::ERR_|ERR_INTERNET_DISCONNECTED/),
      page,
      context,
      problems,
      close,
      signIn,
      go: (path: string) => go(page, path),
      /** Signs in on another tab, with the same passkey. */
      async signInOn(tab: Page) {
        const { session, authenticatorId } = device;
        const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
        const otherDevice = await addDevice(context, tab);
        for (const credential of credentials)
          await otherDevice.session.send('WebAuthn.addCredential', {
            authenticatorId: otherDevice.authenticatorId,
            credential,
          });
        await tab.getByRole('button', { name: 'Sign in with a passkey' }).click();
      },
    };
  }

  return {
    ...service,
    origin,
    client,
    browser,
    operator,
    /** The first administrator enrolls with the link that a start prints. */
    firstLink: () => enrollment.firstAdministratorLink(app.runtime),
    /** Content of all open pages, for the report of a failed test. */
    async readPages(): Promise<string> {
      const pages = browser.contexts().flatMap((context) => context.pages());
      const texts = pages.map(async (page) => {
        const parts = await page
          .locator('main, [role=dialog], [role=alertdialog]')
          .allInnerTexts()
          .catch(String);
        return `${page.url()}\n${[parts].flat().join('\n---\n')}`;
      });
      return (await Promise.all(texts)).join('\n======\n');
    },
    /** Errors in the browser consoles of all pages, such as violations of the content security policy. */
    problems: () => people.flatMap(({ problems }) => problems),
    async close() {
      await browser.close();
      await service.close();
    },
  };
}

/** As `openForFile`. A failed test reports the content of all pages. */
export function consoleForFile(): OpenConsole {
  const consoleFixture = openForFile(openConsole);
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail')
      process.stderr.write(`${await consoleFixture.readPages()}\n`);
  });
  return consoleFixture;
}

export type OpenConsole = Awaited<ReturnType<typeof openConsole>>;
export type Operator = Awaited<ReturnType<OpenConsole['operator']>>;

type Container = Pick<Page, 'getByRole'>;

export const button = (container: Container, name: string) =>
  container.getByRole('button', { name, exact: true });

/** The form of a change. */
export const dialogOf = (page: Page) => page.getByRole('dialog');

/** Waits for the screen with this title. */
export const waitForTitle = (container: Container, name: string) =>
  container.getByRole('heading', { level: 1, name, exact: true }).waitFor();

/** The row of a list with this text. */
export const rowOf = (container: Container, text: string) =>
  container.getByRole('row').filter({ hasText: text }).first();

/** The widths that every screen fits. */
export const WIDTHS = { phone: SIZES.phone.viewport, desktop: SIZES.desktop.viewport };

/** Expects a page whose main part has no horizontal scrolling. */
export async function expectFits(page: Page, name: string): Promise<void> {
  const overflow = await page.evaluate(`[document.documentElement, document.querySelector('main')]
    .map((element) => element.scrollWidth - element.clientWidth)`);
  expect([name, overflow]).toEqual([name, [0, 0]]);
}
