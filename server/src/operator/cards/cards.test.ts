// Cards as shown to the operator, their closure, and the card settings of a platform.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import type { TestPlatform } from '../../../test/kit/app/harness.ts';
import { commandRunner } from '../../../test/kit/app/production.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { type CardFixture, cardFixture, newCardName } from '../../../test/kit/cards/cards.ts';

const app = testApp();
let fixture: CardFixture;
/** Two cards of one holder, the second newer, and a card of another holder. */
let [firstCard, secondCard, thirdCard]: { id: string; cardholderId: string }[] = [];

const run = (...argv: string[]) => commandRunner(app)(argv);

// biome-ignore lint/suspicious/noExplicitAny: replies of every shape, checked by assertions.
async function runJson(...argv: string[]): Promise<any> {
  const { code, out, err } = await run(...argv, '--json');
  expect([code, err]).toEqual([0, '']);
  return JSON.parse(out);
}

beforeAll(async () => {
  fixture = cardFixture(app);
  const holder = await fixture.createCardholder();
  const cards = [];
  for (const owner of [holder, holder, await fixture.createCardholder()]) {
    app.effects.set(app.effects.now() + 1_000);
    cards.push(
      await fixture.createCard(owner, {
        platformCardId: newCardName(),
        maxSpendPerTransaction: 500,
      }),
    );
  }
  [firstCard, secondCard, thirdCard] = cards;
});

const idOf = (card?: { id: string }) => card?.id as string;

describe('cards list', () => {
  it('filters by platform, customer and state, newest first', async () => {
    const listIds = async (...flags: string[]) =>
      (await runJson('cards', 'list', ...flags)).map((each: { cardId: string }) => each.cardId);
    expect(await listIds()).toEqual([thirdCard, secondCard, firstCard].map(idOf));
    expect(await listIds('--platform', app.platform.id, '--limit', '1')).toEqual([idOf(thirdCard)]);
    expect(await listIds('--platform', app.other.id)).toEqual([]);
    expect(await listIds('--customer', firstCard?.cardholderId as string)).toEqual([
      idOf(secondCard),
      idOf(firstCard),
    ]);
    expect(await listIds('--state', 'FROZEN')).toEqual([]);
    expect(await listIds('--after', idOf(secondCard))).toEqual([idOf(firstCard)]);
    const { out } = await run('cards', 'list');
    expect(out).toMatch(/^CREATED +CARD +CUSTOMER +STATE +REASON +LAST4\n/);
    expect(await run('cards', 'list', '--after', 'x')).toMatchObject({ code: 1 });
    expect(await run('cards', 'list', '--state', 'UNKNOWN')).toMatchObject({ code: 2 });
  });
});

describe('cards show', () => {
  it('shows a card and its funding sources, but not its number', async () => {
    const details = await runJson('cards', 'show', idOf(firstCard));
    expect(details).toMatchObject({
      id: idOf(firstCard),
      state: 'ACTIVE',
      platformId: app.platform.id,
    });
    expect(details.bindings).toEqual([
      {
        id: expect.stringMatching(/^CardFundingSource:/),
        accountId: details.fundingSources[0],
        since: details.createdAt,
        endedAt: null,
      },
    ]);
    const [row] = await app.runtime.db.query<{ secret: string }>(
      'select secret from cards where id = $1',
      [idOf(firstCard)],
    );
    const { out } = await run('cards', 'show', idOf(firstCard));
    expect(out).toMatch(/State +ACTIVE\n/);
    expect(out).toMatch(/Maximum per payment +5\.00 USD\n/);
    expect(out).toMatch(/Funding source +InternalAccount:/);
    expect(out + JSON.stringify(details)).not.toContain(row?.secret);
    expect(await run('cards', 'show', 'x')).toMatchObject({ code: 1, err: 'Card not found.\n' });
  });
});

