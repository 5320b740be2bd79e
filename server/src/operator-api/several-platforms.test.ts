// Lists for operators of several platforms: complete, ordered, and without items of other platforms.
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createCustomer, createFundedCustomer, ok } from '../../test/kit/app/fixtures.ts';
import { testApp } from '../../test/kit/app/test-app.ts';
import { operatorClient } from '../../test/kit/operator/client.ts';
import { OPERATOR_BASE_PATH } from '../http/route.ts';
import { OPERATOR_OPERATIONS } from './index.ts';
import { isMergeable, mergedPage, orderOf } from './several-platforms.ts';

interface Item {
  readonly [field: string]: unknown;
  id: string;
}

const NEWEST_FIRST = {
  keyOf: ({ id }: Readonly<Record<string, unknown>>) => `${id}`,
  isOldestFirst: false,
};

/** Lists by platform that are read in pages. Every `emptyPageInterval`th page is empty, as with filters. */
function readerOf(lists: ReadonlyMap<string, readonly Item[]>, emptyPageInterval: number) {
  let readCount = 0;
  return async ({ platformId, cursor, limit }: Record<string, unknown>) => {
    const list = lists.get(String(platformId)) ?? [];
    const startIndex = Number(cursor ?? 0);
    readCount++;
    const count = readCount % emptyPageInterval === 0 ? 0 : Number(limit);
    const endIndex = Math.min(startIndex + count, list.length);
    const hasMore = endIndex < list.length;
    const nextCursor = hasMore ? { nextCursor: `${endIndex}` } : {};
    return {
      status: 200,
      body: { data: list.slice(startIndex, endIndex), hasMore, ...nextCursor },
    };
  };
}

describe('mergedPage', () => {
  const times = fc.array(fc.integer({ min: 0, max: 30 }), { maxLength: 12 });

  it('returns each item once, in the order of the list', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(times, { minLength: 2, maxLength: 4 }),
        fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
        fc.boolean(),
        fc.integer({ min: 2, max: 4 }),
        async (listTimes, limits, isOldestFirst, emptyPageInterval) => {
          const lists = new Map(
            listTimes.map((list, platform) => {
              const sortedTimes = [...list].sort((a, b) => (isOldestFirst ? a - b : b - a));
              const items = sortedTimes.map((time, index) => ({
                id: `${platform}/${index}`,
                createdAt: String(time).padStart(2, '0'),
              }));
              return [`${platform}`, items] as const;
            }),
          );
          const read = readerOf(lists, emptyPageInterval);
          const returnedItems: Item[] = [];
          let cursor: string | undefined;
          for (let turn = 0; turn < 500; turn++) {
            const limit = limits[turn % limits.length];
            const query = { limit, cursor };
            const keyOf = ({ createdAt }: Readonly<Record<string, unknown>>) => `${createdAt}`;
            const order = { keyOf, isOldestFirst };
            const { body } = await mergedPage([...lists.keys()], query, order, read);
            const page = body as { data: Item[]; hasMore: boolean; nextCursor?: string };
            expect(page.data.length).toBeLessThanOrEqual(Number(limit));
            returnedItems.push(...page.data);
            cursor = page.nextCursor;
            expect(page.hasMore).toBe(cursor !== undefined);
            if (cursor === undefined) break;
          }
          expect(cursor).toBeUndefined();
          const expectedItems = [...lists.values()].flat();
          expect(returnedItems.map(({ id }) => id).sort()).toEqual(
            expectedItems.map(({ id }) => id).sort(),
          );
          const returnedTimes = returnedItems.map(({ createdAt }) => createdAt);
          const sortedTimes = [...returnedTimes].sort();
          expect(returnedTimes).toEqual(isOldestFirst ? sortedTimes : sortedTimes.reverse());
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    [
      'listJobs',
      [
        { id: '1', state: 'running' },
        { id: '3', dueAt: '2026-01-02' },
        { id: '5', state: 'dead' },
      ],
      [
        { id: '2', dueAt: '2026-01-01' },
        { id: '4', dueAt: '2026-01-03' },
      ],
    ],
    [
      'listDeliveriesOfPlatforms',
      [
        { id: '1', eventCreatedAt: '2026-01-04' },
        { id: '4', eventCreatedAt: '2026-01-01' },
      ],
      [
        { id: '2', eventCreatedAt: '2026-01-03' },
        { id: '3', eventCreatedAt: '2026-01-02' },
      ],
    ],
  ])('orders %s as the list of one platform', async (operationId, firstList, secondList) => {
    const listOperation = OPERATOR_OPERATIONS.find(
      ({ contract }) => contract.operationId === operationId,
    );
    if (!listOperation) throw new Error(`no operation ${operationId}`);
    const lists = new Map<string, Item[]>([
      ['a', firstList],
      ['b', secondList],
    ]);
    const order = orderOf(listOperation.contract, {});
    const { body } = await mergedPage(['a', 'b'], { limit: 10 }, order, readerOf(lists, 100));
    const { data } = body as { data: Item[] };
    expect(data.map(({ id }) => id)).toEqual(data.map((_, index) => `${index + 1}`));
    expect(data).toHaveLength(firstList.length + secondList.length);
  });

  it('rejects the cursor of another list', async () => {
    const read = readerOf(new Map(), 2);
    for (const cursor of ['x', 'W10x', Buffer.from('[["a",null,"b"]]').toString('base64url')]) {
      await expect(mergedPage(['a', 'b'], { cursor }, NEWEST_FIRST, read)).rejects.toMatchObject({
        code: 'INVALID_INPUT',
      });
    }
  });
});

