// Every screen of the console, on a new installation and with data. The screens are accessible, fit
// the width, and cause no browser error and no rejected request. A short run alternates between a
// light phone and a dark desktop for the screens with data. A long run uses all four combinations.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { operatorDocument } from '../../src/document.ts';
import { projectRoot } from '../../src/runtime/config/root.ts';
import { expectAccessible, screenshot } from '../browser/browser.ts';
import { lengthOf, variantsOf } from '../kit/length.ts';
import {
  complete,
  consoleForFile,
  expectFits,
  isTestable,
  type Operator,
  TIMEOUT_MS,
  WIDTHS,
} from './console.ts';
import { fillInstallation } from './data.ts';
import { SCREENS } from './screens.ts';

const routesFile = path.join(projectRoot(), 'packages', 'console', 'src', 'routes.tsx');
const ROUTES = [...readFileSync(routesFile, 'utf8').matchAll(/^ {2}page\('([^']+)'/gm)].map(
  ([, route]) => route as string,
);

const APPEARANCES = [
  { width: 'phone', colorScheme: 'light' },
  { width: 'desktop', colorScheme: 'dark' },
  { width: 'phone', colorScheme: 'dark' },
  { width: 'desktop', colorScheme: 'light' },
] as const;
type Appearance = (typeof APPEARANCES)[number];

/** Screens of one platform. A test selects the platform before it opens these screens. */
const PLATFORM_SCREENS = ['/endpoints', '/sandbox', '/tokens'];

/** Buttons that change no resource, which a viewer may press. */
const READ_BUTTONS = new RegExp(
  `^(?:${[
    ...['Views', 'Columns', 'Export CSV', 'Copy', 'Clear filters', 'Try again', 'Next check'],
    ...['Production', 'Sandbox', 'Show names', 'Explain', 'Export file', 'Export JSON lines'],
    ...['24 h', '\\d+ days', '1 year', 'Passport', 'Verify ledger now'],
    ...['Show the list of documents', 'Show sign-ins and changes'],
  ].join('|')})$`,
);

/** Searches, which change no resource. */
const SEARCH_OPERATIONS = ['searchResources', 'searchCustomers'];

const document = operatorDocument() as {
  paths: Record<string, Record<string, { operationId: string; 'x-permission'?: string }>>;
};
const CHANGES = Object.entries(document.paths).flatMap(([path, operations]) =>
  Object.entries(operations)
    .filter(
      ([method, { operationId, 'x-permission': permission = 'profile.manage' }]) =>
        method !== 'get' &&
        permission !== 'profile.manage' &&
        !SEARCH_OPERATIONS.includes(operationId),
    )
    .map(([method, { operationId }]) => ({ operationId, method: method.toUpperCase(), path })),
);

/**
 * Runs in the page: sends each change with its session. Returns those with a status other than 403.
 */
const SEND_CHANGES = `async (changes) => {
  const base = '/operator/v1';
  const { csrfToken } = await (await fetch(base + '/session')).json();
  const results = [];
  for (const { operationId, method, path } of changes) {
    const url = base + path.replaceAll(/\\{\\w+\\}/g, 'None:01890000-0000-7000-8000-000000000000');
    const headers = { 'x-csrf-token': csrfToken, 'content-type': 'application/json' };
    const body = method === 'DELETE' ? undefined : '{}';
    const { status } = await fetch(url, {
      method,
      headers: body ? headers : { 'x-csrf-token': csrfToken },
      body,
    });
    if (status !== 403) results.push(operationId + ' ' + status);
  }
  return results;
}`;

it('all routes are in the table of screens', () => {
  expect(Object.keys(SCREENS).sort()).toEqual(ROUTES.toSorted());
});

