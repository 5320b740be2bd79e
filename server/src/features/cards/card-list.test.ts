// The list of cards with each of its filters, alone and together, and its pages.
import { beforeAll, describe, expect, it } from 'vitest';
import { ok } from '../../../test/kit/app/fixtures.ts';
import { testApp } from '../../../test/kit/app/test-app.ts';
import { type CardFixture, cardFixture, cardName } from '../../../test/kit/cards/cards.ts';

const app = testApp();
let fixture: CardFixture;
let [ada, bob]: Awaited<ReturnType<CardFixture['holder']>>[] = [];
/** Cards by what they are called here. */
const ids: Record<string, string> = {};
const name = cardName();

beforeAll(async () => {
  fixture = cardFixture(app);
  [ada, bob] = [await fixture.holder(), await fixture.holder()];
  const keep = async (called: string, holder: typeof ada, platformCardId = cardName()) => {
    if (!holder) throw new Error('no holder');
    app.effects.set(app.effects.now() + 1_000);
    ids[called] = (await fixture.card(holder, { platformCardId })).id;
  };
  await keep('closed', ada, name);
  ok(await fixture.patchCard(ids.closed as string, { state: 'CLOSED' }), 200);
  await keep('active', ada, name);
  await keep('frozen', ada);
  ok(await fixture.patchCard(ids.frozen as string, { state: 'FROZEN' }), 200);
  await keep('waiting', ada, cardName('001'));
  await keep('bobs', bob);
  const otherPlatformFixture = cardFixture(app, { as: app.other });
  await otherPlatformFixture.card(await otherPlatformFixture.holder(), { platformCardId: name });
});

async function listed(query: string): Promise<string[]> {
  const { data } = ok(await fixture.call('GET', `/cards?${query}`), 200);
  const called = Object.fromEntries(Object.entries(ids).map(([each, id]) => [id, each]));
  return data.map((each: { id: string }) => called[each.id]);
}

describe('listCards', () => {
  it('is sorted by newest or oldest first', async () => {
    const all = ['bobs', 'waiting', 'frozen', 'active', 'closed'];
    expect(await listed('')).toEqual(all);
    expect(await listed('sortOrder=asc')).toEqual(all.toReversed());
  });

  describe('getCardById', () => {
    it('returns each card as getCardById does', async () => {
      const { data, totalCount } = ok(await fixture.call('GET', '/cards'), 200);
      expect(totalCount).toBe(5);
      for (const each of data) expect(await fixture.cardNow(each.id)).toEqual(each);
    });
  });

  it('filters by cardholder', async () => {
    expect(await listed(`cardholderId=${bob?.customer.id}`)).toEqual(['bobs']);
    expect(await listed('cardholderId=unknown')).toEqual([]);
  });

  it('filters by current funding source; a closed card has none', async () => {
    expect(await listed(`accountId=${ada?.accountId}`)).toEqual(['waiting', 'frozen', 'active']);
    expect(await listed(`accountId=${ada?.accountId}&state=FROZEN`)).toEqual(['frozen']);
    expect(await listed(`accountId=${bob?.accountId}&cardholderId=${ada?.customer.id}`)).toEqual(
      [],
    );
    expect(await listed('accountId=nothing')).toEqual([]);
    const otherPlatformFixture = cardFixture(app, { as: app.other });
    const { data } = ok(
      await otherPlatformFixture.call('GET', `/cards?accountId=${ada?.accountId}`),
      200,
    );
    expect(data).toEqual([]);
  });

  it('filters by platformCardId, closed cards included', async () => {
    expect(await listed(`platformCardId=${name}`)).toEqual(['active', 'closed']);
    expect(await listed('platformCardId=unknown')).toEqual([]);
  });

  it.each([
    ['PENDING_KYC', []],
    ['PROCESSING', ['waiting']],
    ['ACTIVE', ['bobs', 'active']],
    ['FROZEN', ['frozen']],
    ['CLOSED', ['closed']],
  ])('goes by the state: %s', async (state, expected) => {
    expect(await listed(`state=${state}`)).toEqual(expected);
  });

  it('is paginated', async () => {
    const seen: string[] = [];
    let cursor: string | undefined = '';
    while (cursor !== undefined) {
      const more: string = cursor && `&cursor=${cursor}`;
      const page = ok(await fixture.call('GET', `/cards?limit=2&sortOrder=asc${more}`), 200);
      seen.push(...page.data.map((each: { id: string }) => each.id));
      expect(page.hasMore).toBe(page.nextCursor !== undefined);
      cursor = page.nextCursor;
    }
    expect(seen).toEqual(
      ['closed', 'active', 'frozen', 'waiting', 'bobs'].map((each) => ids[each]),
    );
  });

  it.each(['state=GONE', 'limit=0', 'limit=101', 'cursor=x', 'sortOrder=up'])(
    'refuses %s',
    async (query) => {
      expect((await fixture.call('GET', `/cards?${query}`)).body.code).toBe('INVALID_INPUT');
    },
  );
});
