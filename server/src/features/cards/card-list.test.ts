// The list of cards: each filter, combinations of filters, and pages.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { type CardFixture, cardFixture, newCardName } from '../../../test/kit/cards/cards.ts';

const app = testApp();
let fixture: CardFixture;
let [ada, bob]: Awaited<ReturnType<CardFixture['createCardholder']>>[] = [];
/** IDs of the cards by their names in this test. */
const ids: Record<string, string> = {};
const reusedCardName = newCardName();

beforeAll(async () => {
  fixture = cardFixture(app);
  [ada, bob] = [await fixture.createCardholder(), await fixture.createCardholder()];
  const createCard = async (
    cardLabel: string,
    holder: typeof ada,
    platformCardId = newCardName(),
  ) => {
    if (!holder) throw new Error('No cardholder was created.');
    app.effects.set(app.effects.now() + 1_000);
    ids[cardLabel] = (await fixture.createCard(holder, { platformCardId })).id;
  };
  await createCard('closed', ada, reusedCardName);
  ok(await fixture.patchCard(ids.closed as string, { state: 'CLOSED' }), 200);
  await createCard('active', ada, reusedCardName);
  await createCard('frozen', ada);
  ok(await fixture.patchCard(ids.frozen as string, { state: 'FROZEN' }), 200);
  await createCard('pending', ada, newCardName('001'));
  await createCard('ofBob', bob);
  const otherPlatformFixture = cardFixture(app, { platform: app.other });
  await otherPlatformFixture.createCard(await otherPlatformFixture.createCardholder(), {
    platformCardId: reusedCardName,
  });
});

async function listLabels(query: string): Promise<string[]> {
  const { data } = ok(await fixture.call('GET', `/cards?${query}`), 200);
  const labels = Object.fromEntries(Object.entries(ids).map(([label, id]) => [id, label]));
  return data.map((each: { id: string }) => labels[each.id]);
}

describe('getCardById', () => {
  it('returns each card of the list', async () => {
    const { data } = ok(await fixture.call('GET', '/cards'), 200);
    for (const each of data) expect(await fixture.readCard(each.id)).toEqual(each);
  });
});

describe('listCards', () => {
  it('sorts newest or oldest first', async () => {
    const allLabels = ['ofBob', 'pending', 'frozen', 'active', 'closed'];
    expect(await listLabels('')).toEqual(allLabels);
    expect(await listLabels('sortOrder=asc')).toEqual(allLabels.toReversed());
  });

  it('returns the number of all cards', async () => {
    const { totalCount } = ok(await fixture.call('GET', '/cards'), 200);
    expect(totalCount).toBe(5);
  });

  it('filters by cardholder', async () => {
    expect(await listLabels(`cardholderId=${bob?.customer.id}`)).toEqual(['ofBob']);
    expect(await listLabels('cardholderId=unknown')).toEqual([]);
  });

  it('filters by current funding source, closed cards excluded', async () => {
    expect(await listLabels(`accountId=${ada?.accountId}`)).toEqual([
      'pending',
      'frozen',
      'active',
    ]);
    expect(await listLabels(`accountId=${ada?.accountId}&state=FROZEN`)).toEqual(['frozen']);
    expect(
      await listLabels(`accountId=${bob?.accountId}&cardholderId=${ada?.customer.id}`),
    ).toEqual([]);
    expect(await listLabels('accountId=nothing')).toEqual([]);
    const otherPlatformFixture = cardFixture(app, { platform: app.other });
    const { data } = ok(
      await otherPlatformFixture.call('GET', `/cards?accountId=${ada?.accountId}`),
      200,
    );
    expect(data).toEqual([]);
  });

  it('filters by platformCardId, closed cards included', async () => {
    expect(await listLabels(`platformCardId=${reusedCardName}`)).toEqual(['active', 'closed']);
    expect(await listLabels('platformCardId=unknown')).toEqual([]);
  });

  it.each([
    ['PENDING_KYC', []],
    ['PROCESSING', ['pending']],
    ['ACTIVE', ['ofBob', 'active']],
    ['FROZEN', ['frozen']],
    ['CLOSED', ['closed']],
  ])('filters by state: %s', async (state, expectedLabels) => {
    expect(await listLabels(`state=${state}`)).toEqual(expectedLabels);
  });

  it('is paginated', async () => {
    const listedIds: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const cursorParameter: string = cursor && `&cursor=${cursor}`;
      const page = ok(
        await fixture.call('GET', `/cards?limit=2&sortOrder=asc${cursorParameter}`),
        200,
      );
      listedIds.push(...page.data.map((each: { id: string }) => each.id));
      expect(page.hasMore).toBe(page.nextCursor !== undefined);
      cursor = page.nextCursor;
    }
    expect(listedIds).toEqual(
      ['closed', 'active', 'frozen', 'pending', 'ofBob'].map((each) => ids[each]),
    );
  });

  it.each(['state=GONE', 'limit=0', 'limit=101', 'cursor=x', 'sortOrder=up'])(
    'rejects %s',
    async (query) => {
      expect((await fixture.call('GET', `/cards?${query}`)).body.code).toBe('INVALID_INPUT');
    },
  );
});
