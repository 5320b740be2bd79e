// The hosted verification page during failures of the server: the cause, the next step, and the request ID
// for support. The table of documents is unavailable during one read.
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { createCustomer } from '../kit/app/fixtures.ts';
import { openForFile } from '../kit/app/test-app.ts';
import { browserPath, visit } from './browser.ts';
import {
  inspect,
  openVerification,
  TIMEOUT_MS,
  title,
  WITHOUT_DATA,
} from './verification-fixture.ts';

const fixture = openForFile(openVerification);

describe.runIf(browserPath)('a verification page that is slow or cannot be loaded', () => {
  it(
    'shows the reason, the request ID and a retry button',
    async () => {
      const { db } = fixture.app.runtime;
      const person = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const url = await fixture.linkFor(person.id);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      await db.query('alter table documents rename to documents_unavailable');
      try {
        const failedResponse = page.waitForResponse((reply) => reply.status() === 500);
        await page.goto(url);
        await title(page, 'The page could not be loaded');
        const id = (await failedResponse).headers()['x-request-id'];
        expect(id).toMatch(/^[0-9a-f-]{36}$/);
        await page.getByText(`Request ID: ${id}`).waitFor();
        await inspect(page, 'load-error');
      } finally {
        await db.query('alter table documents_unavailable rename to documents');
      }
      await page.getByRole('button', { name: 'Try again' }).click();
      await title(page, 'Verify your identity');
      await close();
    },
    TIMEOUT_MS,
  );

  it(
    'shows a skeleton until a slow reply arrives',
    async () => {
      const person = await createCustomer(fixture.app, fixture.platform, WITHOUT_DATA);
      const url = await fixture.linkFor(person.id);
      const { page, close } = await visit(fixture.browser, 'phone', fixture.origin);
      const client = new pg.Client({ connectionString: fixture.app.databaseUrl });
      await client.connect();
      try {
        await client.query('begin; lock table documents in access exclusive mode');
        await page.goto(url);
        await page.getByRole('heading', { name: 'Loading …' }).waitFor();
        expect(await page.locator('.skeleton:visible').count()).toBe(3);
        await inspect(page, 'loading');
        await client.query('commit');
      } finally {
        await client.end();
      }
      await title(page, 'Verify your identity');
      expect(await page.locator('.skeleton').count()).toBe(0);
      await close();
    },
    TIMEOUT_MS,
  );
});
