// Reads of every type by ID, by condition and in pages, SQL queries, and lost connections.
import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { execute, type TestServer } from '../../../test/kit/app/database.ts';
import {
  clientKeys,
  createSample,
  NOW,
  newId,
  type Sample,
  things,
} from '../../../test/kit/app/sample-tables.ts';
import { allRows, type Database, type Filter, openDatabase, type PageQuery } from './database.ts';
import { col, table } from './table.ts';

let sample: Sample;
let db: Database;
const openDatabases: Database[] = [];

beforeAll(async () => {
  sample = await createSample();
  db = openDatabase({ url: sample.url });
});

afterEach(async () => {
  await Promise.all(openDatabases.splice(0).map((each) => each.close()));
});

afterAll(async () => {
  await db.close();
  await sample.drop();
});

function openTestDatabase(options: Partial<Parameters<typeof openDatabase>[0]>): Database {
  const openedDatabase = openDatabase({ url: sample.url, ...options });
  openDatabases.push(openedDatabase);
  return openedDatabase;
}

const killReaders = () =>
  sample.sql(`select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'railhead reader' and datname = current_database()`);

describe('read', () => {
  it('returns every type unchanged', async () => {
    const row = await sample.thing(newId('thing'), {
      name: 'né€ 😀',
      rank: -5,
      amount: 9_007_199_254_740_993n,
      flag: true,
      note: { a: [1, null, 'x'] },
      raw: Buffer.from([0, 255, 7]),
      created_at: Date.UTC(1969, 11, 31, 23, 59, 59, 7),
    });
    expect(await db.read(things, row.id)).toEqual(row);
    const rowWithoutRank = await sample.thing(newId('thing'));
    expect(await db.read(things, rowWithoutRank.id)).toEqual(rowWithoutRank);
  });

  it('returns undefined for a missing row', async () => {
    expect(await db.read(things, 'unknown')).toBe(undefined);
    expect(await db.read(things, '')).toBe(undefined);
    expect(await db.read(things, 'a\u0000b')).toBe(undefined);
    expect(await db.read(things, '{a,"b"}')).toBe(undefined);
  });

  it('combines concurrent reads and returns each row to its caller', async () => {
    const ownDatabase = openTestDatabase({ poolSize: 1 });
    const rows = await Promise.all([1, 2, 3].map((rank) => sample.thing(newId('thing'), { rank })));
    const reads = [...rows, ...rows].map((row) => ownDatabase.read(things, row.id));
    const missingRow = ownDatabase.read(clientKeys, rows[0]?.id ?? '');
    expect(await Promise.all(reads)).toEqual([...rows, ...rows]);
    expect(await missingRow).toBe(undefined);
    const [firstRow, secondRow] = await Promise.all([reads[0], reads[3]]);
    expect(firstRow).not.toBe(secondRow);
    const [statementCount] = await ownDatabase.query<{ calls: number; rows: number }>(
      `select count(*)::int4 as calls from pg_prepared_statements where statement like $1`,
      ['%from "things" where id = any%'],
    );
    expect(statementCount?.calls).toBe(1);
  });

  it('fails only the callers that read a missing table', async () => {
    const missingTable = table('nowhere', { id: col.text });
    const row = await sample.thing(newId('thing'));
    const [invalidRead, validRead] = await Promise.allSettled([
      db.read(missingTable, 'a'),
      db.read(things, row.id),
    ]);
    expect(invalidRead).toMatchObject({ status: 'rejected', reason: { code: '42P01' } });
    expect(validRead).toEqual({ status: 'fulfilled', value: row });
  });
});

describe('find', () => {
  it('finds by equality, including null', async () => {
    const name = newId('name');
    const namedThing = await sample.thing(newId('thing'), {
      name,
      rank: 901,
      amount: 12n,
      flag: true,
    });
    const rowWithoutRank = await sample.thing(newId('thing'), { rank: 901 });
    expect(await db.find(things, { name })).toEqual([namedThing]);
    expect(await db.find(things, { rank: 901, name: null })).toEqual([rowWithoutRank]);
    expect(await db.find(things, { rank: 901, amount: 12n, flag: true, created_at: NOW })).toEqual([
      namedThing,
    ]);
    expect(await db.find(things, { rank: 901, flag: false, name })).toEqual([]);
  });

  it('orders and limits the rows', async () => {
    const ids = [3, 1, 2].map(() => newId('thing'));
    for (const [i, id] of ids.entries())
      await sample.thing(id, { rank: 902, amount: BigInt((i * 2) % 5) });
    const readAmounts = async (options: object) =>
      (await db.find(things, { rank: 902 }, { orderBy: 'amount', ...options })).map(
        (row) => row.amount,
      );
    expect(await readAmounts({})).toEqual([0n, 2n, 4n]);
    expect(await readAmounts({ descending: true, limit: 2 })).toEqual([4n, 2n]);
  });

  it('rejects a condition without a value, which would match every row', async () => {
    await expect(db.find(things, { name: undefined } as never)).rejects.toThrow(TypeError);
    await expect(db.find(things, { unknown: 1 } as never)).rejects.toThrow('no column unknown');
  });
});