describe('cards close', () => {
  it('closes a card, emits an event, and stores the reason', async () => {
    const result = await runJson(
      'cards',
      'close',
      idOf(secondCard),
      '--reason',
      'Found in the street',
    );
    expect(result).toMatchObject({ state: 'CLOSED', stateReason: 'CLOSED_BY_SERVICE' });
    expect(result.note).toBe('Found in the street');
    const { note: _, platformId: __, bindings, ...view } = result;
    expect(bindings[0].endedAt).not.toBeNull();
    expect(await fixture.readCard(idOf(secondCard))).toEqual(view);
    const [, stateChange] = await fixture.eventsOf('CARD.STATE_CHANGE', idOf(secondCard));
    expect(stateChange?.data).toEqual(view);
    const { out } = await run('cards', 'show', idOf(secondCard));
    expect(out).toContain(`Funded until ${bindings[0].endedAt}`);
    const repeatedResult = await run('cards', 'close', idOf(secondCard), '--reason', 'x');
    expect(repeatedResult).toMatchObject({ code: 1, err: 'The card is already closed.\n' });
    expect(await run('cards', 'close', idOf(firstCard))).toMatchObject({ code: 2 });
    const longResult = await run('cards', 'close', idOf(firstCard), '--reason', 'x'.repeat(256));
    expect(longResult.code).toBe(2);
  });

  it('closes a card whose issuer never responded', async () => {
    const pendingCard = await fixture.createCard(await fixture.createCardholder(), {
      platformCardId: newCardName('001'),
    });
    expect(await runJson('cards', 'close', pendingCard.id, '--reason', 'Stuck')).toMatchObject({
      state: 'CLOSED',
      stateReason: 'CLOSED_BY_SERVICE',
    });
  });
});

describe('platform cards and set-cards', () => {
  const DEFAULTS = { maxLive: 10_000, maxLivePerHolder: 10, frameOrigins: [] };
  const setCards = ({ id }: TestPlatform, ...flags: string[]) =>
    run('platform', 'set-cards', id, ...flags);
  const settingsOf = ({ id }: TestPlatform) => runJson('platform', 'cards', id);

  it('changes only the specified settings, and applies them immediately', async () => {
    const platform = app.other;
    expect(await settingsOf(platform)).toEqual(DEFAULTS);
    const origins = [
      'https://app.example.com',
      'https://example.com:8443',
      'http://localhost:3000',
    ];
    expect((await setCards(platform, `--frame-origins=${origins}`)).code).toBe(0);
    expect((await setCards(platform, '--max-live', '5', '--max-live-per-holder', '1')).code).toBe(
      0,
    );
    const expectedSettings = { maxLive: 5, maxLivePerHolder: 1, frameOrigins: origins };
    expect(await settingsOf(platform)).toEqual(expectedSettings);
    const otherCardFixture = cardFixture(app, { platform });
    const holder = await otherCardFixture.createCardholder();
    ok(await otherCardFixture.requestCard(holder), 201);
    expect((await otherCardFixture.requestCard(holder)).body.code).toBe('CARD_LIMIT_REACHED');
    expect((await setCards(platform, '--frame-origins', 'none')).code).toBe(0);
    expect(await settingsOf(platform)).toEqual({ ...expectedSettings, frameOrigins: [] });
    expect(await settingsOf(app.platform)).toEqual(DEFAULTS);
    expect((await run('platform', 'cards', platform.id)).out).toMatch(
      /Maximum open cards per cardholder +1\n/,
    );
  });

  it.each([
    'https://app.example.com/',
    'https://app.example.com/path',
    'https://APP.example.com',
    'https://app.example.com:443',
    'http://app.example.com',
    'https://*.example.com',
    'https://a;script-src.example.com',
    "https://a'b.example.com",
    'https://user@app.example.com',
    'https://203.0.113.7',
    'app.example.com',
    'data:text/html',
    '*',
    "'self'",
  ])('rejects the frame origin %s', async (origin) => {
    const { code, err } = await setCards(app.platform, '--frame-origins', origin);
    expect(code).toBe(2);
    expect(err).toContain(origin);
    expect(await settingsOf(app.platform)).toEqual(DEFAULTS);
  });

  it('rejects invalid numbers, loopback origins in production, and an empty change', async () => {
    for (const [platform, ...flags] of [
      [app.platform, '--max-live', '-1'],
      [app.platform, '--max-live', '1e3'],
      [app.platform, '--max-live-per-holder', '1001'],
      [app.platform],
      [app.production, '--frame-origins', 'http://localhost:3000'],
      [app.production, '--frame-origins', 'https://localhost'],
    ] as [TestPlatform, ...string[]][]) {
      expect((await setCards(platform, ...flags)).code, flags.join(' ')).toBe(2);
      expect(await settingsOf(platform)).toEqual(DEFAULTS);
    }
    expect((await run('platform', 'set-cards', 'x', '--max-live', '1')).code).toBe(1);
  });
});
