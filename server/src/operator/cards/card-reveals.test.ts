// Requests to show card numbers, as shown to the operator.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { cardFixture } from '../../../test/kit/cards/cards.ts';

const app = testApp({ start: Date.UTC(2026, 0, 5, 9) });
let ids: [string, string];
let holderId: string;
const linkPaths: string[] = [];

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run('cards', 'reveals', ...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

/** Requests a link one second after the previous link. */
async function reveal(id: string): Promise<void> {
  app.effects.set(app.effects.now() + 1_000);
  const { panEmbedUrl } = ok(await app.call('POST', `/cards/${id}/reveal`), 200);
  linkPaths.push(new URL(panEmbedUrl).pathname);
}

beforeAll(async () => {
  const fixture = cardFixture(app);
  const holder = await fixture.createCardholder();
  holderId = holder.customer.id;
  ids = [(await fixture.createCard(holder)).id, (await fixture.createCard(holder)).id];
  await reveal(ids[0]);
  await reveal(ids[1]);
  await reveal(ids[0]);
  app.effects.set(app.effects.now() + 1_000);
  expect((await app.server.inject(linkPaths[1] as string)).statusCode).toBe(200);
});

describe('cards reveals', () => {
  it('lists requests with the time at which the number was shown, newest first', async () => {
    const allReveals = await runJson();
    expect(allReveals.map((each: { cardId: string }) => each.cardId)).toEqual([
      ids[0],
      ids[1],
      ids[0],
    ]);
    const tokenId = ok(await app.call('GET', '/tokens'), 200).data[0].id;
    expect(allReveals[1]).toEqual({
      cardId: ids[1],
      platformId: app.platform.id,
      customerId: holderId,
      tokenId,
      requestedAt: '2026-01-05T09:00:02.000Z',
      expiresAt: '2026-01-05T09:05:02.000Z',
      openedAt: '2026-01-05T09:00:04.000Z',
    });
    expect(allReveals[0].openedAt).toBeNull();
    const { out } = await run('cards', 'reveals');
    expect(out.split('\n')[0]).toMatch(/^REQUESTED +CARD +TOKEN +OPENED$/);
    expect(out.split('\n')[2]).toMatch(/^2026-01-05T09:00:02\.000Z +Card:.* 2026-01-05T09:00:04/);
    expect(out.split('\n')[3]).toMatch(/ -$/);
    for (const path of linkPaths) expect(out).not.toContain(path.split('/').at(-1));
  });

  it('filters by card and platform, up to the limit', async () => {
    const secondsOf = (rows: { requestedAt: string }[]) =>
      rows.map((each) => each.requestedAt.slice(17, 19));
    expect(secondsOf(await runJson(ids[0]))).toEqual(['03', '01']);
    expect(secondsOf(await runJson('--card', ids[0], '--limit', '1'))).toEqual(['03']);
    expect(await runJson('--platform', app.platform.id)).toHaveLength(3);
    expect(await runJson('--platform', app.other.id)).toEqual([]);
    expect(await runJson('--card', 'Card:none')).toEqual([]);
    expect((await run('cards', 'reveals', '--limit', '0')).code).toBe(2);
    expect((await run('cards', 'reveals', '--platform', 'none')).code).toBe(1);
  });
});