describe('an operator of two platforms', () => {
  const app = testApp();
  const client = operatorClient(app);
  // The call fails if an earlier reply did not match its contract.
  afterEach(async () => {
    ok(await app.call('GET', '/config'), 200);
  });

  const secretOf = async () =>
    client.secretOf({ platformIds: [app.platform.id, app.other.id].sort() });
  const get = async (path: string) =>
    ok(await client.call('GET', path, { secret: await secretOf() }), 200);

  it('lists the customers of its two platforms only, in one order and in pages', async () => {
    const thirdPlatform = await app.newPlatform('Third', {
      environment: 'sandbox',
      regulated: false,
    });
    const ids: string[] = [];
    for (const platform of [app.platform, app.other, thirdPlatform, app.platform, app.other]) {
      const { id } = await createCustomer(app, { platform });
      if (platform !== thirdPlatform) ids.unshift(id);
    }
    const returnedIds: string[] = [];
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await get(`/customers?limit=1${cursor && `&cursor=${cursor}`}`);
      returnedIds.push(...page.data.map((each: { id: string }) => each.id));
      cursor = page.nextCursor;
    }
    expect(returnedIds.slice(0, 4)).toEqual(ids);
    expect(new Set(returnedIds).size).toBe(returnedIds.length);
    const ownList = await get(`/customers?platformId=${app.other.id}`);
    expect(ownList.data[0].id).toBe(ids[0]);
    const hiddenReply = await client.call('GET', `/customers?platformId=${thirdPlatform.id}`, {
      secret: await secretOf(),
    });
    expect(hiddenReply.status).toBe(404);
  });

  it('searches both platforms', async () => {
    const { person } = await createFundedCustomer(app, 100, { platform: app.other });
    const reply = await client.call('POST', '/search', {
      body: { query: person.id },
      secret: await secretOf(),
    });
    expect(JSON.stringify(ok(reply, 200))).toContain(person.id);
    const searchReply = await client.call('POST', '/customers/search', {
      body: { field: 'name', value: 'Ada Lovelace' },
      secret: await secretOf(),
    });
    expect(JSON.stringify(ok(searchReply, 200))).toContain(person.id);
  });

  it('can read every list of the operator API', async () => {
    const paths = OPERATOR_OPERATIONS.map(({ contract }) => contract)
      .filter((contract) => contract.method === 'GET' && isMergeable(contract))
      .map(({ path, query }) => ({ path, required: query?.required ?? [] }));
    expect(paths.length).toBeGreaterThan(25);
    const failedOperations: unknown[] = [];
    for (const { path, required } of paths.filter((each) => each.required.length === 0)) {
      const { status, body } = await client.call('GET', path, { secret: await secretOf() });
      if (status !== 200) failedOperations.push({ path: OPERATOR_BASE_PATH + path, status, body });
      expect(required).toEqual([]);
    }
    expect(failedOperations).toEqual([]);
  });
});
