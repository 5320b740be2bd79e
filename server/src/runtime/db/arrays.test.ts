// Arrays in binary form, as PostgreSQL reads them.
import fc from 'fast-check';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTestDatabase } from '../../../test/kit/app/database.ts';
import { ARRAY_TYPE, pgArray } from './arrays.ts';
import type { ColumnType } from './table.ts';

let client: pg.Client;
let drop: () => Promise<void>;

beforeAll(async () => {
  const database = await createTestDatabase();
  client = new pg.Client(database.url);
  await client.connect();
  await client.query("set timezone = 'UTC'");
  drop = () => database.drop();
});

afterAll(async () => {
  await client.end();
  await drop();
});

/** SQL that converts an element `x` to text. */
const sqlText = (type: ColumnType) => {
  if (type === 'bytes') return "encode(x, 'hex')";
  if (type === 'texts') return 'to_json(x::text[])::text';
  return type === 'time' ? `to_char(x, 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')` : 'x::text';
};

/** The elements of an array as text, as PostgreSQL reads them. */
async function readAsText(type: ColumnType, values: readonly unknown[]): Promise<unknown[]> {
  const { rows } = await client.query(
    `select ${sqlText(type)} as x from unnest($1::${ARRAY_TYPE[type]}) with ordinality u(x, n)
      order by n`,
    [pgArray(type, values)],
  );
  return rows.map((row) => row.x);
}

const text = fc.string({ unit: 'binary' }).filter((each) => !each.includes('\u0000'));

/** Values of each type with the expected text. */
const SAMPLES: Record<ColumnType, fc.Arbitrary<[unknown, string | null]>> = {
  text: text.map((each) => [each, each]),
  int4: fc.integer({ min: -2147483647, max: 2147483647 }).map((each) => [each, String(each)]),
  int8: fc
    .bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n })
    .map((each) => [each, String(each)]),
  bool: fc.boolean().map((each) => [each, String(each)]),
  json: fc
    .dictionary(fc.string(), fc.oneof(fc.integer(), fc.boolean(), fc.constant('é€😀')))
    .map((each) => JSON.parse(JSON.stringify(each)) as unknown)
    .filter((each) => !JSON.stringify(each).includes('\\u'))
    .map((each) => [each, JSON.stringify(each)]),
  time: fc
    .date({ min: new Date('0100-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
    .map((each) => [each.getTime(), each.toISOString()]),
  bytes: fc.uint8Array().map((each) => [Buffer.from(each), Buffer.from(each).toString('hex')]),
  int8s: fc
    .array(fc.bigInt({ min: -(2n ** 63n) + 1n, max: 2n ** 63n - 1n }))
    .map((each) => [each, `{${each.join()}}`]),
  texts: fc
    .array(text.filter((each) => !JSON.stringify(each).includes('\\u')))
    .map((each) => [each, JSON.stringify(each)]),
};

describe('pgArray', () => {
  for (const type of Object.keys(SAMPLES) as ColumnType[]) {
    it(`encodes ${type} exactly, nulls included`, async () => {
      const element = fc.option(SAMPLES[type], { freq: 5 });
      await fc.assert(
        fc.asyncProperty(fc.array(element, { maxLength: 20 }), async (elements) => {
          const input = elements.map((each) => (each ? each[0] : null));
          expect(await readAsText(type, input)).toEqual(
            elements.map((each) => (each ? each[1] : null)),
          );
        }),
        { numRuns: 40 },
      );
    });
  }

  it('encodes only JSON that PostgreSQL can read', async () => {
    const invalidTexts = [
      '\ud800',
      'a\u0000\udfff\ud800b',
      '\\\ud800',
      '\\ud800 \\u0000',
      '😀\u0001',
    ];
    const storedTexts = await readAsText('json', invalidTexts);
    const parsedTexts = await client.query(
      "select (x::jsonb) #>> '{}' as x from unnest($1::text[]) x",
      [storedTexts],
    );
    expect(parsedTexts.rows.map((row) => row.x)).toEqual([
      '\ufffd',
      'a\ufffd\ufffd\ufffdb',
      '\\\ufffd',
      '\\ud800 \\u0000',
      '😀\u0001',
    ]);
  });

  it('contains only the header, the lengths and the values', () => {
    expect(pgArray('text', ['é€', null]).length).toBe(20 + 4 + 5 + 4);
    expect(pgArray('int8', []).length).toBe(12);
  });

  it('encodes undefined as null', async () => {
    expect(await readAsText('int4', [undefined, 1])).toEqual([null, '1']);
  });

  it('encodes texts of 100 kB or more', async () => {
    const longTexts = ['x'.repeat(100_000), '€'.repeat(50_000)];
    expect(await readAsText('text', longTexts)).toEqual(longTexts);
  });

  it.each([
    ['int4', 1.5],
    ['int4', 2147483648],
    ['int4', '1'],
    ['int8', 1],
    ['int8', 2n ** 63n],
    ['bool', 'true'],
    ['time', Number.NaN],
    ['time', new Date(0)],
    ['text', 1],
    ['bytes', 'aa'],
    ['int8s', 1n],
    ['int8s', [1]],
    ['int8s', [2n ** 63n]],
    ['texts', ['a', null]],
  ] as [ColumnType, unknown][])('rejects for the type %s the invalid value %s', (type, value) => {
    expect(() => pgArray(type, [value])).toThrow(TypeError);
  });
});