describe('query', () => {
  it('returns bigints and milliseconds and accepts dates, lists and nulls', async () => {
    const [row] = await db.query(
      `select $1::int8 as big, $2::timestamptz as at, $3::text[] as list, $4::text as nothing,
        1::int4 as small, '{"a":1}'::jsonb as json`,
      [7n, new Date(NOW + 1), ['a', 'b"'], null],
    );
    const expectedRow = {
      big: 7n,
      at: NOW + 1,
      list: ['a', 'b"'],
      nothing: null,
      small: 1,
      json: { a: 1 },
    };
    expect(row).toEqual(expectedRow);
  });

  it('runs several statements without values', async () => {
    await db.query('create table scratch (a int); insert into scratch values (1)');
    expect(await db.query('select a from scratch')).toEqual([{ a: 1 }]);
    expect(await db.query('update scratch set a = $1 returning a', [2])).toEqual([{ a: 2 }]);
  });

  it('cancels a statement beyond its timeout', async () => {
    const databaseWithTimeout = openTestDatabase({ statementTimeoutMs: 50 });
    await expect(databaseWithTimeout.query('select pg_sleep(5)')).rejects.toMatchObject({
      code: '57014',
    });
    await databaseWithTimeout.ping();
  });
});

describe('a lost connection', () => {
  it('is reopened, with a repetition of single reads', async () => {
    const row = await sample.thing(newId('thing'));
    const ownDatabase = openTestDatabase({ poolSize: 1 });
    await ownDatabase.ping();
    const slowQuery = ownDatabase.query('select pg_sleep(5)');
    const rejection = expect(slowQuery).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      status: 503,
    });
    const read = ownDatabase.read(things, row.id);
    await sleep(50);
    await killReaders();
    await rejection;
    expect(await read).toEqual(row);
    await killReaders();
    expect(await ownDatabase.read(things, row.id)).toEqual(row);
  });

  it('uses an open connection while PostgreSQL rejects another', async () => {
    const ownDatabase = openTestDatabase({ poolSize: 2 });
    const { url } = inject('testServer') as TestServer;
    const permitConnections = (isPermitted: boolean) =>
      execute(url, `alter database ${name} with allow_connections ${isPermitted}`);
    const name = new URL(sample.url).pathname.slice(1);
    await ownDatabase.ping();
    await permitConnections(false);
    try {
      const slowQuery = ownDatabase.query('select pg_sleep(0.3)');
      expect(await ownDatabase.query('select 1 as one')).toEqual([{ one: 1 }]);
      await slowQuery;
    } finally {
      await permitConnections(true);
    }
  });

  it.each([
    ['without a server', () => 'postgres://user@/none?host=/nowhere'],
    [
      'if the server rejects the connection',
      () => Object.assign(new URL(sample.url), { pathname: '/unknown' }).href,
    ],
  ])('returns SERVICE_UNAVAILABLE %s', async (_, urlOf) => {
    const unreachableDatabase = openTestDatabase({ url: urlOf() });
    await expect(unreachableDatabase.ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    await unreachableDatabase.close();
    await expect(unreachableDatabase.ping()).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });
});

