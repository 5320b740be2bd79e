// Every screen of the console, on a fresh installation and with data: accessible, without horizontal
// scrolling, and without an error in the console of the browser or a rejected request. A short run takes
// each screen with data in light on a phone and in dark on a desktop, a long run in all four.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
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

const source = path.join(projectRoot(), 'packages', 'console', 'src', 'routes.tsx');
const ROUTES = [...readFileSync(source, 'utf8').matchAll(/^ {2}page\('([^']+)'/gm)].map(
  ([, route]) => route as string,
);

const LOOKS = [
  { width: 'phone', colorScheme: 'light' },
  { width: 'desktop', colorScheme: 'dark' },
  { width: 'phone', colorScheme: 'dark' },
  { width: 'desktop', colorScheme: 'light' },
] as const;
type Look = (typeof LOOKS)[number];

/** Screens of one platform, which is selected first. */
const OF_PLATFORM = ['/endpoints', '/sandbox', '/tokens'];

it('are all in the table of screens', () => {
  expect(Object.keys(SCREENS).sort()).toEqual(ROUTES.toSorted());
});

describe.runIf(isTestable)('screens', () => {
  const opened = consoleForFile();
  let ann: Operator;
  beforeAll(async () => {
    ann = await opened.operator('Ann', 'administrator');
    await ann.signIn();
  }, TIMEOUT_MS);

  /** Opens a screen and waits until its content is there. */
  async function show(page: Page, route: string, id = ''): Promise<void> {
    await ann.go(route.replace('$id', encodeURIComponent(id)));
    const title = SCREENS[route]?.title as string;
    await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
    await complete(page);
  }

  interface Case {
    route: string;
    id?: string | undefined;
    look: Look;
  }

  /** What is wrong with a screen. */
  async function problemsOf(name: string, { route, id, look }: Case): Promise<string[]> {
    const { page } = ann;
    const title = `${name} ${route} ${look.width} ${look.colorScheme}`;
    const problems: string[] = [];
    try {
      await show(page, route, id);
      await expectFits(page, title);
      await expectAccessible(page);
    } catch (error) {
      problems.push(String((error as { actual?: unknown }).actual ?? error));
    }
    await screenshot(page, title.replaceAll(/[ /$]+/g, '-'));
    return [...problems, ...ann.problems.splice(0)].map((each) => `${title}: ${each}`);
  }

  async function walk(name: string, cases: readonly Case[]): Promise<void> {
    const { page } = ann;
    const problems: string[] = [];
    for (const look of LOOKS) {
      const inLook = cases.filter((each) => each.look === look);
      if (inLook.length === 0) continue;
      await page.setViewportSize(WIDTHS[look.width]);
      await page.emulateMedia({ colorScheme: look.colorScheme });
      for (const each of inLook) problems.push(...(await problemsOf(name, each)));
    }
    expect(problems).toEqual([]);
  }

  const inLooks = (looks: readonly Look[], routes: readonly string[], ids: object = {}): Case[] =>
    looks.flatMap((look) =>
      routes.map((route) => ({ route, look, id: (ids as Record<string, string>)[route] })),
    );

  it(
    'have no fault on a fresh installation',
    async () => {
      const lists = ROUTES.filter((route) => !route.endsWith('$id'));
      await walk(
        'fresh',
        lists.flatMap((route, number) => inLooks(variantsOf(LOOKS, number), [route])),
      );
    },
    TIMEOUT_MS,
  );

  it(
    'have no fault with data',
    async () => {
      const ids = await fillInstallation(opened);
      const looks = LOOKS.slice(0, lengthOf(2, LOOKS.length));
      await walk('filled', inLooks(looks, ROUTES, ids));
      await ann.page
        .getByLabel('Platform', { exact: true })
        .selectOption({ label: 'Main (Sandbox)' });
      await walk('platform', inLooks(looks, OF_PLATFORM));
    },
    TIMEOUT_MS,
  );

  it('of what does not exist have a title and say so', async () => {
    const { page } = ann;
    const unknown = encodeURIComponent('Transaction:01890000-0000-7000-8000-000000000000');
    for (const [path, title, text] of [
      [`/payments/${unknown}`, 'Payment', 'Transaction not found.'],
      ['/nothing', 'Not found', 'There is no such page.'],
    ] as const) {
      await ann.go(path);
      await page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor();
      await page.getByText(text, { exact: true }).waitFor();
      await expectAccessible(page);
    }
    expect(ann.problems.splice(0)).toEqual([expect.stringContaining('status of 404')]);
  });
});
