// Retention by the operator's command: periods, a dry run, and the lines of an archive.
import { expect, it } from 'vitest';
import { createFundedCustomer } from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';

const WEEK_MS = 7 * 86_400_000;

const app = testApp();
const run = async (...argv: string[]) => {
  const { code, out, err } = await commandRunner(app)(['retention', ...argv]);
  expect([code, err]).toEqual([0, '']);
  return out;
};

it('the command shows periods and partitions, archives a week, and prints an archive', async () => {
  const { person } = await createFundedCustomer(app);
  const shownText = await run('show');
  expect(shownText).toMatch(/^events +30 days$/m);
  expect(shownText).toMatch(/^archives +2555 days$/m);
  expect(shownText).toMatch(/^events_20260105 +2026-01-05 +2026-01-12 +2026-02-11 /m);
  app.effects.set(app.effects.now() + 6 * WEEK_MS);
  const plannedText = await run('apply', '--dry-run');
  expect(plannedText).toMatch(/^events_20260105 +ARCHIVED /m);
  expect(plannedText).toContain('yes: nothing was changed');
  expect(await run('apply')).toMatch(/^events_20260105 +ARCHIVED +\d+$/m);
  const { archives } = JSON.parse(await run('show', '--json'));
  const { id, rows } = archives.find(
    ({ partition }: { partition: string }) => partition === 'events_20260105',
  );
  const lines = (await run('read', id)).trimEnd().split('\n');
  expect(lines).toHaveLength(rows);
  const parsedLines = lines.map((line) => JSON.parse(line));
  expect(parsedLines.some(({ customerId }) => customerId === person.id)).toBe(true);
  expect(parsedLines.some(({ type }) => type === 'INTERNAL_ACCOUNT.BALANCE_UPDATED')).toBe(true);
});

it('the command rejects an unknown archive', async () => {
  const { code, err } = await commandRunner(app)(['retention', 'read', 'Archive:none']);
  expect([code, err]).toEqual([1, 'Archive not found.\n']);
});