describe('page', () => {
  const rank = 950;
  const total = 25;
  const filter: Filter<typeof things> = { column: 'rank', op: '=', value: rank };
  const ids = Array.from({ length: total }, (_, i) => `page:${String(i).padStart(3, '0')}`);

  beforeAll(async () => {
    // Three rows per time, so that the ID determines their order.
    for (const [i, id] of ids.entries()) {
      await sample.thing(id, { rank, amount: BigInt(i), created_at: NOW + Math.floor(i / 3) });
    }
  });

  async function readAllPages(query: Omit<PageQuery, 'cursor'>): Promise<string[]> {
    const visitedIds: string[] = [];
    for (let cursor: string | undefined, hasMore = true; hasMore; ) {
      const page = await db.page(things, { ...query, cursor });
      expect(page.rows.length).toBeLessThanOrEqual(query.limit);
      expect(page.hasMore).toBe(page.nextCursor !== undefined);
      visitedIds.push(...page.rows.map((row) => row.id));
      cursor = page.nextCursor;
      hasMore = page.hasMore;
    }
    return visitedIds;
  }

  it('returns every row once in both directions, for any page size', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 30 }),
        fc.constantFrom('asc' as const, 'desc' as const),
        async (limit, sort) => {
          const visitedIds = await readAllPages({ filters: [filter], sort, limit });
          expect(visitedIds).toEqual(sort === 'asc' ? ids : ids.toReversed());
        },
      ),
      { numRuns: 20 },
    );
  });

  it('counts all matches, regardless of the cursor', async () => {
    const firstPage = await db.page(things, { filters: [filter], sort: 'asc', limit: 10 });
    expect(firstPage).toMatchObject({ hasMore: true, totalCount: total });
    const { nextCursor: cursor } = firstPage;
    const remainingPage = await db.page(things, {
      filters: [filter],
      sort: 'asc',
      limit: 20,
      cursor,
    });
    expect(remainingPage).toEqual({ rows: expect.any(Array), hasMore: false, totalCount: total });
  });

  it('omits the count above ten thousand', async () => {
    await sample.sql(
      `insert into things select 'many:' || i, null, 951, 0, false, null, null, '2026-01-01', 1
        from generate_series(1, 10001) i`,
    );
    const manyRows: Filter = { column: 'rank', op: '=', value: 951 };
    const page = await db.page(things, { filters: [manyRows], sort: 'desc', limit: 1 });
    expect(page).not.toHaveProperty('totalCount');
    await sample.sql("delete from things where id = 'many:1'");
    const smallerPage = await db.page(things, { filters: [manyRows], sort: 'desc', limit: 1 });
    expect(smallerPage.totalCount).toBe(10_000);
  });

  describe('with unindexed conditions', () => {
    const ROWS = 25_000;
    const rank: Filter = { column: 'rank', op: '=', value: 952 };
    const amountOf = (value: bigint): Filter[] => [{ column: 'amount', op: '=', value }];

    beforeAll(() =>
      // The amount is 1 in the first row, 2 in every thousandth row and 3 in every second row.
      sample.sql(
        `insert into things select 'read:' || lpad(i::text, 5, '0'), null, 952,
            case when i = 1 then 1 when i % 1000 = 0 then 2 when i % 2 = 1 then 3 else 4 end,
            false, null, null, '2026-01-01', 1
          from generate_series(1, ${ROWS}) i`,
      ),
    );

    it.each(['asc', 'desc'] as const)('returns every match once: %s', async (sort) => {
      for (const [amount, count] of [
        [1n, 1],
        [2n, 25],
        [9n, 0],
      ] as const) {
        for (const limit of [1, 10, 20, 100]) {
          const matches = await readAllPages({
            filters: [rank],
            unindexed: amountOf(amount),
            sort,
            limit,
          });
          const sortedIds = [...new Set(matches)].sort();
          expect(matches).toEqual(sort === 'asc' ? sortedIds : sortedIds.reverse());
          expect(matches).toHaveLength(count);
        }
      }
    });

    it('stops a page after ten thousand rows that do not match', async () => {
      const query = { filters: [rank], unindexed: amountOf(1n), sort: 'desc', limit: 10 } as const;
      const firstPage = await db.page(things, query);
      expect(firstPage).toEqual({ rows: [], hasMore: true, nextCursor: expect.any(String) });
      const secondPage = await db.page(things, { ...query, cursor: firstPage.nextCursor });
      expect(secondPage).toMatchObject({ rows: [], hasMore: true });
      const thirdPage = await db.page(things, { ...query, cursor: secondPage.nextCursor });
      expect(thirdPage.rows.map(({ id }) => id)).toEqual(['read:00001']);
      expect(thirdPage.hasMore).toBe(false);
      expect(thirdPage).not.toHaveProperty('totalCount');
    });

    it('returns full pages of frequent rows without the columns of the statement', async () => {
      const query = { filters: [rank], unindexed: amountOf(3n), sort: 'asc', limit: 3 } as const;
      const page = await db.page(things, query);
      expect(page.rows.map(({ id }) => id)).toEqual(['read:00003', 'read:00005', 'read:00007']);
      expect(Object.keys(page.rows[0] as object)).toEqual(things.columnNames);
    });

    it('counts the matches among at most ten thousand rows', async () => {
      const fewRows: Filter = { column: 'id', op: '<=', value: 'read:10000' };
      const query = { unindexed: amountOf(2n), sort: 'asc', limit: 3 } as const;
      expect((await db.page(things, { ...query, filters: [rank, fewRows] })).totalCount).toBe(10);
      expect((await db.page(things, { ...query, filters: [rank] })).totalCount).toBeUndefined();
    });

    it('combines unindexed conditions with a choice of indexed conditions', async () => {
      const choice: Filter = { or: [rank, { column: 'rank', op: '=', value: 951 }] };
      const matches = await readAllPages({
        ...{ filters: [choice], unindexed: amountOf(2n), sort: 'asc', limit: 7 },
      });
      expect(matches).toHaveLength(25);
    });
  });

  it.each([
    ['>=', [{ column: 'created_at', op: '>=', value: NOW + 8 }], ids.slice(24)],
    ['<=', [{ column: 'created_at', op: '<=', value: NOW }], ids.slice(0, 3)],
    ['in', [{ column: 'amount', op: 'in', value: [1n, 5n, 99n] }], [ids[1], ids[5]]],
    ['in an empty list', [{ column: 'id', op: 'in', value: [] }], []],
    ['isNull', [{ column: 'name', op: 'isNull' }], ids],
    ['= null', [{ column: 'name', op: '=', value: null }], ids],
    ['= bool', [{ column: 'flag', op: '=', value: true }], []],
    [
      'or',
      [
        {
          or: [
            { column: 'amount', op: '=', value: 3n },
            { column: 'amount', op: '=', value: 4n },
          ],
        },
      ],
      [ids[3], ids[4]],
    ],
    [
      'or, each row once',
      [
        {
          or: [
            { column: 'name', op: '=', value: 'unknown' },
            { column: 'name', op: 'isNull' },
            { column: 'amount', op: '=', value: 4n },
          ],
        },
        { column: 'amount', op: '<=', value: 4n },
      ],
      ids.slice(0, 5),
    ],
    ['an empty or', [{ or: [] }], []],
    ['a NUL character', [{ column: 'id', op: '=', value: `${ids[0]}\u0000` }], []],
    [
      'a NUL character in a list',
      [{ column: 'id', op: 'in', value: ['\u0000', ids[2]] }],
      [ids[2]],
    ],
    [
      'a time after year 9999',
      [{ column: 'created_at', op: '<=', value: Date.UTC(20_000, 0) }],
      ids,
    ],
    ['a time before year 1', [{ column: 'created_at', op: '<=', value: Date.UTC(-1, 0) }], []],
  ] as [string, Filter[], string[]][])('filters by %s', async (_, filters, expectedIds) => {
    const page = await db.page(things, { filters: [filter, ...filters], sort: 'asc', limit: 100 });
    expect(page.rows.map((row) => row.id)).toEqual(expectedIds);
    expect(page.totalCount).toBe(expectedIds.length);
  });

  it.each(['asc', 'desc'] as const)('begins at the later of cursor and time, %s', async (sort) => {
    const pageQuery = { filters: [filter], sort, limit: 10 } as const;
    const { nextCursor: cursor, rows } = await db.page(things, pageQuery);
    const createdAt = (rows.at(-1) as { created_at: number }).created_at;
    const op = sort === 'asc' ? '>=' : '<=';
    const completePage = (await db.page(things, { ...pageQuery, limit: 100 })).rows;
    for (const value of [createdAt - 3, createdAt - 1, createdAt, createdAt + 1, createdAt + 3]) {
      const filters: Filter[] = [filter, { column: 'created_at', op, value }];
      const page = await db.page(things, { filters, sort, limit: 100, cursor });
      const remainingRows = completePage
        .slice(10)
        .filter(({ created_at }) => (sort === 'asc' ? created_at >= value : created_at <= value));
      expect(page.rows.map((row) => row.id)).toEqual(remainingRows.map((row) => row.id));
    }
  });

  it.each([
    '',
    'x',
    '!!!',
    'MTIz',
    Buffer.from('12 a\u0000').toString('base64url'),
    'MTIzIGE=',
    Buffer.from('999999999999999 a').toString('base64url'),
  ])('rejects the cursor %j', async (cursor) => {
    await expect(
      db.page(things, { filters: [], sort: 'asc', limit: 1, cursor }),
    ).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      details: { errors: [{ field: 'cursor' }] },
    });
  });

  it('rejects a page without a size and a condition without a value', async () => {
    const query = { filters: [], sort: 'asc', limit: 0 } as const;
    await expect(db.page(things, query)).rejects.toThrow(RangeError);
    const undefinedFilter: Filter[] = [{ column: 'name', op: '=', value: undefined }];
    await expect(db.page(things, { ...query, filters: undefinedFilter, limit: 1 })).rejects.toThrow(
      TypeError,
    );
  });
});

describe('allRows', () => {
  it('returns the rows of all pages and rejects times that would repeat a page', async () => {
    const insertAt = (time: string) =>
      sample.sql(`insert into client_keys (id, reply, created_at)
        select 'all-' || n || '-${time}', '', '${time}' from generate_series(1, 1001) n`);
    const filters = [{ column: 'reply', op: '=' as const, value: '' }];
    await insertAt('2026-01-05T09:00:00.001Z');
    expect(await allRows(db, clientKeys, filters)).toHaveLength(1_001);
    await insertAt('2026-01-05T09:00:00.002003Z');
    await expect(allRows(db, clientKeys, filters)).rejects.toThrow('times that a cursor cannot');
    await sample.sql("delete from client_keys where id like 'all-%'");
  });
});