describe.runIf(isTestable)('screens', () => {
  const consoleFixture = consoleForFile();
  let ann: Operator;
  let ids: Record<string, string> = {};
  beforeAll(async () => {
    ann = await consoleFixture.operator('Ann', 'administrator');
    await ann.signIn();
  }, TIMEOUT_MS);

  /** Opens a screen and waits until its content is loaded. */
  async function show({ page, go }: Operator, route: string, id = ''): Promise<void> {
    await go(route.replace('$id', encodeURIComponent(id)));
    const title = SCREENS[route]?.title as string;
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    await complete(page);
  }

  const selectMain = (page: Page) =>
    page.getByLabel('Platform', { exact: true }).selectOption({ label: 'Main (Sandbox)' });

  interface Case {
    route: string;
    id?: string | undefined;
    appearance: Appearance;
  }

  async function problemsOf(name: string, { route, id, appearance }: Case): Promise<string[]> {
    const { page } = ann;
    const title = `${name} ${route} ${appearance.width} ${appearance.colorScheme}`;
    const problems: string[] = [];
    try {
      await show(ann, route, id);
      await expectFits(page, title);
      await expectAccessible(page);
    } catch (error) {
      problems.push(String((error as { actual?: unknown }).actual ?? error));
    }
    await screenshot(page, title.replaceAll(/[ /$]+/g, '-'));
    return [...problems, ...ann.problems.splice(0)].map((problem) => `${title}: ${problem}`);
  }

  async function checkScreens(name: string, cases: readonly Case[]): Promise<void> {
    const { page } = ann;
    const problems: string[] = [];
    for (const appearance of APPEARANCES) {
      const matchingCases = cases.filter((testCase) => testCase.appearance === appearance);
      if (matchingCases.length === 0) continue;
      await page.setViewportSize(WIDTHS[appearance.width]);
      await page.emulateMedia({ colorScheme: appearance.colorScheme });
      for (const testCase of matchingCases) problems.push(...(await problemsOf(name, testCase)));
    }
    expect(problems).toEqual([]);
  }

  const casesFor = (
    appearances: readonly Appearance[],
    routes: readonly string[],
    ids: object = {},
  ): Case[] =>
    appearances.flatMap((appearance) =>
      routes.map((route) => ({ route, appearance, id: (ids as Record<string, string>)[route] })),
    );

  it(
    'have no problem on a new installation',
    async () => {
      const routesWithoutId = ROUTES.filter((route) => !route.endsWith('$id'));
      await checkScreens(
        'new',
        routesWithoutId.flatMap((route, number) =>
          casesFor(variantsOf(APPEARANCES, number), [route]),
        ),
      );
    },
    TIMEOUT_MS,
  );

  it(
    'have no problem with data',
    async () => {
      ids = await fillInstallation(consoleFixture);
      const appearances = APPEARANCES.slice(0, lengthOf(2, APPEARANCES.length));
      const alternatingCases = (routes: readonly string[]) =>
        routes.flatMap((route, number) => casesFor(variantsOf(appearances, number), [route], ids));
      await checkScreens('filled', alternatingCases(ROUTES));
      await selectMain(ann.page);
      await checkScreens('platform', alternatingCases(PLATFORM_SCREENS));
    },
    TIMEOUT_MS,
  );

  it(
    'offer no changes to a viewer, and the server rejects them',
    async () => {
      const vera = await consoleFixture.operator('Vera Viewer', 'viewer');
      await vera.signIn();
      const { page } = vera;
      const offeredChanges: string[] = [];
      for (const route of [...ROUTES, ...PLATFORM_SCREENS]) {
        if (route === PLATFORM_SCREENS[0]) await selectMain(page);
        await show(vera, route, ids[route]);
        const names = await page.locator('main button').allInnerTexts();
        const otherNames = names.filter((name) => !READ_BUTTONS.test(name.trim()));
        if (otherNames.length > 0) offeredChanges.push(`${route}: ${otherNames}`);
      }
      expect(offeredChanges).toEqual([]);
      expect(await page.evaluate(`(${SEND_CHANGES})(${JSON.stringify(CHANGES)})`)).toEqual([]);
      await vera.close();
    },
    TIMEOUT_MS,
  );

  it('of unknown resources and paths have a title and a message', async () => {
    const { page } = ann;
    const unknownId = encodeURIComponent('Transaction:01890000-0000-7000-8000-000000000000');
    for (const [path, title, text] of [
      [`/payments/${unknownId}`, 'Payment', 'Transaction not found.'],
      ['/nothing', 'Not found', 'This page does not exist.'],
    ] as const) {
      await ann.go(path);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await page.getByText(text, { exact: true }).waitFor();
      await expectAccessible(page);
    }
    expect(ann.problems.splice(0)).toEqual([expect.stringContaining('status of 404')]);
  });
});
