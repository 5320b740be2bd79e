// Counts of levels, values and list items, compared with the parsed value, and the rejection of deeply
// nested bodies.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { startApp } from '../../../test/kit/app/harness.ts';
import { excessOf } from './json-limits.ts';

const nestedList = (levels: number, inner = '1') => '['.repeat(levels) + inner + ']'.repeat(levels);

const MAX_VALUES = 1_000_000;
const excessOfDepth = (text: string, depth: number) =>
  excessOf(text, { depth, values: MAX_VALUES, items: MAX_VALUES });
const excessOfValues = (text: string, values: number) =>
  excessOf(text, { depth: 32, values, items: MAX_VALUES });
const excessOfItems = (text: string, items: number) =>
  excessOf(text, { depth: 32, values: MAX_VALUES, items });

describe('excessOf', () => {
  it('counts levels of objects and lists', () => {
    expect(excessOfDepth(nestedList(3), 3)).toBeUndefined();
    expect(excessOfDepth(nestedList(4), 3)).toBe('depth');
    expect(excessOfDepth('{"a":{"b":1},"c":{"d":2}}', 2)).toBeUndefined();
    expect(excessOfDepth('{"a":{"b":[1]}}', 2)).toBe('depth');
    expect(excessOfDepth(JSON.stringify([1, 2, 3]) + ' '.repeat(99), 1)).toBeUndefined();
  });

  it('counts values', () => {
    expect(excessOfValues('7', 1)).toBeUndefined();
    expect(excessOfValues('[1,2,3]', 4)).toBeUndefined();
    expect(excessOfValues('[1,2,3]', 3)).toBe('values');
    expect(excessOfValues('{"a":{"b":1,"c":2}}', 4)).toBeUndefined();
    expect(excessOfValues('{"a":{"b":1,"c":2}}', 3)).toBe('values');
  });

  it('counts the items of each list without the members of objects', () => {
    expect(excessOfItems('[1,2,3]', 3)).toBeUndefined();
    expect(excessOfItems('[1,2,3]', 2)).toBe('items');
    expect(excessOfItems('[[1,2],[3,4]]', 2)).toBeUndefined();
    expect(excessOfItems('{"a":1,"b":2,"c":[1,2],"d":4}', 2)).toBeUndefined();
    expect(excessOfItems('[{"a":1,"b":2,"c":3},{"d":[[],4]},5]', 2)).toBe('items');
    expect(excessOfItems('[{"a":1,"b":2,"c":3},{"d":[[],4]}]', 2)).toBeUndefined();
  });

  it('skips strings', () => {
    expect(excessOfDepth(JSON.stringify(['[[[[{{{{']), 1)).toBeUndefined();
    expect(excessOfDepth(JSON.stringify(['\\" [[[ \\', '{"{[']), 1)).toBeUndefined();
    expect(excessOfDepth(JSON.stringify(['\\', ['x']]), 1)).toBe('depth');
    expect(excessOfValues(JSON.stringify([',,,,"\\",', ',']), 3)).toBeUndefined();
  });

  it('never counts fewer values than parsing', () => {
    const count = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, each) => sum + count(each), 1)
        : 1;
    const json = fc.jsonValue({ maxDepth: 5 });
    fc.assert(
      fc.property(json, (value) => {
        const text = JSON.stringify(value);
        const valueCount = count(JSON.parse(text));
        expect(valueCount > 1 ? excessOfValues(text, valueCount - 1) : 'values').toBe('values');
      }),
    );
  });
});

describe('a body that is nested too deeply', () => {
  it('is rejected, regardless of the position of the nesting', async () => {
    const app = await startApp();
    const credentials = Buffer.from(`${app.platform.clientId}:${app.platform.clientSecret}`);
    const send = (url: string, payload: string) =>
      app.server.inject({
        method: 'POST',
        url: `/2025-10-13${url}`,
        headers: {
          'content-type': 'application/json',
          authorization: `Basic ${credentials.toString('base64')}`,
        },
        payload,
      });
    const deepList = nestedList(30_000);
    const beneficiary = `{"beneficiaryType":"INDIVIDUAL","fullName":"A","x":${deepList}}`;
    const account = `{"currency":"USD","accountInfo":{"accountType":"USD_ACCOUNT",
      "accountNumber":"123456000","routingNumber":"021000021","beneficiary":${beneficiary}}}`;
    for (const reply of [
      await send('/platform/external-accounts', account),
      await send('/quotes', `{"senderCustomerInfo":${deepList}}`),
      await send('/quotes', deepList),
    ]) {
      expect(reply.statusCode).toBe(400);
      expect(reply.json()).toMatchObject({
        code: 'INVALID_INPUT',
        reason: expect.stringMatching(/nested/),
      });
    }
    await app.close();
  });
});
